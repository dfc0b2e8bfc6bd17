import type { Head } from "../../src/domain/facts/fact.ts";
import {
  INPUT_ENDED,
  inputNotTaken,
  inputSending,
  inputUnanswered,
} from "../../src/domain/facts/onboardings.ts";
import { record } from "../../src/store/facts/record.ts";
import { byWorkflow } from "../../src/contracts/authors.ts";
import type { Transaction } from "kysely";
import type { HeldUp } from "../../src/contracts/onboarding.ts";
import { provideCommand } from "../../src/domain/onboarding/decide.ts";
import { withoutPersonal } from "../../src/domain/onboarding/masking.ts";
import { actAbout } from "../../src/domain/onboarding/texts.ts";
import { serviceSays } from "../../src/domain/service-words.ts";
import { PaymentsApiError } from "../../src/payments-api/index.ts";
import {
  clearInputSend,
  endInputs,
  getInput,
  listAllInputs,
  listInputs,
  type OnboardingInput,
  recordHeldUp,
  recordInputSend,
} from "../../src/store/onboarding/onboarding-inputs.ts";
import {
  getOnboarding,
  type Onboarding,
  updateOnboarding,
} from "../../src/store/onboarding/onboardings.ts";
import type { Tables } from "../../src/store/schema/tables.ts";
import { VaultError } from "../../src/vault/keyring.ts";
import { type ActivityContext, HTTP_TIMEOUT_MS } from "../shared/context.ts";
import { textOfError } from "../shared/error-text.ts";
import type { Sender } from "./sender.ts";
import { senderOf } from "./senders.ts";
import { isTurnOf } from "./turn.ts";

/**
 * After a send without an answer, nothing is sent for this long: the service may still take it in.
 */
const UNANSWERED_MS = HTTP_TIMEOUT_MS + 20_000;

/** Pauses before a try that failed through no fault of the data is repeated. */
const PAUSE_MS = 60_000;

/** Statuses that another try may well get past. */
const NOT_THE_DATA: readonly number[] = [401, 403, 404, 429];

/** Statuses that a person has to see to. */
const FOR_A_PERSON: readonly number[] = [401, 403, 404];

/** Sends that a service may refuse as too early before the data is returned to its provider. */
const TOO_EARLY_MAX = 20;

/** An input whose turn has come. */
interface Taken {
  readonly onboarding: Onboarding;
  readonly input: OnboardingInput;
}

interface Step extends Taken {
  readonly sender: Sender;
  readonly serviceMs: number;
  readonly pauseMs: number;
}

/**
 * Sends one thing that a person provided, unless the service has it already.
 *
 * The service's writes take no idempotency key. So the service is read before each send, and after
 * every crash; after a send without an answer, the next one waits until the first can't be taken in
 * any more.
 *
 * @returns real milliseconds to wait before going on
 */
export async function sendOnboardingStep(
  context: ActivityContext,
  { business, inputId }: { readonly business: string; readonly inputId: string },
): Promise<{ readonly againInMs: number }> {
  const { businessId } = context.profileOf(business);
  const { db } = context.store;
  const input = await getInput(db, inputId);
  const onboarding = await getOnboarding(db, businessId);
  if (input?.state !== "waiting" || onboarding === undefined || onboarding.endedAtMs !== null) {
    return { againInMs: 0 };
  }
  // Anyone who may write to Temporal can name an input: another business's is not sent for this one.
  if (input.businessId !== businessId || input.round !== onboarding.round) return { againInMs: 0 };
  const clock = await context.clockOf(business).now();
  const pauseMs = clock.soonerMs(PAUSE_MS);
  const opened = await valueOf(context, { onboarding, input });
  if ("problem" in opened) {
    await holdUp(context, input, { reason: opened.problem, needsPerson: true });
    return { againInMs: pauseMs };
  }
  if ("isLost" in opened) return { againInMs: 0 };
  const client = context.clientOf(business);
  const given = await listAllInputs(db, businessId);
  const sender = senderOf({ client, businessId, input, given }, opened.value);
  const step: Step = { onboarding, input, sender, serviceMs: clock.serviceMs, pauseMs };
  try {
    return await lookAndSend(context, step);
  } catch (error) {
    if (!(error instanceof PaymentsApiError)) throw error;
    return pause(context, step, error);
  }
}

async function lookAndSend(
  context: ActivityContext,
  step: Step,
): Promise<{ readonly againInMs: number }> {
  const { input, onboarding, sender, serviceMs } = step;
  if (!(await isTurnOf(context, onboarding, input))) return { againInMs: 0 };
  const found = await sender.look();
  if (found.kind === "there") return end(context, step, "done", "found", null);
  if (found.kind === "refused") {
    return end(context, step, "refused", "refused", found.reason);
  }
  if (input.sentAtMs !== null && serviceMs < input.sentAtMs + UNANSWERED_MS) {
    return { againInMs: step.pauseMs };
  }
  const { heldUp: _, ...known } = input.facts;
  const sent = { ...input, facts: { ...known, ...found.facts } };
  const mayBeSent = await context.store.transactionOf(input.businessId, async (trx) => {
    if (!(await recordInputSend(trx, sent, serviceMs))) return false;
    await record(trx, inputSending(headOf(step), { ...named(input), send: input.sends + 1 }));
    return true;
  });
  if (!mayBeSent) return { againInMs: 0 };
  try {
    await sender.send();
  } catch (error) {
    if (!(error instanceof PaymentsApiError)) throw error;
    return afterError(context, { ...step, input: sent }, error);
  }
  return end(context, step, "done", "sent", null);
}

