import { PAYMENT_DOUBTED } from "../../src/domain/facts/payments.ts";
import { record } from "../../src/store/facts/record.ts";
import { PAYRUN, byWorkflow, nameOfAuthor } from "../../src/contracts/authors.ts";
import { WORKFLOW_KINDS } from "../../src/contracts/workflow-kinds.ts";
import { LINE, type LineState } from "../../src/contracts/line-states.ts";
import type { PlanLine, VendorRecord } from "../../src/contracts/pay-run.ts";
import type { Contact } from "../../src/payments-api/index.ts";
import { nextBankingDay } from "../../src/domain/clock/bank-calendar.ts";
import { newYorkDate } from "../../src/domain/clock/new-york.ts";
import { formatUsd } from "../../src/domain/money.ts";
import {
  type AlarmCode,
  alarmAfter,
  alarmOf,
  cancelling,
} from "../../src/domain/payments/alarms.ts";
import { madePayments } from "../../src/ledger/made-payments.ts";
import { overpaidCents } from "../../src/domain/payments/owed.ts";
import type { HoldScopeName } from "../../src/domain/holds.ts";
import { holdOnce } from "../../src/store/holds/holds.ts";
import { contactsOfScheduled } from "../../src/store/lines/followed-lines.ts";
import { changeLine, type RunLine } from "../../src/store/lines/lines.ts";
import { planLinesOf } from "../../src/store/lines/plan-lines.ts";
import type { Run } from "../../src/store/runs/runs.ts";
import { startOrSignal } from "../../src/temporal/start.ts";
import type { ClockReading } from "../../src/business/clock.ts";
import { askToCancel } from "./ask-to-cancel.ts";
import { noteVendorFound, noteVendorNotFound } from "./missing-vendors.ts";
import { type LineWithRecord, noteChangedRecords } from "./changed-records.ts";
import type { ActivityContext } from "../shared/context.ts";
import { unlessUnread } from "../shared/one-read.ts";
import { PATIENT } from "../shared/patience.ts";
import { unlessMissing } from "../shared/unless-missing.ts";
import { accountText, isChanged, recordOf } from "../../src/domain/vendor-account.ts";
import { isRecallable } from "../../src/domain/payments/payment-states.ts";

/** What the safety net looks at of a payment. */
interface NetPayment {
  readonly id: string;
  readonly status: string;
  readonly amountCents: number;
  readonly createdAt?: string | null;
}

/** Up to this many contacts are read one by one; more are read from the list's pages. */
const ONE_BY_ONE = 25;

/** What the service shows of a vendor's account. */
export interface PresentAccount {
  readonly last4: string | null;
  readonly record: VendorRecord;
}

/**
 * What the service shows of a vendor; `not-found` if it says that it has none with this id. That
 * answer is also one of a vendor that isn't accessible just now, so it says nothing of an account.
 */
export type PresentVendor = PresentAccount | "not-found";

/** What the service shows of vendors, by contact id. */
export type PresentVendors = ReadonlyMap<string, PresentVendor>;

/**
 * Reads again the contacts whose payments run soon, or about whose bills an event has arrived: before
 * the cut-off a payment to a changed account can still be cancelled.
 */
export async function presentAccounts(
  context: ActivityContext,
  run: Run,
  lines: {
    readonly ids: readonly string[];
    readonly signaled: readonly string[];
    readonly clock: ClockReading;
  },
): Promise<PresentVendors> {
  const wanted = await contactsOfScheduled(context.store.db, run.runId, {
    payableIds: lines.ids,
    signaled: new Set(lines.signaled),
    untilDate: cutOffSoon(lines.clock),
  });
  const client = context.clientOf(run.business);
  const contacts = new Map<string, PresentVendor>();
  if (wanted.size > ONE_BY_ONE) {
    for await (const page of client.contacts.iteratePages({}, PATIENT)) {
      for (const contact of page) {
        if (wanted.has(contact.id) && contact.unreadable === undefined) {
          contacts.set(contact.id, accountOf(contact));
        }
      }
    }
  }
  // The list leaves out vendors that were revoked.
  for (const contactId of wanted) {
    if (contacts.has(contactId)) continue;
    // A single vendor that can't be read must not hold up the run either.
    const read = () => readContact(context, run.business, contactId);
    const account = await unlessUnread(client, read, () => undefined);
    if (account !== undefined) contacts.set(contactId, account);
  }
  return contacts;
}

