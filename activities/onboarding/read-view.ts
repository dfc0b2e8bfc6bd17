import { KYB_STEPS, type KybStep } from "../../src/contracts/onboarding.ts";
import type { StepState, VerificationView } from "../../src/domain/onboarding/decide.ts";
import { withoutPersonal } from "../../src/domain/onboarding/masking.ts";
import {
  type Officer,
  PaymentsApiError,
  type PaymentsClient,
  type TaxInfo,
  type Verification,
} from "../../src/payments-api/index.ts";
import type { OnboardingInput } from "../../src/store/onboarding/onboarding-inputs.ts";
import { unlessMissing } from "../shared/unless-missing.ts";

/**
 * Reads how far the service says that a business is.
 *
 * @param given what was ever provided, for services that don't say which steps they have
 */
export async function readView(
  client: PaymentsClient,
  businessId: string,
  given: readonly OnboardingInput[],
): Promise<VerificationView> {
  const verification = await verificationOf(client, businessId);
  const isVerified = verification.status === "verified";
  const taxIdMismatched = !isVerified && MISMATCHED.test(verification.tinCheck?.status ?? "");
  const steps = isVerified ? ALL : await stepsOf(client, businessId, verification, given);
  return {
    status: verification.status,
    // A tax id that the IRS doesn't know has to be given once more, whatever is on file.
    steps: taxIdMismatched ? { ...steps, tax: "missing" } : steps,
    taxIdMismatched,
    reason: textOf(verification.reason),
    nextSteps: (verification.nextSteps ?? [])
      .map(({ step, message }) => ({
        step: step ?? null,
        message: withoutPersonal(message ?? step ?? ""),
      }))
      .filter(({ message }) => message !== ""),
  };
}

/**
 * Reads how far the verification is. Its address is below the tax info's, which may not be found
 * before there is some: then the business itself has to exist, and its verification has not begun.
 */
export async function verificationOf(
  client: PaymentsClient,
  businessId: string,
): Promise<Verification> {
  try {
    return await client.verification.get(businessId);
  } catch (error) {
    if (!(error instanceof PaymentsApiError) || error.status !== 404) throw error;
    const business = await client.businesses.get(businessId).catch(() => undefined);
    if (business === undefined) throw error;
    return { status: business.verificationStatus ?? "pending" };
  }
}

/** Reads the tax info on file; empty if the service finds none, as it may before there is any. */
export async function taxInfoOf(client: PaymentsClient, businessId: string): Promise<TaxInfo> {
  return (await unlessMissing(() => client.verification.getTaxInfo(businessId))) ?? {};
}

/**
 * Reads the officers and owners on file; empty if the service finds none, as it may before there
 * are any.
 */
export async function officersOf(client: PaymentsClient, businessId: string): Promise<Officer[]> {
  return (await unlessMissing(() => client.officers.list(businessId))) ?? [];
}

const MISMATCHED = /mis-?match|(not?|un)[ _-]?match|fail|invalid|reject/i;

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
  { steps, status }: Verification,
  given: readonly OnboardingInput[],
): Promise<VerificationView["steps"]> {
  const said = (step: KybStep): StepState | undefined => stateOf(steps?.[step]);
  const isSaid = KYB_STEPS.every((step) => step === "documents" || said(step) !== undefined);
  const seen = isSaid ? NOTHING : await seenSteps(client, businessId, status, given);
  const of = (step: KybStep): StepState => said(step) ?? (seen[step] ? "submitted" : "missing");
  return {
    tax: of("tax"),
    signature: of("signature"),
    officers: of("officers"),
    certification: of("certification"),
    documents: of("documents"),
  };
}

const NOTHING: Readonly<Record<KybStep, boolean>> = {
  tax: false,
  signature: false,
  officers: false,
  certification: false,
  documents: false,
};

/** Infers the steps that a service must have if it doesn't say so in a word that is known. */
async function seenSteps(
  client: PaymentsClient,
  businessId: string,
  status: string,
  given: readonly OnboardingInput[],
): Promise<Readonly<Record<KybStep, boolean>>> {
  const [taxInfo, officers] = await Promise.all([
    taxInfoOf(client, businessId),
    officersOf(client, businessId),
  ]);
  const lastOf = (step: KybStep, isOurs: (input: OnboardingInput) => boolean): number =>
    given.findLastIndex((input) => input.step === step && input.state === "done" && isOurs(input));
  const isDone = (step: KybStep): boolean => lastOf(step, () => true) >= 0;
  // An act is done if nothing that it is about was sent after it.
  const isActDone = (act: KybStep, about: KybStep): boolean =>
    lastOf(act, () => true) > lastOf(about, ({ sends }) => sends > 0);
  // Documents are asked for only after all other steps (API specification, section 3).
  const isPast = status === "document";
  return {
    tax: isPast || hasTaxId(taxInfo) || isDone("tax"),
    signature: isPast || isThere(taxInfo.signature?.signerName) || isActDone("signature", "tax"),
    officers: isPast || officers.length > 0 || isDone("officers"),
    certification: isPast || isActDone("certification", "officers"),
    documents: false,
  };
}

function hasTaxId({ taxIdMask, submittedAt }: TaxInfo): boolean {
  return isThere(taxIdMask) || isThere(submittedAt);
}

function isThere(text: string | null | undefined): boolean {
  return text !== undefined && text !== null;
}

/** Removes personal data from a reviewer's words, which may repeat what they are about. */
function textOf(text: string | null | undefined): string | null {
  return text === undefined || text === null ? null : withoutPersonal(text);
}

const MISSING =
  /^(missing|required|needed|incomplete|not[ _-]?(started|submitted|provided|done)|rejected|failed|invalid|expired|action[ _-]?(required|needed))$/i;
const ACCEPTED = /^(accepted|approved|verified|completed?|passed|done)$/i;
const SUBMITTED = /^(submitted|received|processing|(in|under)[ _-]?review)$/i;

/**
 * Returns the state that a word means; undefined if there is no word, or an unknown one: what the
 * service shows then has to reveal the state.
 */
function stateOf(text: string | null | undefined): StepState | undefined {
  const word = (text ?? "").trim();
  if (MISSING.test(word)) return "missing";
  if (ACCEPTED.test(word)) return "accepted";
  return SUBMITTED.test(word) ? "submitted" : undefined;
}
