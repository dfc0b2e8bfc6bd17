import { inMarkdown } from "../../src/domain/others-text.ts";
import {
  type HeldUp,
  type OnboardingAssessment,
  KYB_STEPS,
  type OnboardingPhase,
} from "../../src/contracts/onboarding.ts";
import type { OnboardingMove, VerificationView } from "../../src/domain/onboarding/decide.ts";
import { HELD_UP, pollInMs, rulesOf } from "../../src/domain/onboarding/waits.ts";
import { PaymentsApiError } from "../../src/payments-api/index.ts";
import {
  endInputs,
  listAllInputs,
  listInputs,
  type OnboardingInput,
} from "../../src/store/onboarding/onboarding-inputs.ts";
import { getOnboarding } from "../../src/store/onboarding/onboardings.ts";
import { VaultError } from "../../src/vault/keyring.ts";
import type { ActivityContext } from "../shared/context.ts";
import { finish, proposeItsPlaybook, remind, show } from "./progress.ts";
import { readView } from "./read-view.ts";
import { endedAs, type OnboardingStanding, waitOf } from "./standing.ts";
import { type OnboardingNext, nextOf } from "./turn.ts";
import { unreadable } from "./unreadable.ts";

/**
 * Reads how far the service is, and returns what comes next: something to send, something to wait
 * for, or the end. If a wait has lasted too long, reminds people, or gives up.
 */
export async function reviewOnboarding(
  context: ActivityContext,
  { business }: { readonly business: string },
): Promise<OnboardingAssessment> {
  const { businessId } = context.profileOf(business);
  const onboarding = await getOnboarding(context.store.db, businessId);
  if (onboarding === undefined) return lost(business);
  if (onboarding.endedAtMs !== null) return endedAs(onboarding);
  const clock = await context.clockOf(business).now();
  await rotateKeys(context, businessId);
  const inputs = await listInputs(context.store.db, businessId, onboarding.round);
  const standing = { onboarding, inputs, clock };
  let decision: OnboardingNext;
  let view: VerificationView;
  try {
    const given = await listAllInputs(context.store.db, businessId);
    view = await readView(context.clientOf(business), businessId, given);
    await settleDocuments(context, standing, view);
    decision = await decide(context, standing, view);
  } catch (error) {
    if (!(error instanceof PaymentsApiError)) throw error;
    return unreadable(context, standing, error);
  }
  if (decision.do === "finished") return finish(context, standing, "verified");
  if (decision.do === "wait") return toWait(context, standing, view, decision);
  return decision.input.facts?.heldUp === undefined
    ? toSend(context, standing, view, decision)
    : toSendLater(context, standing, view, decision, decision.input.facts.heldUp);
}

function decide(
  context: ActivityContext,
  standing: OnboardingStanding,
  view: VerificationView,
): Promise<OnboardingNext> {
  return nextOf(context, standing.onboarding, view, async (inputs) => {
    await forgetSteps(context, inputs);
    await proposeItsPlaybook(context, standing);
  });
}

async function toSend(
  context: ActivityContext,
  standing: OnboardingStanding,
  view: VerificationView,
  { phase, input }: Extract<OnboardingMove, { do: "send" }>,
): Promise<OnboardingAssessment> {
  const waitingFor = `Sends what was provided for the step ${input.step}.`;
  const change = { phase, waitingFor, needsAction: false, nextSteps: view.nextSteps };
  await show(context, standing, change);
  return {
    phase,
    ended: false,
    waitingFor,
    soFar: soFarOf(view.steps),
    needsAction: false,
    send: { inputId: input.inputId, step: input.step },
    wakeInMs: 1_000,
    details: detailsOf(standing, { ...change, steps: view.steps }),
  };
}

/** Tries again to send what is held up; people are notified of it, and it is not tried forever. */
async function toSendLater(
  context: ActivityContext,
  standing: OnboardingStanding,
  view: VerificationView,
  { phase, input }: Extract<OnboardingMove, { do: "send" }>,
  { reason: text, needsPerson }: HeldUp,
): Promise<OnboardingAssessment> {
  const key = `${HELD_UP}${input.inputId}${needsPerson ? ":person" : ""}`;
  const wait = { do: "wait", phase, needsPerson, text, key } as const;
  const assessed = await toWait(context, standing, view, wait);
  const send = { inputId: input.inputId, step: input.step };
  return assessed.ended ? assessed : { ...assessed, send };
}