function cutOffSoon(clock: ClockReading): string {
  return nextBankingDay(newYorkDate(clock.businessMs));
}

/**
 * Looks again at what the service already has scheduled, which a hold doesn't stop: finds contacts
 * whose record changed since the approval, and bills with more money on its way than their total.
 *
 * Either is an alarm for a person. A hold keeps everything that is not sent yet from following, and
 * what should not go out is cancelled if the service still allows it.
 *
 * @returns payables whose account is to be compared, and could not be read
 */
export async function watchScheduled(
  context: ActivityContext,
  run: Run,
  lines: readonly RunLine[],
  look: {
    readonly payments: ReadonlyMap<string, readonly NetPayment[]>;
    readonly contacts: PresentVendors;
    readonly clock: ClockReading;
  },
): Promise<ReadonlySet<string>> {
  const { clock } = look;
  const unread = new Set<string>();
  const scheduled = lines.filter((line) => LINE.recallable.includes(line.state));
  const ids = scheduled.map((line) => line.payableId);
  const plans = await planLinesOf(context.store.db, run.runId, ids);
  const planOf = new Map(plans.map((plan) => [plan.payableId, plan]));
  const soon = cutOffSoon(clock);
  const changed: LineWithRecord[] = [];
  for (const line of scheduled) {
    const plan = planOf.get(line.payableId);
    if (plan === undefined) continue;
    const payments = look.payments.get(line.payableId) ?? [];
    const watched = { line, plan };
    if (await alarmIfTooMuch(context, run, watched, payments, clock)) continue;
    // An event may announce the account's change; before the cut-off the account is read again in any
    // case.
    if (!line.look && line.executionDate > soon) continue;
    const vendor = look.contacts.get(plan.contactId);
    if (vendor === undefined || vendor === "not-found") {
      unread.add(line.payableId);
      if (vendor !== undefined) await noteVendorNotFound(context, run, watched, clock);
      continue;
    }
    await noteVendorFound(context, line, clock.realMs);
    const record = await compareAccount(context, run, watched, vendor, clock);
    if (record !== null) changed.push({ ...watched, record });
  }
  await noteChangedRecords(context, run, changed, clock);
  return unread;
}

/** A scheduled line, with what was approved of it. */
interface Watched {
  readonly line: RunLine;
  readonly plan: PlanLine;
}

/** Raises the alarm for a bill with more money on its way than its total; false if it has not. */
async function alarmIfTooMuch(
  context: ActivityContext,
  run: Run,
  { line, plan }: Watched,
  payments: readonly NetPayment[],
  clock: ClockReading,
): Promise<boolean> {
  const { businessId, payableId, executionDate } = line;
  const tooMuch = overpaidCents({ totalCents: plan.totalCents, payments });
  if (tooMuch <= 0) return false;
  const made = await madePayments(context.store.db, businessId, payableId);
  const ofBill = tooMuchOf(payments, tooMuch, made);
  const cancel = ofBill.filter((id) => line.paymentIds.includes(id));
  await alarm(context, run, line, clock, {
    scope: "payable",
    value: payableId,
    code: "more_than_owed",
    found: tooMuch,
    cancel,
    fact: `Payments on their way exceed the bill by ${formatUsd(tooMuch)}.`,
    act:
      cancel.length === 0
        ? "No payment of this run can be cancelled for it."
        : cancelling(`What is too much for ${executionDate}`),
  });
  return true;
}

/**
 * Compares a vendor's account with the one that was approved, and raises the alarm if it is another.
 *
 * @returns the vendor's record if it was changed though the account's digits are the same
 */
async function compareAccount(
  context: ActivityContext,
  run: Run,
  { line, plan }: Watched,
  { last4, record }: PresentAccount,
  clock: ClockReading,
): Promise<VendorRecord | null> {
  if (last4 === plan.bankLast4) return isChanged(plan.record, record) ? record : null;
  await alarm(context, run, line, clock, {
    scope: "contact",
    value: plan.contactId,
    code: "payee_changed_after_approval",
    found: last4 ?? "none",
    cancel: line.paymentIds,
    fact: `The vendor's bank account changed from ${accountText(plan.bankLast4)} to ${accountText(last4)} after the approval. Ask the vendor by phone.`,
    act: cancelling(`The payment of ${line.executionDate}`),
  });
  return null;
}

