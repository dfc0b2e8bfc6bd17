import type { CancellationState } from "../../contracts/cancellation.ts";
import type { Clock } from "../clock/clock.ts";
import { executionMs, recallOf } from "./cut-off.ts";
import { nothingToCancel, TOO_LATE } from "./left-to-people.ts";

export interface CancelCandidate {
  readonly status: string;
  /** Null if the service doesn't say. */
  readonly scheduledAt: string | null;
  readonly failureReason?: string | null | undefined;
  readonly paymentRail?: string | null | undefined;
}

/** Statuses in which a payment has executed, has ended, or is being refunded. */
const BEYOND: ReadonlySet<string> = new Set([
  "processing",
  "completed",
  "failed",
  "returned",
  "cancelled",
  "refund_pending",
  "refunded",
]);

/** True if a payment can be cancelled, or may soon be. */
export function mayYetBeCancelled(status: string): boolean {
  return !BEYOND.has(status);
}

/** Whether a payment can be cancelled. */
export type CancelVerdict =
  /** A cancel may be sent until this business-clock instant; null means without end. */
  | { readonly kind: "cancel"; readonly untilMs: number | null }
  /** Nothing more can be done, or needs to be. */
  | {
      readonly kind: "ended";
      readonly state: CancellationState;
      readonly reason: string;
      /**
       * Business-clock instant at which a scheduled payment executes all the same; null if unknown.
       */
      readonly goesOutAtMs?: number | null;
    }
  /** It is cancelled, and its money is on its way back. */
  | { readonly kind: "returning"; readonly reason: string }
  /**
   * It can't be cancelled in this state, which should not last: look again. `reason` has no full
   * stop.
   */
  | { readonly kind: "later"; readonly reason: string };

type Ended = Extract<CancelVerdict, { readonly kind: "ended" }>;

/**
 * Judges whether a payment can be cancelled, from what the service shows (API specification,
 * sections 3 and 4): `scheduled` before 9:00 New York on its date, `held` at any time.
 *
 * @param facts.severalScheduled its bill has more than one scheduled payment
 * @param facts.refused the service has refused to cancel it
 */
export function judgeForCancel(
  payment: CancelCandidate,
  facts: {
    readonly severalScheduled: boolean;
    readonly refused?: boolean;
    readonly clock: Clock;
  },
): CancelVerdict {
  switch (payment.status) {
    case "held":
      // Some services cancel a held payment beside several scheduled ones, others refuse.
      return facts.severalScheduled && facts.refused === true
        ? severalScheduled()
        : { kind: "cancel", untilMs: null };
    case "scheduled":
      return judgeScheduled(payment, facts);
    case "cancelled":
      return ended("cancelled", "Cancelled. No money moved.");
    case "refund_pending":
      return {
        kind: "returning",
        reason: "Cancelled. The money is on its way back to the bank, 1 to 3 business days.",
      };
    case "refunded":
      return ended("refunded", `Cancelled. ${whereMoneyIs(payment)}`);
    case "pending":
      return { kind: "later", reason: "The service has not submitted it yet" };
    case "processing":
      return ended("too-late", TOO_LATE.atTheBank);
    case "completed":
      return ended("too-late", TOO_LATE.settled);
    case "failed":
    case "returned": {
      const why = payment.failureReason ?? "no reason given";
      return ended("too-late", nothingToCancel(payment.status, why));
    }
    default:
      return {
        kind: "later",
        reason: `The service calls it ${payment.status}, which is not known here`,
      };
  }
}

/** Says where a refunded payment's money is, by who held it (API specification, section 3). */
function whereMoneyIs({ paymentRail }: CancelCandidate): string {
  if (paymentRail === "PROVIDER") return "The money is back at the bank.";
  return paymentRail === "SERVICE"
    ? "The bank debit was stopped, or the money is in the balance or on its way there."
    : "The money is back.";
}

function judgeScheduled(
  payment: CancelCandidate,
  facts: {
    readonly severalScheduled: boolean;
    readonly clock: Clock;
  },
): CancelVerdict {
  const { scheduledAt } = payment;
  const goesOutAtMs = scheduledAt === null ? null : executionMs(scheduledAt);
  if (facts.severalScheduled) return { ...severalScheduled(), goesOutAtMs };
  const recall = recallOf({ state: "scheduled", scheduledAt }, facts.clock);
  return recall === undefined
    ? { ...ended("too-late", TOO_LATE.tooClose), goesOutAtMs }
    : { kind: "cancel", untilMs: recall.untilMs };
}

function severalScheduled(): Ended {
  return ended("several-scheduled", TOO_LATE.severalScheduled);
}

function ended(state: CancellationState, reason: string): Ended {
  return { kind: "ended", state, reason };
}
