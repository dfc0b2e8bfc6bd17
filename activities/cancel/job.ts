import type { CancellationState } from "../../src/contracts/cancellation.ts";
import type { Cancellation } from "../../src/store/cancellations/cancellations.ts";
import type { CancellationItem } from "../../src/store/cancellations/cancellation-items.ts";
import type { BusinessFault } from "../shared/business-fault.ts";
import type { BackOff } from "../shared/back-off.ts";

/** One thing that a cancellation is about. */
export interface CancelJob<Item extends CancellationItem = CancellationItem> {
  readonly cancellation: Cancellation;
  readonly item: Item;
  /** This worker and activity attempt. */
  readonly by: string;
}

/** A payment. */
export type PaymentJob = CancelJob<CancellationItem & { readonly paymentId: string }>;

/** A bill whose request was under way when it was put on hold. */
export type UnderWayJob = CancelJob<
  CancellationItem & { readonly paymentId: null; readonly payableId: string }
>;

/**
 * What came of trying to cancel one payment, or of finding out whether there is one. Refusals and
 * waits are outcomes, not exceptions.
 */
export type CancelOutcome =
  | {
      readonly kind: "ended";
      readonly state: CancellationState;
      readonly reason: string;
      readonly goesOutAtMs?: number | null;
    }
  /** Cancelled, and the money is on its way back. */
  | { readonly kind: "returning"; readonly reason: string }
  /** A request that was under way made these payments: they are cancelled next. */
  | { readonly kind: "made"; readonly payments: readonly MadePayment[] }
  | BackOff
  | BusinessFault;

export interface MadePayment {
  readonly paymentId: string;
  readonly amountCents: number;
}

export function ended(state: CancellationState, reason: string): CancelOutcome {
  return { kind: "ended", state, reason };
}

/** Returns the outcome of an item that a person must clear up. */
export function unknown(reason: string): CancelOutcome {
  return ended("unknown", reason);
}
