import type { OnboardingInput } from "../../src/store/onboarding/onboarding-inputs.ts";
import type { InputFacts } from "../../src/store/schema/onboardings.ts";
import type { PaymentsClient } from "../../src/payments-api/index.ts";

/** What the service shows of something before it is sent. */
export type FoundInput =
  /** The service has it: it is not sent again. */
  | { readonly kind: "there" }
  | { readonly kind: "absent"; readonly facts?: InputFacts }
  /** A person has to decide, or to give something else. */
  | { readonly kind: "refused"; readonly reason: string };

/** How one thing that was provided reaches the service. */
export interface Sender {
  /** Reads the service: its writes take no key, so nothing else shows what it has. */
  look(): Promise<FoundInput>;
  /** Sends it, once. */
  send(): Promise<void>;
  /** Texts that no reason may show. */
  readonly personal: readonly string[];
}

export interface Sending {
  readonly client: PaymentsClient;
  readonly businessId: string;
  readonly input: OnboardingInput;
  /** Everything that was ever provided for the business, first to last. */
  readonly given: readonly OnboardingInput[];
}
