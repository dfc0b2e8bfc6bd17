import { CHANGED_RECORD } from "../../src/domain/approvals/changed-records.ts";
import type { ClockReading } from "../../src/business/clock.ts";
import type { LineState } from "../../src/contracts/line-states.ts";
import { doublingMs } from "../../src/domain/back-off.ts";
import { SOURCE_UNAVAILABLE } from "../../src/domain/service-waits.ts";
import { UNANSWERED_NOTICE_AFTER_MS } from "../../src/domain/payments/late.ts";
import { lineStateOfPayments } from "../../src/domain/payments/payment-states.ts";
import type { Payment } from "../../src/payments-api/index.ts";
import type { LineChange, RunLine } from "../../src/store/lines/lines.ts";
import type { PayJob, PayOutcome, PayOwner } from "./job.ts";

/** A line's back-off doubles from the first to the last. */
const FIRST_WAIT_MS = 5_000;
const LAST_WAIT_MS = 600_000;

/** Returns what an outcome changes in a line. */
export function changeOfLine(
  owner: PayOwner,
  job: PayJob,
  outcome: PayOutcome,
  clock: ClockReading,
): LineChange {
  const { line } = job;
  const states = owner.lines;
  switch (outcome.kind) {
    case "applied": {
      const paid = states.paid(stateOfPaid(outcome.payments, job.plan.amountCents));
      return {
        ...paid,
        reasonCode: null,
        ...(outcome.found ? { reason: FOUND } : {}),
        paymentIds: [...new Set([...line.paymentIds, ...outcome.paymentIds])],
        pollAtMs: clock.businessMs,
        backsOffAtMs: null,
      };
    }
    case "unknown":
      return backedOff(line, states.mayPay, outcome, clock.serviceMs);
    case "back":
      return backedOff(line, states.waits, outcome, clock.serviceMs);
    case "business-wait":
      return {
        state: outcome.isOpen ? states.mayPay : states.waits,
        ...(outcome.code === SOURCE_UNAVAILABLE ? states.noMoney : {}),
      };
    case "line-wait": {
      const { code: reasonCode, message: reason } = outcome;
      return { ...states.lineWaits(clock), reasonCode, reason, backsOffAtMs: null };
    }
    case "on-hold":
      return { ...states.onHold, reasonCode: "on_hold", reason: outcome.reason };
    case "not-approved":
      return states.notApproved;
    case "record-changed": {
      const { record, reason } = outcome;
      // A retry that asks about the same record again doesn't ask anew.
      const sinceMs = line.recordAsked === record ? line.recordAskedAtMs : null;
      return {
        ...states.asked(clock),
        reasonCode: CHANGED_RECORD,
        reason,
        backsOffAtMs: null,
        recordAsked: record,
        recordAskedAtMs: sinceMs ?? clock.realMs,
      };
    }
    case "stopped":
      return { ...states.stopped(outcome.code), reasonCode: outcome.code };
    case "parked": {
      const { code: reasonCode, reason } = outcome;
      return { state: "parked", reasonCode, reason, backsOffAtMs: null };
    }
    case "paid-elsewhere":
      return { state: "paid-elsewhere", reasonCode: "paid_elsewhere", reason: outcome.reason };
    case "changed":
      return { ...states.changed(outcome.reason), reasonCode: "changed_since_approval" };
  }
}

/** Nothing came of the try, or nobody knows what: the line is tried again later. */
function backedOff(
  line: RunLine,
  state: LineState,
  outcome: PayOutcome & { readonly kind: "unknown" | "back" },
  nowMs: number,
): LineChange {
  // A line that only has to be read again is read at once, unless the last try ended with the
  // same reason.
  const isAtOnce = outcome.waitMs === 0 && line.reason !== outcome.reason;
  const waitMs = outcome.waitMs === 0 ? null : outcome.waitMs;
  return {
    state,
    notBeforeMs: isAtOnce ? nowMs : againAtMs(line, waitMs, nowMs),
    reasonCode: outcome.kind === "unknown" ? "answer_unknown" : (outcome.code ?? "waits"),
    reason: outcome.reason,
    ...(isAtOnce ? {} : { backsOffAtMs: nowMs }),
  };
}

const FOUND = "Found by a lookup: its answer is not on record.";

/** Returns the state of a line by the payments that its request made. */
export function stateOfPaid(payments: readonly Payment[], amountCents: number): LineState {
  if (payments.length === 0) return "processing";
  const outcome = lineStateOfPayments(payments, amountCents);
  // A failure within the answer itself is left to the follower, which owns what comes after it.
  return outcome.kind === "state" ? outcome.state : "processing";
}

/**
 * Returns when a line is tried again: no later than its wait ends, and at growing intervals if the
 * end isn't known. One try falls on the instant at which people are to be notified, because a try
 * raises that notice.
 */
function againAtMs(
  { backOffs, backOffSinceMs }: Pick<RunLine, "backOffs" | "backOffSinceMs">,
  waitMs: number | null,
  nowMs: number,
): number {
  const growing = doublingMs(FIRST_WAIT_MS, LAST_WAIT_MS, backOffs);
  const atMs = nowMs + (waitMs === null ? growing : Math.min(waitMs, growing));
  const noticeAtMs = (backOffSinceMs ?? nowMs) + UNANSWERED_NOTICE_AFTER_MS;
  return noticeAtMs > nowMs ? Math.min(atMs, noticeAtMs) : atMs;
}
