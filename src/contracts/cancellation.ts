import type { Look } from "./look.ts";

/** The state of one payment or bill of a cancellation. */
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
  /** Payments to cancel now, and cancel requests to look up now. */
  readonly toCancel: number;
  /** Payments whose refund is to be read now. */
  readonly toFollow: number;
  readonly needsAction: boolean;
  readonly exceptions: number;
  readonly totalCents: number;
}

/** Kinds of playbooks whose workflow is a cancellation; `hold` holds bills back. */
export const CANCELLATION_KINDS = ["hold", "cancel-scheduled"] as const;
