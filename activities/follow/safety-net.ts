import { OWN_AUTHOR } from "../../src/contracts/names.ts";
import type { Transaction } from "kysely";
import { cancelScheduledPaymentsId, WORKFLOW_KINDS } from "../../src/contracts/workflow-kinds.ts";
import type { LineState } from "../../src/contracts/pay-run.ts";
import { cancelOfPayments, requestOfPayments } from "../../src/domain/cancellations/policy.ts";
import { nextBankingDay } from "../../src/domain/clock/bank-calendar.ts";
import { newYorkDate } from "../../src/domain/clock/new-york.ts";
import { formatUsd } from "../../src/domain/money.ts";
import { inDoubt } from "../../src/domain/notices/open-texts.ts";
import {
  type AlarmCode,
  alarmAfter,
  alarmOf,
  cancelling,
} from "../../src/domain/payments/alarms.ts";
import { overpaidCents } from "../../src/domain/payments/owed.ts";
import { appendAudit } from "../../src/store/audit/audit.ts";
import type { HoldScopeName } from "../../src/domain/holds.ts";
import { holdOnce } from "../../src/store/holds/holds.ts";
import { contactsOfScheduled } from "../../src/store/lines/followed-lines.ts";
import {
  insertCancellation,
  type NewCancellation,
  nextCancellation,
} from "../../src/store/cancellations/cancellations.ts";
import { changeLine, type RunLine } from "../../src/store/lines/lines.ts";
import type { Tables } from "../../src/store/schema/tables.ts";
import { raiseNotice } from "../../src/store/notices/notices.ts";
import { planLinesOf } from "../../src/store/lines/plan-lines.ts";
import type { Run } from "../../src/store/runs/runs.ts";
import { startOrSignal } from "../../src/temporal/start.ts";
import type { ClockReading } from "../../src/business/clock.ts";
import type { ActivityContext } from "../shared/context.ts";
import { unlessUnread } from "../shared/one-read.ts";
import { PATIENT } from "../shared/patience.ts";
import { unlessMissing } from "../shared/unless-missing.ts";
import { accountText } from "../../src/domain/vendor-account.ts";

/** What the safety net looks at of a payment. */
interface NetPayment {
  readonly id: string;
  readonly status: string;
  readonly amountCents: number;
  readonly createdAt?: string | null;
}

/** Up to this many contacts are read one by one; more are read from the list's pages. */
const ONE_BY_ONE = 25;

