import { howTo } from "../../src/domain/onboarding/decide.ts";
import { withoutPersonal } from "../../src/domain/onboarding/masking.ts";
import { PaymentsApiError } from "../../src/payments-api/index.ts";
import { appendAudit } from "../../src/store/audit.ts";
import {
  clearInputSend,
  endInputs,
  getInput,
  type OnboardingInput,
  recordInputSend,
} from "../../src/store/onboarding-inputs.ts";
import { getOnboarding, type Onboarding, updateOnboarding } from "../../src/store/onboardings.ts";
import { VaultError } from "../../src/vault/keyring.ts";
import { type ActivityContext, HTTP_TIMEOUT_MS } from "../context.ts";
import type { Sender } from "./sender.ts";
import { senderOf } from "./senders.ts";

/** After a send without an answer nothing is sent before this: it may still be taken in. */
const UNANSWERED_MS = HTTP_TIMEOUT_MS + 20_000;

/** Pauses before trying again what the data is not to blame for. */
const PAUSE_MS = { sandbox: 2_000, real: 60_000 } as const;

/** Answers that another try may well get rid of. */
const NOT_THE_DATA: readonly number[] = [401, 403, 404, 429];

/** Sends that a service may refuse as too early before the data is given back. */
const TOO_EARLY_MAX = 20;

interface Step {
  readonly onboarding: Onboarding;
  readonly input: OnboardingInput;
  readonly sender: Sender;
  readonly serviceMs: number;
  readonly pauseMs: number;
}

/**
 * Sends one thing that a person provided, where the service doesn't have it already.
 *
 * Its writes take no idempotency key, so it is read before, also after every crash, and after a
 * send without an answer the next one waits until that can't be taken in any more.
 *
 * @returns real milliseconds to wait before going on
 * @throws {VaultError} where this worker lacks the key; the status says so
 */
export async function takeOnboardingStep(
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
  const value = await valueOf(context, onboarding, input);
  if (value === undefined) return { againInMs: 0 };
  const client = context.clientOf(business);
  const { serviceMs, sandbox } = await context.clockOf(business).now();
  const step: Step = {
    onboarding,
    input,
    sender: senderOf({ client, businessId, input }, value.value),
    serviceMs,
    pauseMs: sandbox ? PAUSE_MS.sandbox : PAUSE_MS.real,
  };
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
  const { input, sender, serviceMs } = step;
  const found = await sender.look();
  if (found.kind === "there") return end(context, step, "done", "onboarding.found", null);
  if (found.kind === "refused") {
    return end(context, step, "refused", "onboarding.refused", found.reason);
  }
  if (input.sentAtMs !== null && serviceMs < input.sentAtMs + UNANSWERED_MS) {
    return { againInMs: step.pauseMs };
  }
  const { attemptsBefore } = found;
  const facts = { ...input.facts, ...(attemptsBefore === undefined ? {} : { attemptsBefore }) };
  await context.store.transactionOf(input.businessId, async (trx) => {
    await recordInputSend(trx, { ...input, facts }, serviceMs);
    await appendAudit(trx, entry(step, "onboarding.sending", { send: input.sends + 1 }));
  });
  try {
    await sender.send();
  } catch (error) {
    if (!(error instanceof PaymentsApiError)) throw error;
    return afterError(context, step, error);
  }
  return end(context, step, "done", "onboarding.sent", null);
}

async function afterError(
  context: ActivityContext,
  step: Step,
  error: PaymentsApiError,
): Promise<{ readonly againInMs: number }> {
  const { input, sender } = step;
  if (error.outcome === "unknown") {
    await context.store.transactionOf(input.businessId, (trx) =>
      appendAudit(trx, entry(step, "onboarding.unanswered", { status: error.status ?? null })),
    );
    return { againInMs: step.pauseMs };
  }
  await context.store.transactionOf(input.businessId, async (trx) => {
    await clearInputSend(trx, input.inputId);
    const { status = null, code } = error;
    await appendAudit(trx, entry(step, "onboarding.not-taken", { status, code }));
  });
  const isEarly = error.code === "setup_incomplete" && input.sends < TOO_EARLY_MAX;
  if (isEarly || error.status === undefined || NOT_THE_DATA.includes(error.status)) {
    return pause(context, step, error);
  }
  // Whom the service knows already may be somebody who was read only now.
  if (error.status === 409 && (await sender.look()).kind === "there") {
    return end(context, step, "done", "onboarding.found", null);
  }
  const reason = withoutPersonal(error.message, sender.personal);
  return end(context, step, "refused", "onboarding.refused", reason);
}

/** Nothing was taken in, and the data is not to blame: somebody sees why, and it is tried again. */
async function pause(
  context: ActivityContext,
  { onboarding, input, sender, pauseMs }: Step,
  error: PaymentsApiError,
): Promise<{ readonly againInMs: number }> {
  const why = withoutPersonal(error.message, sender.personal);
  const waitingFor = `The service does not take the step ${input.step} now: ${why}`;
  const change = { waitingFor, needsAction: error.status === 401 || error.status === 403 };
  await updateOnboarding(context.store.db, onboarding.businessId, change, Date.now());
  return { againInMs: error.retryAfterMs ?? pauseMs };
}

async function end(
  context: ActivityContext,
  step: Step,
  state: "done" | "refused",
  action: string,
  reason: string | null,
): Promise<{ readonly againInMs: number }> {
  await context.store.transactionOf(step.input.businessId, async (trx) => {
    await endInputs(trx, [step.input], { state, reason });
    await appendAudit(trx, entry(step, action, reason === null ? {} : { reason }));
  });
  return { againInMs: 0 };
}

/** Null where nothing of it is in the vault; undefined where it was lost, and is asked for again. */
async function valueOf(
  context: ActivityContext,
  onboarding: Onboarding,
  input: OnboardingInput,
): Promise<{ readonly value: unknown } | undefined> {
  if (input.vaultRef === null) return { value: null };
  try {
    return { value: await context.vault.get(context.store.db, input.vaultRef) };
  } catch (error) {
    if (!(error instanceof VaultError)) throw error;
    if (error.code !== "missing") {
      const change = { waitingFor: error.message, needsAction: true };
      await updateOnboarding(context.store.db, onboarding.businessId, change, Date.now());
      throw error;
    }
    const reason = `It is not in the vault any more. ${howTo(onboarding.business, input.step)}`;
    await context.store.transactionOf(input.businessId, (trx) =>
      endInputs(trx, [input], { state: "refused", reason }),
    );
    return undefined;
  }
}

function entry(
  { onboarding, input }: Pick<Step, "onboarding" | "input">,
  action: string,
  details: Readonly<Record<string, unknown>>,
) {
  return {
    businessId: onboarding.businessId,
    nowMs: Date.now(),
    actor: onboarding.workflowId,
    action,
    subject: onboarding.workflowId,
    details: { step: input.step, inputId: input.inputId, ...details },
  };
}
