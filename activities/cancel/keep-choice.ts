import { authorOf, byWorkflow, isSameAuthor, PAYRUN } from "../../src/contracts/authors.ts";
import type { PlanLine } from "../../src/contracts/pay-run.ts";
import type { Transaction } from "kysely";
import { cancelScheduledPaymentsId } from "../../src/contracts/workflow-kinds.ts";
import { holdsOfCancellation } from "../../src/domain/cancellations/holds-of-cancellation.ts";
import { namedPayments } from "../../src/domain/cancellations/policy.ts";
import { mayYetBeCancelled } from "../../src/domain/cancellations/judge-payment.ts";
import { askerOf } from "../../src/domain/events/triggers.ts";
import { changeOfSubject, type ShownSubject } from "../../src/domain/events/shown-change.ts";
import { isApplied, madeIdsOf } from "../../src/ledger/derive.ts";
import type { KeyedAttempt } from "../../src/ledger/facts.ts";
import { loadSubjects } from "../../src/ledger/rows.ts";
import type { Payment } from "../../src/payments-api/index.ts";
import { appendAudit } from "../../src/store/audit/audit.ts";
import {
  type Cancellation,
  changeCancellation,
  getCancellation,
} from "../../src/store/cancellations/cancellations.ts";
import {
  type CancellationItem,
  insertItem,
  withheldBy,
} from "../../src/store/cancellations/cancellation-items.ts";
import { databaseNowMs } from "../../src/store/sql/database-clock.ts";
import { activeHolds, createHold, type Hold } from "../../src/store/holds/holds.ts";
import type { RunLine } from "../../src/store/lines/lines.ts";
import { openSubjects } from "../../src/store/payables/open-subjects.ts";
import type { Tables } from "../../src/store/schema/tables.ts";
import type { ClockReading } from "../../src/business/clock.ts";
import { isLeased, isScheduled, linesToCancel } from "./choose-lines.ts";
import { by } from "./notes.ts";
import { reasonOf } from "./read-subject.ts";

/** What the service showed a moment ago. */
export interface Shown {
  /** What events were about; undefined if none started the cancellation. */
  readonly subject?: ShownSubject | undefined;
  /** Payments that are chosen regardless of what the store knows of them. */
  readonly chosen: readonly string[];
  /** Every payment that was read, by its id; undefined if the service doesn't know it. */
  readonly payments: ReadonlyMap<string, Payment | undefined>;
  /** Payments of the bills whose payments were all read, by the bill's id. */
  readonly ofBills: ReadonlyMap<string, readonly Payment[]>;
}

/**
 * A payment to cancel, or a bill whose payment may be under way, with its first state and reason.
 */
type Part = Pick<
  CancellationItem,
  "paymentId" | "payableId" | "contactId" | "amountCents" | "state" | "open" | "reason"
>;

/** Writes what a cancellation is about, and a hold on each of its bills. */
export async function keepChoice(
  trx: Transaction<Tables>,
  cancellation: Cancellation,
  shown: Shown,
  clock: ClockReading,
): Promise<void> {
  const { workflowId, businessId } = cancellation;
  const now = await getCancellation(trx, workflowId);
  if (now?.chosenAtMs !== null) return;
  const judged = [
    ...shown.chosen.map((id) => judge(partOf(id, shown), shown)),
    ...(await partsOfLines(trx, cancellation, shown)),
  ].filter(({ change }) => change !== null);
  const parts = onceEach(judged.map(({ part }) => part));
  const reason = reasonOf(cancellation, judged[0]?.change ?? undefined);
  const holds = await holdAll(trx, { ...cancellation, reason }, parts, clock);
  for (const [itemNo, part] of parts.entries()) {
    const holdId = part.payableId === null ? null : (holds.get(part.payableId) ?? null);
    const item = { ...part, workflowId, itemNo, businessId, holdId };
    await insertItem(trx, item, clock.realMs);
  }
  await changeCancellation(trx, workflowId, { chosenAtMs: clock.realMs, reason });
  await appendAudit(trx, {
    ...by(cancellation, clock),
    action: "cancellation.held",
    subject: workflowId,
    details: {
      reason,
      payments: parts.flatMap(({ paymentId }) => paymentId ?? []),
      bills: [...holds.keys()],
      underWay: parts.flatMap(({ paymentId, payableId }) =>
        paymentId === null ? (payableId ?? []) : [],
      ),
    },
  });
}

const UNDER_WAY =
  "Its request was under way when its bill was put on hold; waiting for what comes of it.";
const NEVER_SENT = "Nothing of it was under way when its bill was put on hold.";

interface Judged {
  readonly part: Part;
  /** How the service shows it changed, or empty if nobody asks; null if it shows no change. */
  readonly change: string | null;
}

/** Judges whether what events were about has changed since a payment, or the plan of its bill. */
function judge(part: Part, { subject, payments }: Shown, plan?: PlanLine): Judged {
  if (subject === undefined) return { part, change: "" };
  const payment = part.paymentId === null ? undefined : payments.get(part.paymentId);
  const known = {
    ...(plan === undefined ? {} : { plan }),
    ...(payment === undefined ? {} : { madeAt: payment.createdAt }),
  };
  return { part, change: changeOfSubject(subject, known) };
}

/** Returns the first mention of each payment, and of each bill whose payment isn't known yet. */
function onceEach(parts: readonly Part[]): Part[] {
  const seen = new Set<string>();
  return parts.filter(({ paymentId, payableId }) => {
    const key = paymentId === null ? `bill ${payableId}` : `payment ${paymentId}`;
    return !seen.has(key) && seen.add(key);
  });
}