/** Reads what the service shows of a vendor; undefined if that can't be read. */
export async function readContact(
  context: ActivityContext,
  business: string,
  contactId: string,
): Promise<PresentVendor | undefined> {
  // A vendor that is gone must not keep the run from following everything else.
  const contact = await unlessMissing(() => context.clientOf(business).contacts.get(contactId));
  if (contact?.unreadable !== undefined) return undefined;
  return contact === null ? "not-found" : accountOf(contact);
}

function accountOf(contact: Contact): PresentAccount {
  return { last4: contact.bankAccount?.last4 ?? null, record: recordOf(contact) };
}

interface Alarm {
  readonly scope: HoldScopeName;
  readonly value: string;
  readonly code: AlarmCode;
  /** What was found; the reason of the hold that is set, for as long as the hold lasts. */
  readonly fact: string;
  /** What is done about it now. */
  readonly act: string;
  /** What was found: people are notified again of another finding with the same code. */
  readonly found: string | number;
  /** Payments to cancel, if the service still allows it. */
  readonly cancel: readonly string[];
}

/**
 * Returns the alarm for which a line's payment was cancelled: the line keeps it, so that people see
 * why.
 */
export function alarmBehind(
  line: Pick<RunLine, "reasonCode" | "reason">,
  to: LineState,
): { readonly code: AlarmCode; readonly text: string } | null {
  const { reasonCode, reason } = line;
  const isStopped = to === "held" || LINE.calledBack.includes(to);
  if (!isStopped || reason === null) return null;
  const code = alarmOf(reasonCode);
  if (code === undefined) return null;
  return { code, text: to === "held" ? reason : alarmAfter(reason, to) };
}

/**
 * Returns the newest payments that can be cancelled, until the excess is covered. Only Payrun's own
 * are: others' payments are none of its to cancel, whatever bill they are listed for.
 */
function tooMuchOf(
  payments: readonly NetPayment[],
  excessCents: number,
  made: ReadonlySet<string>,
): string[] {
  const chosen: string[] = [];
  let leftCents = excessCents;
  const newestFirst = payments.toSorted((a, b) =>
    (b.createdAt ?? "").localeCompare(a.createdAt ?? ""),
  );
  for (const { id, status, amountCents } of newestFirst) {
    if (leftCents <= 0 || !made.has(id) || !isRecallable(status)) continue;
    chosen.push(id);
    leftCents -= amountCents;
  }
  return chosen;
}

async function alarm(
  context: ActivityContext,
  run: Run,
  line: RunLine,
  clock: ClockReading,
  what: Alarm,
): Promise<void> {
  // If the account changes again, or the excess grows, people are notified again.
  const text = `${what.fact} ${what.act}`;
  if (line.reasonCode === what.code && line.reason === text) return;
  const { business, runId } = run;
  context.log.warn(text, { business, runId, payableId: line.payableId });
  const asked = await context.store.transactionOf(run.businessId, async (trx) => {
    await changeLine(trx, line, { reasonCode: what.code, reason: text }, clock.realMs);
    const { businessId } = run;
    const hold = { businessId, scope: what.scope, value: what.value, reason: what.fact };
    await holdOnce(trx, { ...hold, author: PAYRUN, nowMs: clock.realMs }, clock);
    const head = {
      businessId,
      nowMs: clock.realMs,
      by: byWorkflow(runId),
      subject: line.payableId,
    };
    const said = { text, cancels: what.cancel };
    await record(trx, PAYMENT_DOUBTED[what.code](head, said, { runId, found: what.found }));
    return what.cancel.length === 0 ? null : askToCancel(trx, run, what, clock);
  });
  // If this fails the janitor starts the workflow: its row says that it is wanted.
  if (asked !== null)
    await startOrSignal(context.temporal, WORKFLOW_KINDS.cancelScheduledPayments, {
      ...asked,
      requestedBy: nameOfAuthor(asked.requestedBy),
    });
}
