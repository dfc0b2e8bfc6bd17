import { counted } from "../../src/domain/counted.ts";
import { byWorkflow } from "../../src/contracts/authors.ts";
import type { OnboardingAssessment } from "../../src/contracts/onboarding.ts";
import { firstPlaybook } from "../../src/domain/onboarding/proposal.ts";
import { nameOfWait, remindersBy, rulesOf, type Wait } from "../../src/domain/onboarding/waits.ts";
import { appendAudit } from "../../src/store/audit/audit.ts";
import { raiseNotice } from "../../src/store/notices/notices.ts";
import {
  endOnboarding,
  getOnboarding,
  type OnboardingChange,
  updateOnboarding,
} from "../../src/store/onboarding/onboardings.ts";
import { listInputs } from "../../src/store/onboarding/onboarding-inputs.ts";
import { listPlaybooks } from "../../src/store/playbooks/playbooks.ts";
import type { ActivityContext } from "../shared/context.ts";
import { endedAs, type OnboardingStanding } from "./standing.ts";

type Shown = Required<
  Pick<OnboardingChange, "phase" | "waitingFor" | "needsAction" | "nextSteps">
> &
  Pick<OnboardingChange, "wait">;

/** Writes down where an onboarding stands; people are notified of a new wait that needs them. */
export async function show(
  context: ActivityContext,
  { onboarding, clock }: OnboardingStanding,
  change: Shown,
): Promise<void> {
  const { business, businessId, workflowId, round } = onboarding;
  const isSame =
    change.wait === undefined &&
    change.phase === onboarding.phase &&
    change.waitingFor === onboarding.waitingFor &&
    change.needsAction === onboarding.needsAction &&
    JSON.stringify(change.nextSteps) === JSON.stringify(onboarding.nextSteps);
  if (isSame) return;
  await context.store.transactionOf(businessId, async (trx) => {
    await updateOnboarding(trx, businessId, change, clock.realMs);
    if (change.phase !== onboarding.phase) {
      await appendAudit(trx, {
        businessId,
        nowMs: clock.realMs,
        actor: byWorkflow(workflowId),
        action: "onboarding.phase",
        subject: workflowId,
        details: { from: onboarding.phase, to: change.phase },
      });
    }
    if (change.wait === undefined || !change.needsAction) return;
    await raiseNotice(trx, {
      businessId,
      kind: "onboarding",
      factKey: `${workflowId}/r${round}/${nameOfWait(change.wait.key, change.wait)}`,
      subject: `Onboarding of ${business}: ${change.phase}`,
      text: change.waitingFor ?? "",
      roles: onboarding.policy.remind,
      data: { onboarding: workflowId, phase: change.phase },
      nowMs: clock.realMs,
    });
  });
}

/** Reminds people of a wait, once for all the reminders that are due. */
export async function remind(
  context: ActivityContext,
  { onboarding, clock }: OnboardingStanding,
  { key, text, wait }: { readonly key: string; readonly text: string; readonly wait: Wait },
): Promise<void> {
  const { business, businessId, workflowId, round, policy } = onboarding;
  const { remindEveryDays, expireAfterDays } = rulesOf(key, policy);
  const reminders = remindersBy(wait, clock, remindEveryDays);
  const waitedDays = reminders * remindEveryDays;
  const hint = Number.isFinite(expireAfterDays)
    ? `It ends in about ${counted(expireAfterDays - waitedDays, "day")} if nothing happens.`
    : `That has taken ${counted(waitedDays, "day")}: ask the service's support what it waits for.`;
  await context.store.transactionOf(businessId, async (trx) => {
    await updateOnboarding(trx, businessId, { reminders }, clock.realMs);
    await raiseNotice(trx, {
      businessId,
      kind: "reminder",
      factKey: `${workflowId}/r${round}/${key}/${wait.sinceMs}/${reminders}`,
      subject: `Reminder: the onboarding of ${business} waits`,
      text: `${text}\n\n${hint}`,
      roles: policy.remind,
      data: { onboarding: workflowId, reminder: reminders },
      nowMs: clock.realMs,
    });
    await appendAudit(trx, {
      businessId,
      nowMs: clock.realMs,
      actor: byWorkflow(workflowId),
      action: "onboarding.reminded",
      subject: workflowId,
      details: { wait: key, reminder: reminders },
    });
  });
}

/** Writes a first playbook for a person to store, if none pays this business's bills yet. */
export async function proposeItsPlaybook(
  context: ActivityContext,
  { onboarding, clock }: OnboardingStanding,
): Promise<void> {
  const { business, businessId, policy } = onboarding;
  if (policy.propose === null || onboarding.proposal !== null) return;
  const stored = await listPlaybooks(context.store.db, business);
  if (stored.some(({ kind }) => kind === "pay-run")) return;
  const proposal = firstPlaybook(business);
  await updateOnboarding(context.store.db, businessId, { proposal }, clock.realMs);
}

const ENDS = {
  verified: "The Payments Service has verified the business.",
  expired: "Nobody did what it waited for; launch it again to go on.",
} as const;

/**
 * Ends an onboarding and empties the vault of everything kept for it, unless a person has provided
 * something in the meantime.
 */
export async function finish(
  context: ActivityContext,
  { onboarding, clock, inputs }: OnboardingStanding,
  phase: keyof typeof ENDS,
): Promise<OnboardingAssessment> {
  const { business, businessId, workflowId, round } = onboarding;
  const ended = await context.store.transactionOf(businessId, async (trx) => {
    const now = await getOnboarding(trx, businessId);
    const given = await listInputs(trx, businessId, round);
    if (now === undefined || (phase === "expired" && given.length > inputs.length)) return now;
    if (now.endedAtMs !== null) return now;
    const change = { phase, waitingFor: null, needsAction: false, nextSteps: [] };
    await updateOnboarding(trx, businessId, change, clock.realMs);
    const forgotten = await endOnboarding(trx, businessId, clock.realMs);
    await appendAudit(trx, {
      businessId,
      nowMs: clock.realMs,
      actor: byWorkflow(workflowId),
      action: "onboarding.ended",
      subject: workflowId,
      details: { phase, round, forgotten },
    });
    await raiseNotice(trx, {
      businessId,
      kind: "onboarding",
      factKey: `${workflowId}/r${round}/${phase}`,
      subject: `Onboarding of ${business}: ${phase}`,
      text: `${ENDS[phase]}${now.proposal === null ? "" : `\n\nA first playbook is proposed: payrun status ${workflowId}`}`,
      roles: onboarding.policy.remind,
      data: { onboarding: workflowId, phase },
      nowMs: clock.realMs,
    });
    return getOnboarding(trx, businessId);
  });
  if (ended !== undefined && ended.endedAtMs !== null) return endedAs(ended);
  // A person provided something at the last moment: look again at once.
  return { ...endedAs(onboarding), ended: false, wakeInMs: 1 };
}
