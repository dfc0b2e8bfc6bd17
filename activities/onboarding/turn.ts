import { decideBankAccount } from "../../src/domain/onboarding/bank-account.ts";
import {
  type OnboardingMove,
  decideOnboarding,
  type VerificationView,
} from "../../src/domain/onboarding/decide.ts";
import {
  listAllInputs,
  listInputs,
  type OnboardingInput,
} from "../../src/store/onboarding/onboarding-inputs.ts";
import type { Onboarding } from "../../src/store/onboarding/onboardings.ts";
import type { ActivityContext } from "../shared/context.ts";
import { readAccounts } from "./bank-senders.ts";
import { readView } from "./read-view.ts";

/** What comes next of an onboarding; `finished` if nothing does. */
export type OnboardingNext =
  | Exclude<OnboardingMove, { readonly do: "verified" }>
  | { readonly do: "finished" };

/**
 * Decides what comes next, by what the service shows and people have provided.
 *
 * @param onVerified called before a verified business's bank account is looked at
 */
export async function nextOf(
  context: ActivityContext,
  onboarding: Onboarding,
  view: VerificationView,
  onVerified: (inputs: readonly OnboardingInput[]) => Promise<void> = () => Promise.resolve(),
): Promise<OnboardingNext> {
  const { business, businessId, round, policy } = onboarding;
  const { db } = context.store;
  const inputs = await listInputs(db, businessId, round);
  const decision = decideOnboarding(business, view, inputs);
  if (decision.do !== "verified") return decision;
  await onVerified(inputs);
  if (policy.bankAccount === "none") return { do: "finished" };
  const given = await listAllInputs(db, businessId);
  const accounts = await readAccounts(context.clientOf(business), given);
  return decideBankAccount(business, accounts, inputs);
}

/**
 * True if it is this input's turn, by what the service shows now. Anyone who may write to Temporal
 * can name an input whose turn has not come.
 */
export async function isTurnOf(
  context: ActivityContext,
  onboarding: Onboarding,
  { inputId }: OnboardingInput,
): Promise<boolean> {
  const { business, businessId } = onboarding;
  const given = await listAllInputs(context.store.db, businessId);
  const view = await readView(context.clientOf(business), businessId, given);
  const next = await nextOf(context, onboarding, view);
  return next.do === "send" && next.input.inputId === inputId;
}
