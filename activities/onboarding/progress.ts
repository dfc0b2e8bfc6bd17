import type { Head } from "../../src/domain/facts/fact.ts";
import {
  onboardingEnded,
  onboardingPhase,
  onboardingReminded,
  onboardingWaits,
} from "../../src/domain/facts/onboardings.ts";
import { record } from "../../src/store/facts/record.ts";
import { byWorkflow } from "../../src/contracts/authors.ts";
import type { OnboardingAssessment } from "../../src/contracts/onboarding.ts";
import { firstPlaybook } from "../../src/domain/onboarding/proposal.ts";
import { nameOfWait, remindersBy, rulesOf, type Wait } from "../../src/domain/onboarding/waits.ts";
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

/** Returns who records a fact about an onboarding, and when. */
export function headOf({
  onboarding,
  clock,
}: Pick<OnboardingStanding, "onboarding" | "clock">): Head {
  const { businessId, workflowId: subject } = onboarding;
  return { businessId, nowMs: clock.realMs, by: byWorkflow(subject), subject };
}

/** Returns whose onboarding it is, and who is reminded of it. */
export function whose({
  workflowId: subject,
  business,
  round,
  policy,
}: OnboardingStanding["onboarding"]) {
  return { subject, business, round, roles: policy.remind };
}

/** Writes down where an onboarding stands; people are notified of a new wait that needs them. */
export async function show(
  context: ActivityContext,
  { onboarding, clock }: OnboardingStanding,
  change: Shown,
): Promise<void> {
  const { businessId } = onboarding;
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
      const moved = { from: onboarding.phase, to: change.phase };
      await record(trx, onboardingPhase(headOf({ onboarding, clock }), moved));
    }
    if (change.wait === undefined || !change.needsAction) return;
    const { key } = change.wait;
    await record(
      trx,
      onboardingWaits(headOf({ onboarding, clock }), {
        ...whose(onboarding),
        phase: change.phase,
        waitingFor: change.waitingFor ?? "",
        wait: nameOfWait(key, change.wait),
      }),
    );
  });
}

/** Reminds people of a wait, once for all the reminders that are due. */
export async function remind(
  context: ActivityContext,
  { onboarding, clock }: OnboardingStanding,
  { key, text, wait }: { readonly key: string; readonly text: string; readonly wait: Wait },
): Promise<void> {
  const { businessId, policy } = onboarding;
  const { remindEveryDays, expireAfterDays } = rulesOf(key, policy);
  const reminders = remindersBy(wait, clock, remindEveryDays);
  await context.store.transactionOf(businessId, async (trx) => {
    await updateOnboarding(trx, businessId, { reminders }, clock.realMs);
    await record(
      trx,
      onboardingReminded(
        headOf({ onboarding, clock }),
        { wait: key, reminder: reminders },
        {
          ...whose(onboarding),
          sinceMs: wait.sinceMs,
          remindEveryDays,
          expireAfterDays,
          text,
        },
      ),
    );
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

/**
 * Ends an onboarding and empties the vault of everything kept for it, unless a person has provided
 * something in the meantime.
 */
export async function finish(
  context: ActivityContext,
  { onboarding, clock, inputs }: OnboardingStanding,
  phase: "verified" | "expired",
): Promise<OnboardingAssessment> {
  const { businessId, round } = onboarding;
  const now = await context.store.transactionOf(businessId, async (trx) => {
    const before = await getOnboarding(trx, businessId);
    const given = await listInputs(trx, businessId, round);
    if (before === undefined || (phase === "expired" && given.length > inputs.length))
      return before;
    if (before.endedAtMs !== null) return before;
    const change = { phase, waitingFor: null, needsAction: false, nextSteps: [] };
    await updateOnboarding(trx, businessId, change, clock.realMs);
    const forgotten = await endOnboarding(trx, businessId, clock.realMs);
    const ending = { ...whose(onboarding), isPlaybookProposed: before.proposal !== null };
    const ended = { phase, round, forgotten };
    await record(trx, onboardingEnded(headOf({ onboarding, clock }), ended, { ending }));
    return getOnboarding(trx, businessId);
  });
  if (now !== undefined && now.endedAtMs !== null) return endedAs(now);
  // A person provided something at the last moment: look again at once.
  return { ...endedAs(onboarding), ended: false, wakeInMs: 1 };
}
