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

/** What trying to cancel one payment, or finding out whether there is one, came to. Refusals and waits are outcomes, not exceptions. */
export type CancelOutcome =
  | {
      readonly kind: "ended";
      readonly state: CancellationState;
      readonly reason: string;
      readonly goesOutAtMs?: number | null;
    }
  /** Cancelled, and the money is on its way back. */
  | { readonly kind: "returning"; readonly reason: string }
  /** These payments came of a request that was under way: they are cancelled next. */
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

/** A person must find out what became of it. */
export function unknown(reason: string): CancelOutcome {
  return ended("unknown", reason);
}
