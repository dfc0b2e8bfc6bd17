import { HOUR_MS } from "../../src/contracts/durations.ts";
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

/** How long a retry waits if its vendor or bill can't be paid now, unless an event comes. */
const RETRY_LINE_WAIT_MS = 600_000;

/**
 * Returns what an outcome changes in a line. A retry keeps the line of its bill, or the run would
 * lease it.
 */
export function changeOfLine(
  owner: PayOwner,
  job: PayJob,
  outcome: PayOutcome,
  clock: ClockReading,
): LineChange {
  const { line } = job;
  const ownRun = isOwnRun(owner);
  const waiting: LineState = ownRun ? "planned" : "retrying";
  switch (outcome.kind) {
    case "applied":
      return {
        state: ownRun ? stateOfPaid(outcome.payments, job.plan.amountCents) : "retrying",
        reasonCode: null,
        reason: outcome.found ? FOUND : ownRun ? null : PAID_AGAIN,
        paymentIds: [...new Set([...line.paymentIds, ...outcome.paymentIds])],
        pollAtMs: clock.businessMs,
        backsOffAtMs: null,
      };
    case "unknown":
    case "back":
      return backedOff(owner, line, outcome, clock.serviceMs);
    case "business-wait":
      return {
        state: outcome.isOpen && ownRun ? "unknown" : waiting,
        // The run looks for the line's money anew, which says what the source lacks.
        ...(outcome.code === SOURCE_UNAVAILABLE && ownRun ? { funded: false } : {}),
      };
    case "line-wait":
      return {
        ...(ownRun
          ? { state: "on-hold", pollAtMs: clock.businessMs + HOUR_MS }
          : { state: "retrying", notBeforeMs: clock.serviceMs + RETRY_LINE_WAIT_MS }),
        reasonCode: outcome.code,
        reason: outcome.message,
        backsOffAtMs: null,
      };
    case "on-hold":
      return ownRun
        ? { state: "on-hold", reasonCode: "on_hold", reason: outcome.reason, backsOffAtMs: null }
        : { state: "retrying", reasonCode: "on_hold", reason: outcome.reason };
    case "not-approved":
      return ownRun ? { state: "awaiting-approval", funded: false, backsOffAtMs: null } : EXPIRED;
    case "record-changed":
      return askedAbout(owner, line, outcome, clock);
    case "stopped":
      return ownRun
        ? { state: "cancelled", reasonCode: outcome.code, reason: null }
        : { state: "parked", reasonCode: outcome.code, reason: STOPPED[outcome.code] };
    case "parked":
      return {
        state: "parked",
        reasonCode: outcome.code,
        reason: outcome.reason,
        backsOffAtMs: null,
      };
    case "paid-elsewhere":
      return { state: "paid-elsewhere", reasonCode: "paid_elsewhere", reason: outcome.reason };
    case "changed":
      return ownRun
        ? { state: "awaiting-approval", reasonCode: "changed_since_approval", backsOffAtMs: null }
        : {
            state: "parked",
            reasonCode: "changed_since_approval",
            reason: `Not retried: ${outcome.reason}. The next run asks for a new approval.`,
          };
  }
}

/** The line waits until somebody has said whether the vendor's account is still right. */
function askedAbout(
  owner: PayOwner,
  line: RunLine,
  { record, reason }: PayOutcome & { readonly kind: "record-changed" },
  clock: ClockReading,
): LineChange {
  // A retry that asks about the same record again doesn't ask anew.
  const sinceMs = line.recordAsked === record ? line.recordAskedAtMs : null;
  return {
    ...(isOwnRun(owner)
      ? { state: "awaiting-approval", funded: false }
      : { state: "retrying", notBeforeMs: clock.serviceMs + RETRY_LINE_WAIT_MS }),
    reasonCode: CHANGED_RECORD,
    reason,
    backsOffAtMs: null,
    recordAsked: record,
    recordAskedAtMs: sinceMs ?? clock.realMs,
  };
}

/** Nothing came of the try, or nobody knows what: the line is tried again later. */
function backedOff(
  owner: PayOwner,
  line: RunLine,
  outcome: PayOutcome & { readonly kind: "unknown" | "back" },
  nowMs: number,
): LineChange {
  const isOpen = outcome.kind === "unknown";
  // A line that only has to be read again is read at once, unless the last try ended with the
  // same reason.
  const isAtOnce = outcome.waitMs === 0 && line.reason !== outcome.reason;
  const waitMs = outcome.waitMs === 0 ? null : outcome.waitMs;
  const ofRun = isOpen ? "unknown" : "planned";
  return {
    state: isOwnRun(owner) ? ofRun : "retrying",
    notBeforeMs: isAtOnce ? nowMs : againAtMs(line, waitMs, nowMs),
    reasonCode: outcome.kind === "unknown" ? "answer_unknown" : (outcome.code ?? "waits"),
    reason: outcome.reason,
    ...(isAtOnce ? {} : { backsOffAtMs: nowMs }),
  };
}

const FOUND = "Found by a lookup: its answer is not on record.";

/** The reason of a bill whose state says only that it is being retried. */
const PAID_AGAIN = "It was sent again, and its new payment has not settled yet.";

const EXPIRED: LineChange = {
  state: "parked",
  reasonCode: "approval_expired",
  reason: "No valid approval of it is stored any more. The next run asks again.",
};

/** Says why nothing more of a line is paid. */
export const STOPPED = {
  run_cancelled: "Its run was cancelled, so nothing more of it is paid.",
  rejected: "Its run was rejected, so nothing more of it is paid.",
  dropped: "An approver left it out, so it is not sent again.",
} as const;

export function isOwnRun({ owner, runId }: PayOwner): boolean {
  return owner === runId;
}

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