async function toWait(
  context: ActivityContext,
  standing: OnboardingStanding,
  view: VerificationView,
  decision: Extract<OnboardingMove, { do: "wait" }>,
): Promise<OnboardingAssessment> {
  const { clock, onboarding } = standing;
  const { phase, text: waitingFor, needsPerson: needsAction, key } = decision;
  const { wait, isNew, verdict } = waitOf(standing, key);
  if (verdict === "expired") {
    return finish(context, standing, phase === "verified" ? "verified" : "expired");
  }
  const change = { phase, waitingFor, needsAction, nextSteps: view.nextSteps };
  await show(context, standing, { ...change, ...(isNew ? { wait: { key, ...wait } } : {}) });
  if (verdict === "remind") await remind(context, standing, { key, text: waitingFor, wait });
  return {
    phase,
    ended: false,
    waitingFor,
    soFar: soFarOf(view.steps),
    needsAction,
    send: null,
    wakeInMs: pollInMs(wait, clock, rulesOf(key, onboarding.policy)),
    details: detailsOf(standing, { ...change, steps: view.steps }),
  };
}

/**
 * Ends the inputs of a document request that is over. Documents that were sent have arrived, since
 * the review goes on only then; documents that were given together with them are not for the next
 * request.
 */
async function settleDocuments(
  context: ActivityContext,
  { onboarding, inputs }: OnboardingStanding,
  view: VerificationView,
): Promise<void> {
  if (view.status === "document") return;
  const documents = inputs.filter(({ step }) => step === "documents");
  const waiting = documents.filter(({ state }) => state === "waiting");
  const arrived = waiting.filter(({ sentAtMs }) => sentAtMs !== null);
  const given = new Set(
    [...arrived, ...documents.filter(({ state }) => state === "done")].map(
      ({ providedAtMs }) => providedAtMs,
    ),
  );
  const late = waiting.filter((input) => !arrived.includes(input) && given.has(input.providedAtMs));
  if (arrived.length + late.length === 0) return;
  await context.store.transactionOf(onboarding.businessId, async (trx) => {
    await endInputs(trx, arrived, { state: "done", reason: null });
    const reason = "The review went on after the first one. Provide it where it is asked for.";
    await endInputs(trx, late, { state: "refused", reason });
  });
}

/** Ends the inputs that still wait for a step: a verified business needs none of them. */
async function forgetSteps(
  context: ActivityContext,
  inputs: readonly OnboardingInput[],
): Promise<void> {
  const over = inputs.filter(
    ({ step, state }) =>
      state === "waiting" && step !== "bank-account" && step !== "micro-deposits",
  );
  const [first] = over;
  if (first === undefined) return;
  const reason = "The business is verified.";
  await context.store.transactionOf(first.businessId, (trx) =>
    endInputs(trx, over, { state: "replaced", reason }),
  );
}

/**
 * Rotates the vault's keys. If an older key is gone already, the step that needs the value says so.
 */
async function rotateKeys(context: ActivityContext, businessId: string): Promise<void> {
  try {
    await context.vault.rotate(context.store.db, businessId);
  } catch (error) {
    if (!(error instanceof VaultError)) throw error;
    context.log.warn("the vault's keys could not be rotated", { reason: error.message });
  }
}

/**
 * Assesses an onboarding of which the store knows nothing that could be continued: the store is
 * empty, or the workflow was started by hand.
 */
function lost(business: string): OnboardingAssessment {
  const waitingFor = `The store has no onboarding of ${business}: launch its playbook.`;
  return {
    phase: "expired",
    ended: true,
    waitingFor,
    needsAction: false,
    send: null,
    wakeInMs: 1_000,
    details: inMarkdown(waitingFor),
  };
}

/** Says how far an onboarding has come: the steps that the service has. */
function soFarOf(steps: VerificationView["steps"]): string {
  const there = KYB_STEPS.filter((step) => steps[step] !== "missing");
  return there.length === 0 ? "the service has no step yet" : `the service has ${there.join(", ")}`;
}

/** Describes an onboarding's state in Markdown for the Temporal UI, with nothing personal. */
function detailsOf(
  { onboarding, inputs }: Pick<OnboardingStanding, "onboarding" | "inputs">,
  now: {
    readonly phase: OnboardingPhase;
    readonly waitingFor: string;
    readonly steps: VerificationView["steps"];
  },
): string {
  const steps = KYB_STEPS.map((step) => {
    const waiting = inputs.filter((each) => each.step === step && each.state === "waiting").length;
    return `| ${step} | ${now.steps[step]} | ${waiting === 0 ? "" : waiting} |`;
  });
  return [
    `KYB of **${onboarding.business}**: **${now.phase}**`,
    "",
    `Waits for: ${inMarkdown(now.waitingFor)}`,
    "",
    "| Step | At the service | Provided, not sent yet |",
    "|---|---|---|",
    ...steps,
  ].join("\n");
}
