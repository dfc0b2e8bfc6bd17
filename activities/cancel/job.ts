import type { CancellationState } from "../../src/contracts/cancellation.ts";
import type { Cancellation } from "../../src/store/cancellations.ts";
import type { CancellationItem } from "../../src/store/cancellation-items.ts";

/** One payment to cancel. */
export interface CancelJob {
  readonly cancellation: Cancellation;
  readonly item: CancellationItem & { readonly paymentId: string };
  /** This worker and activity attempt. */
  readonly by: string;
}

/** A bill whose request was under way when it was put on hold. */
export interface FindOutJob {
  readonly cancellation: Cancellation;
  readonly item: CancellationItem & { readonly paymentId: null; readonly payableId: string };
  readonly by: string;
}

/** What trying to cancel one payment, or finding out whether there is one, came to. Refusals and waits are outcomes, not exceptions. */
export type CancelOutcome =
  | { readonly kind: "ended"; readonly state: CancellationState; readonly reason: string }
  /** Cancelled, and the money is on its way back. */
  | { readonly kind: "returning"; readonly reason: string }
  /** These payments came of a request that was under way: they are cancelled next. */
  | { readonly kind: "made"; readonly payments: readonly MadePayment[] }
  /** Not known, or not possible yet: looked at again from this instant of the service's clock on. */
  | { readonly kind: "rest"; readonly notBeforeMs: number; readonly reason: string }
  | {
      readonly kind: "business-wait";
      readonly code: string;
      readonly message: string;
      readonly retryAfterMs: number | null;
    };

export interface MadePayment {
  readonly paymentId: string;
  readonly amountCents: number;
}

/** An outcome that is written down. */
export interface Recorded {
  readonly outcome: CancelOutcome;
  /** True where the item came to its end. */
  readonly ended: boolean;
}
