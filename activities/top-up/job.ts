import type { Attempt } from "../../src/contracts/attempt.ts";
import type { TopUp } from "../../src/store/top-ups.ts";

/** One request for a deposit that is worked on. */
export interface DepositJob {
  readonly topUp: TopUp;
  /** This worker and activity attempt. */
  readonly by: string;
  /** Real instant up to which this process alone works on it. */
  readonly leaseUntilMs: number;
}

/** What working on a deposit came to. Refusals and waits are outcomes, not exceptions. */
export type DepositOutcome =
  /** The service has it. */
  | {
      readonly kind: "made";
      readonly attempt: Attempt;
      readonly transactionId: string;
      readonly answer: string;
    }
  /** It will never be made: the service refused it, and nothing of it is in flight. */
  | { readonly kind: "refused"; readonly attempt: Attempt; readonly reason: string }
  /** Its key is used up and nothing of it is in flight: the next send takes another. */
  | { readonly kind: "next-key"; readonly attempt: Attempt }
  /** Nothing of it was ever taken, and nothing may be sent now. */
  | { readonly kind: "back"; readonly attempt: Attempt; readonly reason: string }
  /** Not known, or not possible yet: looked at again from this instant of the service's clock on. */
  | {
      readonly kind: "rest";
      readonly notBeforeMs: number;
      readonly reason: string;
      /** `unclear`: a person must look at the service's list. */
      readonly code?: "unclear";
    }
  | {
      readonly kind: "business-wait";
      readonly code: string;
      readonly message: string;
      readonly retryAfterMs: number | null;
    };
