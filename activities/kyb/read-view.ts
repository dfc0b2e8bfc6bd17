import type { KybStep } from "../../src/contracts/onboarding.ts";
import type { StepState, VerificationView } from "../../src/domain/onboarding/decide.ts";
import { withoutPersonal } from "../../src/domain/onboarding/masking.ts";
import type { PaymentsClient, TaxInfo, Verification } from "../../src/payments-api/index.ts";
import type { OnboardingInput } from "../../src/store/onboarding-inputs.ts";

/**
 * How far the service says that a business is.
 *
 * @param inputs what was sent, for services that don't say which steps they have
 */
export async function readView(
  client: PaymentsClient,
  businessId: string,
  inputs: readonly OnboardingInput[],
): Promise<VerificationView> {
  const verification = await client.verification.get(businessId);
  const isVerified = verification.status === "verified";
  return {
    status: verification.status,
    steps: isVerified ? ALL : await stepsOf(client, businessId, verification, inputs),
    taxIdMismatched: /mismatch/i.test(verification.tinCheck?.status ?? ""),
    reason: textOf(verification.reason),
    nextSteps: (verification.nextSteps ?? []).map(({ step, message }) => ({
      step: step ?? null,
      message: withoutPersonal(message ?? step ?? ""),
    })),
  };
}

const ALL: VerificationView["steps"] = {
  tax: "accepted",
  signature: "accepted",
  officers: "accepted",
  certification: "accepted",
  documents: "accepted",
};

async function stepsOf(
  client: PaymentsClient,
  businessId: string,
  { steps }: Verification,
  inputs: readonly OnboardingInput[],
): Promise<VerificationView["steps"]> {
  if (steps) {
    return {
      tax: stateOf(steps.tax),
      signature: stateOf(steps.signature),
      officers: stateOf(steps.officers),
      certification: stateOf(steps.certification),
      documents: stateOf(steps.documents),
    };
  }
  const [taxInfo, officers] = await Promise.all([
    client.verification.getTaxInfo(businessId),
    client.officers.list(businessId),
  ]);
  const has = (step: KybStep, isShown: boolean): StepState =>
    isShown || inputs.some((input) => input.step === step && input.state === "done")
      ? "submitted"
      : "missing";
  return {
    tax: has("tax", hasTaxId(taxInfo)),
    signature: has("signature", isThere(taxInfo.signature?.signerName)),
    officers: has("officers", officers.length > 0),
    certification: has("certification", false),
    documents: "missing",
  };
}

function hasTaxId({ taxIdMask, submittedAt }: TaxInfo): boolean {
  return isThere(taxIdMask) || isThere(submittedAt);
}

function isThere(text: string | null | undefined): boolean {
  return text !== undefined && text !== null;
}

/** A reviewer's words may repeat what they are about. */
function textOf(text: string | null | undefined): string | null {
  return text === undefined || text === null ? null : withoutPersonal(text);
}

function stateOf(text: string | null | undefined): StepState {
  if (text === "missing" || text === "accepted") return text;
  return "submitted";
}
