import type { ClockReading } from "../../src/business/clock.ts";
import { type Begun, beginReading } from "../../src/ledger/readings.ts";
import {
  PAGE_SIZE_MAX,
  type PayableListItem,
  type Payment,
  type PaymentsClient,
} from "../../src/payments-api/index.ts";
import type { ActivityContext } from "../shared/context.ts";
import { eachBusiness } from "../shared/each-business.ts";
import { PATIENT } from "../shared/patience.ts";
import { takePayments } from "../follow/take-payments.ts";
import type { PayJob, PayOwner } from "./job.ts";
import type { BillFacts, VendorFacts } from "../../src/domain/payments/as-approved.ts";
import type { ListedBill, ReadBill } from "./judge-line.ts";
import { readPayer } from "./payer.ts";

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
  { business, businessId, owner: actor, runsOn }: PayOwner,
  { line, plan }: PayJob,
  clock: ClockReading,
): Promise<ReadBill> {
  const client = context.clientOf(business);
  const begun = await beginReading(context.store.db, clock);
  const payments = await client.payments.listAll({ payableId: plan.payableId });
  const payable = await client.payables.get(plan.payableId);
  const contact = await client.contacts.get(payable.contact.id ?? plan.contactId);
  const payer = await readPayer(context, business);
  // A list that lags behind shows failed payments as if they were on their way.
  const follower = { businessId, actor, runId: line.runId, nowMs: clock.realMs };
  const isFirst = line.paymentIds.length === 0;
  const stand = isFirst ? payments : await takePayments(context, follower, payments);
  const day = runsOn === undefined ? {} : { runsOn: await runsOn(stand) };
  return { begun, payer, payments, stand, payable, contact, ...day };
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
  if ((await pageCount(client)) > lines * SINGLE_READS) return NOTHING;
  return pages.read(context, client, clock, ids);
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

/** Everything that the lists of a business showed at one moment, for all lanes of this process. */
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
    context: ActivityContext,
    client: PaymentsClient,
    clock: ClockReading,
    ids: readonly string[],
  ): Promise<ReadonlyMap<string, ListedBill>> {
    // Lanes that lease at the same moment wait for one read; if it lacks their bills, they read
    // again.
    if (this.#reading !== undefined) {
      await this.#reading.catch(() => undefined);
      const known = this.known(ids);
      if (known !== undefined) return known;
    }
    this.#reading ??= this.#readAll(context, client, clock).finally(() => {
      this.#reading = undefined;
    });
    await this.#reading;
    return this.known(ids) ?? NOTHING;
  }

  async #readAll(
    context: ActivityContext,
    client: PaymentsClient,
    clock: ClockReading,
  ): Promise<void> {
    const readAt = performance.now();
    const inTime = (): boolean => performance.now() - readAt < PAGES_TAKE_MS;
    const begun = await beginReading(context.store.db, clock);
    // Payments before the bills: one made in between then shows too little as owed, never too much.
    const payments = await paymentsByBill(client, inTime);
    const vendors = await vendorsById(client, inTime);
    const found = new Map<string, ListedBill>();
    for await (const page of client.payables.iteratePages({}, PATIENT)) {
      if (!inTime()) break;
      for (const bill of page) {
        const read = whole(begun, bill, vendors, payments.get(bill.id) ?? []);
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
  vendors: ReadonlyMap<string, VendorFacts>,
  payments: readonly Payment[],
): ListedBill | undefined {
  const { status, totalAmountCents, amountPaidCents, contact: ofBill } = bill;
  const contact = vendors.get(ofBill?.id ?? "");
  const isWhole =
    typeof status === "string" &&
    typeof totalAmountCents === "number" &&
    typeof amountPaidCents === "number" &&
    ofBill !== null &&
    ofBill !== undefined;
  if (!isWhole || contact === undefined) return undefined;
  const payable: BillFacts = { status, totalAmountCents, amountPaidCents, contact: ofBill };
  return { begun, payments, payable, contact };
}

/** @param inTime once it is false, no more pages are read, and the result is of no use */
async function paymentsByBill(
  client: PaymentsClient,
  inTime: () => boolean,
): Promise<Map<string, Payment[]>> {
  const found = new Map<string, Payment[]>();
  for await (const page of client.payments.iteratePages({}, PATIENT)) {
    if (!inTime()) break;
    for (const payment of page) {
      if (payment.payableId === null) continue;
      const known = found.get(payment.payableId);
      if (known === undefined) found.set(payment.payableId, [payment]);
      else known.push(payment);
    }
  }
  return found;
}

async function vendorsById(
  client: PaymentsClient,
  inTime: () => boolean,
): Promise<Map<string, VendorFacts>> {
  const vendors = new Map<string, VendorFacts>();
  for await (const page of client.contacts.iteratePages({}, PATIENT)) {
    if (!inTime()) break;
    for (const { id, displayName, status, paymentReady, bankAccount, updatedAt } of page) {
      vendors.set(id, { id, displayName, status, paymentReady, bankAccount, updatedAt });
    }
  }
  return vendors;
}

const pagesOf = eachBusiness<ActivityContext, Pages>(() => new Pages());
