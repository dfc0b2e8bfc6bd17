import { recordOf } from "../../src/domain/vendor-account.ts";
import type { ClockReading } from "../../src/business/clock.ts";
import { paymentsOfBill } from "../../src/ledger/made-payments.ts";
import { type Begun, beginReading, readingOf } from "../../src/ledger/readings.ts";
import {
  type Contact,
  PAGE_SIZE_MAX,
  type PayableListItem,
  type Payment,
  PaymentsApiError,
  type PaymentsClient,
} from "../../src/payments-api/index.ts";
import { claimedPayables } from "../../src/store/payables/claims.ts";
import type { ActivityContext } from "../shared/context.ts";
import { eachBusiness } from "../shared/each-business.ts";
import { PATIENT } from "../shared/patience.ts";
import { takePayments } from "../follow/take-payments.ts";
import type { PayJob, PayOwner } from "./job.ts";
import type { BillToPay } from "../../src/domain/payments/as-approved.ts";
import type { UnreadablePayment } from "../../src/domain/unreadable.ts";
import type { ListedBill, ReadBill } from "./judge-line.ts";
import { payerNow } from "./payer.ts";
import { unclearPayment, unclearPayments } from "./unclear-payments.ts";

/** Fewer lines than these are read one by one. */
const BY_PAGE_FROM = 25;

/** Requests that reading one line by itself takes: its payments, the bill, the vendor. */
const SINGLE_READS = 3;

/** Pages that take longer are too old once they have been read; bills are then read singly. */
const PAGES_TAKE_MS = 45_000;

/** How long pages are not tried again after that. */
const TOO_SLOW_FOR_MS = 10 * 60_000;

/**
 * A lease of at least this many lines counts as one of several: four lanes pay, and the pages serve
 * what each of them leases within a minute.
 */
const LARGE_LEASE = 200;
const LEASES_SERVED = 4;

/** How long pages stay good enough to begin paying on: half of what the gate allows. */
const PAGES_GOOD_FOR_MS = 60_000;

/**
 * Reads one bill. Payments come before the bill, so that one made in between shows too little as
 * owed.
 */
export async function readBill(
  context: ActivityContext,
  owner: PayOwner,
  { line, plan }: PayJob,
  clock: ClockReading,
): Promise<ReadBill> {
  const { business, businessId, owner: actor, runsOn } = owner;
  const client = context.clientOf(business);
  const begun = await beginReading(context.store.db, clock);
  const unclear = await unclearPayments(context, owner, clock);
  const { payableId } = plan;
  const listed = await client.payments.listAll({ payableId });
  const payments = await paymentsOfBill(context.store.db, businessId, payableId, listed);
  const payable = await client.payables.get(payableId);
  const contact = await client.contacts.get(payable.contact.id ?? plan.contactId);
  const payer = await payerNow(context, business);
  // A list that lags behind shows failed payments as if they were on their way.
  const follower = { businessId, actor, runId: line.runId, nowMs: clock.realMs };
  const isFirst = line.paymentIds.length === 0;
  const stand = isFirst ? payments : await takePayments(context, follower, payments);
  const day = runsOn === undefined ? {} : { runsOn: await runsOn(stand) };
  const record = recordOf(contact);
  const reading = readingOf(begun, listed, payableId);
  return { reading, payer, payments, unclear, stand, payable, contact, record, ...day };
}

/**
 * Reads the bills of lines that were leased together, by page if that takes fewer requests.
 *
 * @returns what was read, by payable; a bill that the pages don't show whole is missing, and has to
 * be read by itself
 */
export async function readByPage(
  context: ActivityContext,
  owner: { readonly business: string; readonly businessId: string },
  jobs: readonly PayJob[],
  clock: ClockReading,
): Promise<ReadonlyMap<string, ListedBill>> {
  if (jobs.length < BY_PAGE_FROM) return NOTHING;
  const pages = pagesOf(context, owner.business);
  const ids = jobs.map(({ plan }) => plan.payableId);
  const known = pages.known(ids);
  if (known !== undefined) return known;
  if (pages.areTooSlow) return NOTHING;
  const client = context.clientOf(owner.business);
  const lines = jobs.length < LARGE_LEASE ? jobs.length : jobs.length * LEASES_SERVED;
  const pagesMax = lines * SINGLE_READS;
  if ((await pageCount(client)) > pagesMax) return NOTHING;
  return pages.read({ context, client, clock, businessId: owner.businessId, pagesMax }, ids);
}

/** Codes of a reading of pages that proves nothing, however often it is repeated. */
const UNUSABLE: readonly string[] = ["unexpected_answer", "inconsistent_list"];

/** One reading of all pages, for the lanes that wait for it. */
interface PagesReading {
  readonly context: ActivityContext;
  readonly client: PaymentsClient;
  readonly clock: ClockReading;
  readonly businessId: string;
  /** The lists may have grown since their pages were counted, but not beyond this each. */
  readonly pagesMax: number;
}

const NOTHING: ReadonlyMap<string, ListedBill> = new Map();

/**
 * Returns the number of requests that it takes to read all payments, bills and vendors of a
 * business.
 */
async function pageCount(client: PaymentsClient): Promise<number> {
  const one = { page: 1, pageSize: 1 };
  const counts = await Promise.all([
    client.payments.list(one),
    client.payables.list(one),
    client.contacts.list(one),
  ]);
  return counts.reduce((sum, { totalCount }) => sum + Math.ceil(totalCount / PAGE_SIZE_MAX), 0);
}

