import type { Look } from "./look.ts";
import type { StartedBy } from "./events.ts";

/** What became of one payment, or one bill, that a cancellation is about. */
export const CANCELLATION_STATES = [
  "withheld",
  "released",
  "cancelled",
  "refund_pending",
  "refunded",
  "too-late",
  "several-scheduled",
  "unknown",
] as const;
export type CancellationState = (typeof CANCELLATION_STATES)[number];

export const CANCELLATION_PHASES = [
  "choosing",
  "withholding",
  "cancelling",
  "following",
  "completed",
  "completed-with-exceptions",
] as const;
export type CancellationPhase = (typeof CANCELLATION_PHASES)[number];

export interface CancelScheduledInput {
  /** Workflow id: everything else is in the store. */
  readonly id: string;
}

/** Where a cancellation stands, and what its workflow does next. */
export interface CancellationAssessment extends Look {
  readonly phase: CancellationPhase;
  readonly ended: boolean;
  readonly business: string;
  readonly playbook: string;
  /** True until the payments have been chosen and the bills put on hold. */
  readonly toChoose: boolean;
  /** Payments to cancel, and requests under way to find out about, now. */
  readonly toCancel: number;
  /** Payments whose way back is to be read now. */
  readonly toFollow: number;
  readonly needsAction: boolean;
  readonly exceptions: number;
  readonly totalCents: number;
}

/** Kinds of playbooks whose workflow is a cancellation: `hold` withholds bills. */
export const CANCELLATION_KINDS = ["hold", "cancel-scheduled"] as const;
type CancellationKind = (typeof CANCELLATION_KINDS)[number];

/** What `status --json` and `GET /v1/runs/{id}` answer for a cancellation. */
export interface CancellationStatus {
  readonly id: string;
  readonly kind: CancellationKind;
  readonly business: string;
  /** Empty where a person named the payments. */
  readonly playbook: string;
  readonly phase: CancellationPhase;
  readonly waitingFor: string | null;
  readonly needsAction: boolean;
  readonly counts: Readonly<Partial<Record<CancellationState, number>>>;
  readonly totalCents: number;
  readonly planHash: null;
  readonly reason: string;
  readonly launchedBy: string;
  /** The events that started it; missing where none did. */
  readonly startedBy?: readonly StartedBy[];
  readonly launchedAt: string;
  readonly endedAt: string | null;
  /** The page that was asked for, of `totalCount` in all. */
  readonly payments: readonly CancellationPaymentStatus[];
  readonly totalCount: number;
  /** From 1. */
  readonly page: number;
  readonly pageSize: number;
  /** Null on the last page. */
  readonly nextPage: number | null;
}

export interface CancellationPaymentStatus {
  /** Null for a bill of which nothing was sent, or whose request is still under way. */
  readonly paymentId: string | null;
  readonly payableId: string | null;
  readonly amountCents: number;
  readonly state: CancellationState;
  /** What happened and where the money went. */
  readonly reason: string | null;
  /** Hold that keeps the bill from being paid again. */
  readonly holdId: string | null;
  /** Business-clock instant until which a withheld bill may be released in time, or null. */
  readonly releaseBy: string | null;
}
