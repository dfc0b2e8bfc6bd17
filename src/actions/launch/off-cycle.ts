import type { PayRunPlaybook } from "../../contracts/playbook.ts";
import { newYorkDate } from "../../domain/clock/new-york.ts";
import { ONLY_PLANS, onlyPlans } from "../../domain/plan-only.ts";
import { type OffCycle, offCycleInputs, offCyclePeriod } from "../../domain/off-cycle.ts";
import type { StoredPlaybook } from "../../store/playbooks/playbooks.ts";
import { launchStored } from "../../store/runs/launch-in-trail.ts";
import type { ActionContext } from "../context.ts";
import type { Principal } from "../principal.ts";
import { unprocessable } from "../errors.ts";
import { businessNamed } from "../businesses.ts";
import type { Launched } from "./launcher.ts";
import { findPlaybook, playbooksOf } from "../playbooks/playbooks.ts";
import { WORKFLOW_KINDS } from "../../contracts/workflow-kinds.ts";
import { startWorkflow } from "../temporal.ts";

export interface OffCycleRequest extends OffCycle {
  /** A pay-run playbook's name; by default the only one. */
  readonly playbook?: string | undefined;
  /** Needed only if several businesses have such a playbook. */
  readonly business?: string | undefined;
  /** Distinguishes two otherwise equal requests of one day. */
  readonly ref?: string | undefined;
}

/**
 * Launches a run for the named bills only, under the policy of a pay-run playbook: its condition,
 * limits, reviews, approvals and source. Only its schedule and due dates don't matter.
 *
 * The same request on the same day joins the first run, unless that run has ended and had nothing
 * to pay.
 *
 * @throws GatewayError 404 for an unknown playbook, 422 if it is unclear which playbook is meant or
 * the request makes no sense, 503 if Temporal can't be reached: the row is kept, and the same
 * request continues from it
 */
export async function payOffCycle(
  context: ActionContext,
  { playbook: asked, business, ref = "", payableIds, amountCents }: OffCycleRequest,
  by: Principal,
): Promise<Launched> {
  if (amountCents !== null && payableIds.length !== 1) {
    throw unprocessable("amount_of_many", "An amount is for one bill: name a single one.");
  }
  const { stored, policy } = await policyOf(context, { playbook: asked, business });
  const { name, revision } = stored;
  const profile = businessNamed(context, stored.business, "");
  const { businessMs } = await context.clocks.read(profile);
  const request: OffCycle = { payableIds: [...new Set(payableIds)], amountCents };
  const period = offCyclePeriod(newYorkDate(businessMs), request, ref);
  const { runId, created, run } = await context.store.transactionOf(profile.businessId, (trx) =>
    launchStored(trx, {
      businessId: profile.businessId,
      business: profile.name,
      playbook: name,
      playbookRevision: revision,
      policy,
      period,
      inputs: offCycleInputs(request),
      launchedBy: by.name,
      launchedByTokenId: by.tokenId,
      nowMs: context.nowMs(),
    }),
  );
  await startWorkflow(context.temporal, WORKFLOW_KINDS.payRun, {
    runId,
    business: profile.name,
    playbook: name,
    period: run.period,
    launchedBy: by.name,
  });
  return { runId, created };
}

async function policyOf(
  context: ActionContext,
  { playbook: name, business }: Pick<OffCycleRequest, "playbook" | "business">,
): Promise<{ stored: StoredPlaybook; policy: PayRunPlaybook }> {
  const stored =
    name === undefined
      ? await onlyPayRun(context, business)
      : await findPlaybook(context, { name, business });
  if (stored.compiled.kind === "pay-run") {
    if (!onlyPlans(stored.compiled)) return { stored, policy: stored.compiled };
    throw unprocessable(
      "playbook_only_plans",
      `Nothing is paid under “${stored.name}”: ${ONLY_PLANS}. Name another playbook, or apply it without the mode.`,
    );
  }
  throw unprocessable(
    "no_pay_run",
    `The playbook “${stored.name}” pays no bills: it is a ${stored.kind}.`,
  );
}

async function onlyPayRun(
  context: ActionContext,
  business: string | undefined,
): Promise<StoredPlaybook> {
  const all = await playbooksOf(context, business);
  const payRuns = all.filter(({ kind }) => kind === "pay-run");
  const [only, ...others] = payRuns;
  if (only !== undefined && others.length === 0) return only;
  const names = payRuns.map(({ name }) => name).join(", ");
  // A playbook that only plans pays nothing, so it is not offered as the example.
  const paying = payRuns.find(
    ({ compiled }) => compiled.kind === "pay-run" && !onlyPlans(compiled),
  );
  throw unprocessable(
    "playbook_ambiguous",
    only === undefined
      ? "No pay-run playbook is stored, whose approvals and limits would hold; “payrun apply FILE” stores one."
      : `There are several pay-run playbooks (${names}): say under which one to pay, such as --playbook ${(paying ?? only).name}.`,
  );
}
