/** What working on a deposit came to. Refusals and waits are outcomes, not exceptions. */
export type DepositOutcome =
  /** The service has it. */
  | {
      readonly kind: "made";
      readonly transactionId: string;
      readonly key: string;
      readonly answer: string;
    }
  /** It will never be made: the service refused it, and nothing of it is in flight. */
  | { readonly kind: "refused"; readonly reason: string }
  /** Not known, or not possible yet: looked at again from this instant of the service's clock on. */
  | {
      readonly kind: "rest";
      readonly notBeforeMs: number;
      readonly reason: string | null;
      /** `unclear`: a person must look at the service's list. */
      readonly code?: "unclear";
    }
  | {
      readonly kind: "business-wait";
      readonly code: string;
      readonly message: string;
      readonly retryAfterMs: number | null;
    };
