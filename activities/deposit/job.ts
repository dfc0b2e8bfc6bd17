import type { BusinessFault } from "../shared/business-fault.ts";
import type { BackOff } from "../shared/back-off.ts";

/** What came of working on a deposit. Refusals and waits are outcomes, not exceptions. */
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
  /** `unclear`: a person must look at the service's list. */
  | (BackOff & { readonly code?: "unclear" })
  | BusinessFault;
