import { ONBOARDING_ACTS, onboardingProvided } from "../../domain/facts/onboardings.ts";
import { record } from "../../store/facts/record.ts";
import { createHash } from "node:crypto";
import type { Transaction } from "kysely";
import type { BusinessProfile } from "../../config/business-profile.ts";
import type { ProvidedStep } from "../../contracts/onboarding.ts";
import { actAbout, type LegalAct, legalText } from "../../domain/onboarding/texts.ts";
import type { Tables } from "../../store/index.ts";
import {
  endInputs,
  insertInput,
  listInputs,
  type OnboardingInput,
} from "../../store/onboarding/onboarding-inputs.ts";
import { getOnboarding, type Onboarding } from "../../store/onboarding/onboardings.ts";
import { VaultError } from "../../vault/keyring.ts";
import type { ActionContext } from "../context.ts";
import type { Principal } from "../principal.ts";
import { conflict, GatewayError, notFound } from "../errors.ts";
import type { Provided } from "./inputs.ts";

/** Inputs for a step, and who provides them. */
export interface Providing {
  readonly profile: BusinessProfile;
  readonly step: ProvidedStep;
  readonly items: readonly Provided[];
  /** Hash of the text that the person was shown; undefined if the caller doesn't know it. */
  readonly textHash: string | undefined;
  readonly by: Principal;
  /** Network address of the caller. */
  readonly from: string;
}

/**
 * Waiting inputs that a newer one replaces, by step. A legal act about replaced data is void with
 * it.
 */
const REPLACES: Readonly<Record<ProvidedStep, readonly ProvidedStep[]>> = {
  tax: ["tax"],
  signature: ["signature"],
  officers: [],
  certification: ["certification"],
  documents: [],
  "bank-account": ["bank-account", "micro-deposits"],
  "micro-deposits": ["micro-deposits"],
};

/**
 * Stores what a person provides until its turn comes: personal data in the vault, legal acts in the
 * audit trail with the text that they are about.
 *
 * @throws GatewayError 404 if no onboarding was launched, 409 if it has ended or another text was
 * shown, 503 without an encryption key
 */
export async function provide(context: ActionContext, providing: Providing): Promise<Onboarding> {
  try {
    return await context.store.transactionOf(providing.profile.businessId, (trx) =>
      keep(context, trx, providing),
    );
  } catch (error) {
    if (!(error instanceof VaultError)) throw error;
    throw new GatewayError("encryption_keys_missing", error.message);
  }
}

/** @throws GatewayError 404 or 409 */
export async function openOnboarding(
  db: Parameters<typeof getOnboarding>[0],
  profile: BusinessProfile,
): Promise<Onboarding> {
  const onboarding = await getOnboarding(db, profile.businessId);
  if (onboarding === undefined) {
    throw notFound(
      `No onboarding of ${profile.name} was launched: “payrun launch” a playbook of kind kyb-onboarding first.`,
    );
  }
  if (onboarding.endedAtMs !== null) {
    throw conflict(
      "onboarding_ended",
      `The onboarding of ${profile.name} has ended (${onboarding.phase}); “payrun launch ${onboarding.playbook}” begins it again.`,
    );
  }
  return onboarding;
}

async function keep(
  context: ActionContext,
  trx: Transaction<Tables>,
  providing: Providing,
): Promise<Onboarding> {
  const { profile, step, items, by } = providing;
  const onboarding = await openOnboarding(trx, profile);
  const { businessId, round } = onboarding;
  const nowMs = context.nowMs();
  const before = await listInputs(trx, businessId, round);
  const isVoid = (input: OnboardingInput): boolean =>
    REPLACES[step].includes(input.step) || input.step === actAbout(step);
  const replaced = before.filter((input) => input.state === "waiting" && isVoid(input));
  await endInputs(trx, replaced, {
    state: "replaced",
    reason: `Something newer was provided for the step ${step}.`,
  });
  const inputs: OnboardingInput[] = [];
  for (const { facts, value } of items) {
    const kind = `onboarding-${step}`;
    const vaultRef =
      value === undefined ? null : await context.vault.put(trx, { businessId, kind, nowMs }, value);
    const input = { businessId, round, step, facts, vaultRef, providedBy: by.name, nowMs };
    inputs.push(await insertInput(trx, input));
  }
  const legal = step === "signature" || step === "certification" ? step : undefined;
  const head = { businessId, nowMs, by: by.name, subject: onboarding.workflowId };
  const inputIds = inputs.map(({ inputId }) => inputId);
  const given = { step, inputIds, from: providing.from, tokenId: by.tokenId };
  await record(
    trx,
    legal === undefined
      ? onboardingProvided(head, given)
      : ONBOARDING_ACTS[legal](head, { ...given, ...actOf(legal, providing) }),
  );
  return onboarding;
}

/** Returns who put their name to which text, and when. */
function actOf(act: LegalAct, { profile, items, textHash }: Providing) {
  const text = legalText(act, profile.name);
  const hash = createHash("sha256").update(text).digest("hex");
  if (textHash !== undefined && textHash.toLowerCase() !== hash) {
    throw conflict(
      "other_text",
      `The text that was shown is not the one in force. Read the one in the onboarding's status, and ${act === "signature" ? "sign" : "certify"} again.`,
    );
  }
  const facts = items[0]?.facts;
  return {
    name: facts?.name,
    at: facts?.at,
    text,
    textSha256: hash,
    textConfirmed: textHash !== undefined,
  };
}