async function afterError(
  context: ActivityContext,
  step: Step,
  error: PaymentsApiError,
): Promise<{ readonly againInMs: number }> {
  const { input, sender } = step;
  if (error.outcome === "unknown") {
    await context.store.transactionOf(input.businessId, (trx) =>
      record(trx, inputUnanswered(headOf(step), { ...named(input), status: error.status ?? null })),
    );
    const reason = `The step ${input.step} was sent, and the service did not say whether it has it: Payrun looks again before it sends again.`;
    await holdUp(context, step.input, { reason, needsPerson: false });
    return { againInMs: step.pauseMs };
  }
  await context.store.transactionOf(input.businessId, async (trx) => {
    await clearInputSend(trx, input.inputId);
    const { status = null, code } = error;
    await record(trx, inputNotTaken(headOf(step), { ...named(input), status, code }));
  });
  const isEarly = error.code === "setup_incomplete" && input.sends < TOO_EARLY_MAX;
  if (isEarly || error.status === undefined || NOT_THE_DATA.includes(error.status)) {
    return pause(context, step, error);
  }
  // A conflict may mean that the service has it already, which only this new look shows.
  if (error.status === 409 && (await sender.look()).kind === "there") {
    return end(context, step, "done", "found", null);
  }
  const text = `The service refused it (${error.code}).${serviceSays(error.words)}`;
  const reason = withoutPersonal(text, sender.personal);
  return end(context, step, "refused", "refused", reason);
}

/**
 * Pauses after nothing was taken in through no fault of the data: people see why, and it is tried
 * again.
 */
async function pause(
  context: ActivityContext,
  step: Step,
  error: PaymentsApiError,
): Promise<{ readonly againInMs: number }> {
  const why = withoutPersonal(textOfError(error), step.sender.personal);
  await holdUp(context, step.input, {
    reason: `The service does not take the step ${step.input.step} now: ${why}`,
    needsPerson: error.status !== undefined && FOR_A_PERSON.includes(error.status),
  });
  return { againInMs: error.retryAfterMs ?? step.pauseMs };
}

/**
 * Records what holds an input up. The next look notifies the people who can mend it, reminds them,
 * and gives up if nobody does.
 */
async function holdUp(
  context: ActivityContext,
  input: OnboardingInput,
  heldUp: HeldUp,
): Promise<void> {
  const { reason: waitingFor, needsPerson: needsAction } = heldUp;
  await context.store.transactionOf(input.businessId, async (trx) => {
    await recordHeldUp(trx, input, heldUp);
    const change = { waitingFor, needsAction };
    await updateOnboarding(trx, input.businessId, change, Date.now());
  });
}

async function end(
  context: ActivityContext,
  step: Taken,
  state: "done" | "refused",
  as: "found" | "sent" | "refused",
  reason: string | null,
): Promise<{ readonly againInMs: number }> {
  const { businessId, round } = step.input;
  await context.store.transactionOf(businessId, async (trx) => {
    await endInputs(trx, [step.input], { state, reason });
    const said = { ...named(step.input), reason: reason ?? undefined };
    await record(trx, INPUT_ENDED[as](headOf(step), said));
    if (state === "refused") await voidAct(trx, step, await listInputs(trx, businessId, round));
  });
  return { againInMs: 0 };
}

/**
 * Voids the act about a step of which a part was refused: no name may stand under something that
 * its signer has not seen.
 */
async function voidAct(
  trx: Transaction<Tables>,
  { onboarding, input }: Taken,
  given: readonly OnboardingInput[],
): Promise<void> {
  const act = actAbout(input.step);
  const over = given.filter(({ step, state }) => step === act && state === "waiting");
  if (over.length === 0) return;
  const reason = `What was provided for the step ${input.step} was refused after it was given.`;
  await endInputs(trx, over, { state: "replaced", reason });
  for (const each of over) {
    await record(trx, INPUT_ENDED.voided(headOf({ onboarding }), { ...named(each), reason }));
  }
}

type Opened =
  | { readonly value: unknown }
  /** It can't be read now. */
  | { readonly problem: string }
  /** It was lost, and people are asked for it again. */
  | { readonly isLost: true };

/** Reads what the vault keeps of an input; null if it keeps nothing. */
async function valueOf(context: ActivityContext, taken: Taken): Promise<Opened> {
  const { input, onboarding } = taken;
  if (input.vaultRef === null) return { value: null };
  try {
    return { value: await context.vault.get(context.store.db, input.vaultRef) };
  } catch (error) {
    if (!(error instanceof VaultError)) throw error;
    if (error.code !== "missing") return { problem: error.message };
    const reason = `It is not in the vault any more. ${provideCommand(onboarding.business, input.step)}`;
    await end(context, taken, "refused", "refused", reason);
    return { isLost: true };
  }
}

function headOf({ onboarding }: Pick<Taken, "onboarding">): Head {
  const { businessId, workflowId: subject } = onboarding;
  return { businessId, nowMs: Date.now(), by: byWorkflow(subject), subject };
}

function named({ step, inputId }: OnboardingInput) {
  return { step, inputId };
}