async function partsOfLines(
  trx: Transaction<Tables>,
  cancellation: Cancellation,
  shown: Shown,
): Promise<Judged[]> {
  if (namedPayments(cancellation.policy) !== null) return [];
  // Leases run on the database's clock.
  const nowMs = await databaseNowMs(trx);
  const { businessId } = cancellation;
  const lines = await linesToCancel(trx, cancellation);
  const payableIds = lines.map(({ line }) => line.payableId);
  const open = await openSubjects(trx, businessId, payableIds);
  const facts = await loadSubjects(trx, businessId, payableIds);
  const parts: Judged[] = [];
  for (const { line, plan } of lines) {
    const { payableId } = line;
    const isUnderWay = open.has(payableId);
    // The service has nothing of this bill, and its run may pay it another time.
    if (line.state === "planned" && !isUnderWay) continue;
    const attempts = facts.get(payableId)?.attempts ?? [];
    const now = { line, isUnderWay, attempts, isAt: isLeased(line, nowMs) };
    parts.push(...partsOfLine(now, shown).map((part) => judge(part, shown, plan)));
  }
  return parts;
}

function partsOfLine(
  now: {
    readonly line: RunLine;
    /** True if a request of the bill may make a payment that has not been seen yet. */
    readonly isUnderWay: boolean;
    readonly attempts: readonly KeyedAttempt[];
    /** True while a lane or a retry is paying the bill. */
    readonly isAt: boolean;
  },
  shown: Shown,
): Part[] {
  const { line, isUnderWay, attempts, isAt } = now;
  const ofLine = (ids: readonly string[]): Part[] => ids.map((id) => partOf(id, shown, line));
  if (isScheduled(line)) return ofLine(line.paymentIds);
  const there = shown.ofBills.get(line.payableId) ?? [];
  const open = there.filter(({ status }) => mayYetBeCancelled(status));
  const parts = ofLine(open.map(({ id }) => id));
  if (isUnderWay) {
    const amountCents = attempts.at(-1)?.sends.at(-1)?.amountCents ?? line.amountCents;
    return [...parts, { ...billOf(line), amountCents, reason: UNDER_WAY }];
  }
  // These were made after the service was read.
  const applied = attempts.findLast(isApplied);
  const made = applied === undefined ? [] : madeIdsOf(applied);
  parts.push(...ofLine(made.filter((id) => !shown.payments.has(id))));
  if (parts.length > 0 || !isAt) return parts;
  return [{ ...billOf(line), state: "withheld", open: false, reason: NEVER_SENT }];
}

function billOf({ payableId, contactId, amountCents }: RunLine): Part {
  const bill = { paymentId: null, payableId, contactId, amountCents };
  return { ...bill, state: "unknown", open: true, reason: null };
}

/** @param line the line of a payment that was not read, or that the service doesn't show */
function partOf(paymentId: string, { payments }: Shown, line?: RunLine): Part {
  const payment = payments.get(paymentId);
  const isOnly = line?.paymentIds.length === 1;
  return {
    paymentId,
    payableId: payment?.payableId ?? line?.payableId ?? null,
    contactId: payment?.contactId ?? line?.contactId ?? null,
    amountCents: payment?.amountCents ?? (isOnly ? line.amountCents : 0),
    state: "unknown",
    open: true,
    reason: "Not cancelled yet.",
  };
}

/**
 * Puts every bill of this cancellation on hold, unless the hold of a stop covers them all, and
 * returns the hold of each. If that stop was lifted, sets no holds: nothing is cancelled.
 */
async function holdAll(
  trx: Transaction<Tables>,
  cancellation: Cancellation,
  parts: readonly Part[],
  clock: ClockReading,
): Promise<Map<string, string>> {
  const { workflowId, businessId, reason } = cancellation;
  const bills = new Set(parts.flatMap(({ payableId }) => payableId ?? []));
  const inForce = await activeHolds(trx, businessId, clock.businessMs);
  const { byOne, lifted } = holdsOfCancellation(cancellation.policy, inForce);
  if (lifted) return new Map();
  if (byOne !== undefined) return new Map([...bills].map((payableId) => [payableId, byOne]));
  const holds = await heldBefore(trx, cancellation, bills, inForce);
  for (const payableId of bills) {
    if (holds.has(payableId)) continue;
    const { holdId } = await createHold(trx, {
      businessId,
      scope: "payable",
      value: payableId,
      reason: `${askerOf(cancellation)} has asked to cancel its payment: ${reason}`,
      author: byWorkflow(workflowId),
      nowMs: clock.realMs,
    });
    holds.set(payableId, holdId);
  }
  return holds;
}

/**
 * Returns holds that earlier cancellations set on the same bills, or that Payrun has set if it asks
 * for this cancel by itself, so that each bill has one hold and one release lifts it.
 */
async function heldBefore(
  trx: Transaction<Tables>,
  { business, requestedBy, requestedByKind }: Cancellation,
  bills: ReadonlySet<string>,
  inForce: readonly Hold[],
): Promise<Map<string, string>> {
  const beginning = cancelScheduledPaymentsId(business, "");
  const asker = authorOf(requestedBy, requestedByKind);
  const holds = new Map<string, string>();
  for (const hold of inForce) {
    const { author, authorKind, holdId, scope, value } = hold;
    const isCancels = authorKind === "system" && author.startsWith(beginning);
    const isAlarms =
      isSameAuthor(asker, PAYRUN) && isSameAuthor(authorOf(author, authorKind), PAYRUN);
    if (scope !== "payable" || !bills.has(value) || !(isCancels || isAlarms)) continue;
    // The playbook of a hold-back says who may lift its hold.
    if ((await withheldBy(trx, holdId)) === undefined) holds.set(value, holdId);
  }
  return holds;
}
