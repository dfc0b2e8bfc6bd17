import { onboardingLaunched } from "../../domain/facts/onboardings.ts";
import { record } from "../../store/facts/record.ts";
import { kybOnboardingId, WORKFLOW_KINDS } from "../../contracts/workflow-kinds.ts";
import type { KybOnboardingPlaybook } from "../../contracts/playbook.ts";
import { recordOnboarding } from "../../store/onboarding/onboardings.ts";
import { unprocessable } from "../errors.ts";
import { startWorkflow } from "../temporal.ts";
import { type Launcher, requireKnownInputs } from "./launcher.ts";

/** Begins a business's onboarding, or joins the one under way. */
export const launchKybOnboarding: Launcher<KybOnboardingPlaybook> = async (context, launch) => {
  const { request, playbook, revision, profile, by } = launch;
  requireKnownInputs(launch, []);
  if (request.period !== undefined) {
    throw unprocessable(
      "period_without_meaning",
      "An onboarding has no period: a business has one onboarding. Leave it out.",
    );
  }
  const workflowId = kybOnboardingId(profile.name);
  const nowMs = context.nowMs();
  const { created } = await context.store.transactionOf(profile.businessId, async (trx) => {
    const result = await recordOnboarding(trx, {
      businessId: profile.businessId,
      business: profile.name,
      workflowId,
      playbook: request.playbook,
      playbookRevision: revision,
      policy: playbook,
      launchedBy: by.name,
      launchedByTokenId: by.tokenId,
      nowMs,
    });
    if (result.created) {
      const { round } = result.onboarding;
      const head = { businessId: profile.businessId, nowMs, by: by.name, subject: workflowId };
      const launched = { playbook: request.playbook, revision, round };
      await record(trx, onboardingLaunched(head, launched));
    }
    return result;
  });
  await startWorkflow(context.temporal, WORKFLOW_KINDS.kybOnboarding, {
    business: profile.name,
    playbook: request.playbook,
    launchedBy: by.name,
  });
  return { runId: workflowId, created };
};