/** Last four digits of contacts' present accounts, by contact id. */
export type PresentAccounts = ReadonlyMap<string, { readonly last4: string | null }>;

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
): Promise<PresentAccounts> {
  const wanted = await contactsOfScheduled(context.store.db, run.runId, {
    payableIds: lines.ids,
    signaled: new Set(lines.signaled),
    untilDate: cutOffSoon(lines.clock),
  });
  const client = context.clientOf(run.business);
  const contacts = new Map<string, { readonly last4: string | null }>();
  if (wanted.size > ONE_BY_ONE) {
    for await (const page of client.contacts.iteratePages({}, PATIENT)) {
      for (const { id, bankAccount } of page) {
        if (wanted.has(id)) contacts.set(id, { last4: bankAccount?.last4 ?? null });
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
    readonly contacts: PresentAccounts;
    readonly clock: ClockReading;
  },
): Promise<ReadonlySet<string>> {
  const { clock } = look;
  const unread = new Set<string>();
  const scheduled = lines.filter((line) => line.state === "scheduled" || line.state === "held");
  const ids = scheduled.map((line) => line.payableId);
  const plans = await planLinesOf(context.store.db, run.runId, ids);
  const planOf = new Map(plans.map((plan) => [plan.payableId, plan]));
  const soon = cutOffSoon(clock);
  for (const line of scheduled) {
    const plan = planOf.get(line.payableId);
    if (plan === undefined) continue;
    const payments = look.payments.get(line.payableId) ?? [];
    const tooMuch = overpaidCents({ totalCents: plan.totalCents, payments });
    if (tooMuch > 0) {
      await alarm(context, run, line, clock, {
        scope: "payable",
        value: line.payableId,
        code: "more-than-owed",
        found: tooMuch,
        cancel: tooMuchOf(payments, tooMuch),
        fact: `Payments on their way exceed the bill by ${formatUsd(tooMuch)}.`,
        act: cancelling(`What is too much for ${line.executionDate}`),
      });
      continue;
    }
    // An event may announce the account's change; before the cut-off the account is read again in any
    // case.
    if (!line.look && line.executionDate > soon) continue;
    const account = look.contacts.get(plan.contactId);
    if (account === undefined) {
      unread.add(line.payableId);
    } else if (account.last4 !== plan.bankLast4) {
      await alarm(context, run, line, clock, {
        scope: "contact",
        value: plan.contactId,
        code: "payee-changed-after-approval",
        found: account.last4 ?? "none",
        cancel: line.paymentIds,
        fact: `The vendor's bank account changed from ${accountText(plan.bankLast4)} to ${accountText(account.last4)} after the approval. Ask the vendor by phone.`,
        act: cancelling(`The payment of ${line.executionDate}`),
      });
    }
  }
  return unread;
}

/** Reads the last four digits of a vendor's account; null if there is none. */
export async function readContact(
  context: ActivityContext,
  business: string,
  contactId: string,
): Promise<{ readonly last4: string | null }> {
  // A vendor that is gone must not keep the run from following everything else.
  const contact = await unlessMissing(() => context.clientOf(business).contacts.get(contactId));
  return { last4: contact?.bankAccount?.last4 ?? null };
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
): { readonly code: string; readonly text: string } | null {
  const { reasonCode, reason } = line;
  const isStopped = to === "cancelled" || to === "refunded" || to === "held";
  if (!isStopped || reason === null) return null;
  const code = alarmOf(reasonCode);
  if (code === undefined) return null;
  return { code, text: to === "held" ? reason : alarmAfter(reason, to) };
}

/** Returns the newest payments that can be cancelled, until the excess is covered. */
function tooMuchOf(payments: readonly NetPayment[], excessCents: number): string[] {
  const chosen: string[] = [];
  let leftCents = excessCents;
  const newestFirst = payments.toSorted((a, b) =>
    (b.createdAt ?? "").localeCompare(a.createdAt ?? ""),
  );
  for (const { id, status, amountCents } of newestFirst) {
    if (leftCents <= 0 || !["scheduled", "held"].includes(status)) continue;
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
    await holdOnce(trx, { ...hold, author: OWN_AUTHOR, nowMs: clock.realMs }, clock);
    await raiseNotice(trx, {
      businessId: run.businessId,
      kind: "payment-in-doubt",
      factKey: `${run.runId}/${line.payableId}/${what.code}/${what.found}`,
      ...inDoubt(line.payableId, text),
      roles: ["operator"],
      data: { payableId: line.payableId, code: what.code, cancels: what.cancel },
      runId: run.runId,
      nowMs: clock.realMs,
    });
    await appendAudit(trx, {
      businessId: run.businessId,
      nowMs: clock.realMs,
      actor: run.runId,
      action: `alarm:${what.code}`,
      subject: line.payableId,
      details: { text, cancels: what.cancel },
    });
    return what.cancel.length === 0 ? null : askToCancel(trx, run, what, clock);
  });
  // If this fails the janitor starts the workflow: its row says that it is wanted.
  if (asked !== null)
    await startOrSignal(context.temporal, WORKFLOW_KINDS.cancelScheduledPayments, asked);
}

/**
 * Requests the cancellation of the payments that the alarm is about, or joins one that is under
 * way. If people have released these payments before, a new finding makes a new request.
 */
async function askToCancel(
  trx: Transaction<Tables>,
  run: Run,
  what: Alarm,
  clock: ClockReading,
): Promise<NewCancellation> {
  const { businessId, business } = run;
  const [first = "", ...others] = what.cancel;
  const about = others.length === 0 ? first : requestOfPayments(what.cancel);
  const beginning = cancelScheduledPaymentsId(business, `${what.code}/${about}`);
  const { workflowId } = await nextCancellation(trx, beginning);
  const asked: NewCancellation = {
    workflowId,
    businessId,
    business,
    playbook: "",
    policy: cancelOfPayments(what.cancel),
    runId: null,
    reason: what.fact,
    requestedBy: OWN_AUTHOR,
    nowMs: clock.realMs,
  };
  await insertCancellation(trx, asked);
  return asked;
}