/** What the lists of a business showed of claimed bills at one moment, for all lanes here. */
class Pages {
  #found: ReadonlyMap<string, ListedBill> = NOTHING;
  #readAt = Number.NEGATIVE_INFINITY;
  #tooSlowUntil = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | undefined;

  /** True if reading them took too long recently. */
  get areTooSlow(): boolean {
    return performance.now() < this.#tooSlowUntil;
  }

  /** Returns what is known of these bills; undefined if it is too old, or about other bills. */
  known(ids: readonly string[]): ReadonlyMap<string, ListedBill> | undefined {
    const isFresh = performance.now() - this.#readAt < PAGES_GOOD_FOR_MS;
    return isFresh && ids.some((id) => this.#found.has(id)) ? this.#found : undefined;
  }

  async read(
    reading: PagesReading,
    ids: readonly string[],
  ): Promise<ReadonlyMap<string, ListedBill>> {
    // Lanes that lease at the same moment wait for one read; if it lacks their bills, they read
    // again.
    if (this.#reading !== undefined) {
      await this.#reading.catch(() => undefined);
      const known = this.known(ids);
      if (known !== undefined) return known;
    }
    this.#reading ??= this.#readAll(reading)
      .catch((error: unknown) => {
        // Lists that a bound has cut, or a record that can't be read, say nothing of single bills.
        if (!(error instanceof PaymentsApiError) || !UNUSABLE.includes(error.code)) throw error;
        this.#tooSlowUntil = performance.now() + TOO_SLOW_FOR_MS;
      })
      .finally(() => {
        this.#reading = undefined;
      });
    await this.#reading;
    return this.known(ids) ?? NOTHING;
  }

  async #readAll(reading: PagesReading): Promise<void> {
    const { context, client, clock, businessId, pagesMax } = reading;
    const bounds = { ...PATIENT, itemsMax: pagesMax * PAGE_SIZE_MAX, isStrict: true };
    const claimed = await claimedPayables(context.store.db, businessId);
    const readAt = performance.now();
    const inTime = (): boolean => performance.now() - readAt < PAGES_TAKE_MS;
    const begun = await beginReading(context.store.db, clock);
    // Payments before the bills: one made in between then shows too little as owed, never too much.
    const { payments, unclear } = await paymentsByBill(
      client.payments.iteratePages({}, bounds),
      claimed,
      inTime,
    );
    const vendors = await vendorsById(client.contacts.iteratePages({}, bounds), inTime);
    const found = new Map<string, ListedBill>();
    for await (const page of client.payables.iteratePages({}, bounds)) {
      if (!inTime()) break;
      for (const bill of page) {
        if (!claimed.has(bill.id)) continue;
        const paid = { payments: payments.get(bill.id) ?? [], unclear };
        const read = whole(begun, bill, vendors, paid);
        if (read !== undefined) found.set(bill.id, read);
      }
    }
    if (!inTime()) {
      this.#tooSlowUntil = performance.now() + TOO_SLOW_FOR_MS;
      return;
    }
    this.#found = found;
    this.#readAt = readAt;
  }
}

/** Returns what the list shows of a bill; undefined if it doesn't show the bill whole. */
function whole(
  begun: Begun,
  bill: PayableListItem,
  vendors: ReadonlyMap<string, Vendor>,
  paid: Pick<ListedBill, "payments" | "unclear">,
): ListedBill | undefined {
  const { status, totalAmountCents, amountPaidCents, contact: ofBill } = bill;
  const { paymentStatus, remainingAmountCents } = bill;
  const { contact, record } = vendors.get(ofBill?.id ?? "") ?? {};
  const isWhole =
    typeof status === "string" &&
    typeof paymentStatus === "string" &&
    typeof totalAmountCents === "number" &&
    typeof amountPaidCents === "number" &&
    ofBill !== null &&
    ofBill !== undefined;
  if (!isWhole || contact === undefined || record === undefined) return undefined;
  const amounts = { totalAmountCents, amountPaidCents, remainingAmountCents };
  const payable: BillToPay = { ...amounts, status, paymentStatus, contact: ofBill };
  const reading = readingOf(begun, paid.payments, bill.id);
  return { reading, ...paid, payable, contact, record };
}

type Vendor = Pick<ListedBill, "contact" | "record">;

/** @param inTime once it is false, no more pages are read, and the result is of no use */
async function paymentsByBill(
  pages: AsyncIterable<Payment[]>,
  claimed: ReadonlySet<string>,
  inTime: () => boolean,
): Promise<{
  readonly payments: ReadonlyMap<string, Payment[]>;
  readonly unclear: readonly UnreadablePayment[];
}> {
  const found = new Map<string, Payment[]>();
  const unclear: UnreadablePayment[] = [];
  for await (const page of pages) {
    if (!inTime()) break;
    for (const payment of page) {
      unclear.push(...unclearPayment(payment));
      if (payment.payableId === null) continue;
      if (!claimed.has(payment.payableId)) continue;
      const known = found.get(payment.payableId);
      if (known === undefined) found.set(payment.payableId, [payment]);
      else known.push(payment);
    }
  }
  return { payments: found, unclear };
}

async function vendorsById(
  pages: AsyncIterable<Contact[]>,
  inTime: () => boolean,
): Promise<Map<string, Vendor>> {
  const vendors = new Map<string, Vendor>();
  for await (const page of pages) {
    if (!inTime()) break;
    for (const vendor of page) {
      const { id, displayName, status, paymentReady, bankAccount } = vendor;
      const contact = { id, displayName, status, paymentReady, bankAccount };
      vendors.set(id, { contact, record: recordOf(vendor) });
    }
  }
  return vendors;
}

const pagesOf = eachBusiness<ActivityContext, Pages>(() => new Pages());
