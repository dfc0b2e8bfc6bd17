import type { PayRunPlaybook } from "../contracts/playbook.ts";
import { newYorkDate } from "../domain/clock/new-york.ts";
import { type OffCycle, offCycleInputs, offCyclePeriod } from "../domain/off-cycle.ts";
import { listPlaybooks } from "../store/playbooks.ts";
import { recordLaunch } from "../store/runs.ts";
import type { GatewayContext } from "./context.ts";
import type { Principal } from "./http/auth.ts";
import { unprocessable } from "./http/errors.ts";
import { businessOf, type Launched, loadPlaybook } from "./launch.ts";
import { startPayRun } from "./temporal.ts";

export interface OffCycleRequest extends OffCycle {
  /** A pay-run playbook's name; the only one where it is left out. */
  readonly playbook?: string | undefined;
  /** Tells two requests of one day apart that are alike. */
  readonly ref?: string | undefined;
}

/**
 * Launches a run for the named bills only, under the policy of a pay-run playbook: its condition,
 * limits, reviews, approvals and source. Only its schedule and due dates don't matter.
 *
 * Asking the same twice in a day joins the first run, unless that has ended and had nothing to pay.
 *
 * @throws GatewayError 404 for an unknown playbook, 422 where it isn't clear which is meant or what
 * is asked can't be, 503 where Temporal can't be reached: the row is kept, asking again goes on
 */
export async function payOffCycle(
  context: GatewayContext,
  { playbook: asked, ref = "", payableIds, amountCents }: OffCycleRequest,
  by: Principal,
): Promise<Launched> {
  if (amountCents !== null && payableIds.length !== 1) {
    throw unprocessable("amount_of_many", "An amount is for one bill: name a single payable.");
  }
  const { name, playbook, revision } = await policyOf(context, asked);
  const profile = businessOf(context, playbook);
  const { businessMs } = await context.clocks.read(profile);
  const request: OffCycle = { payableIds: [...new Set(payableIds)], amountCents };
  const period = offCyclePeriod(newYorkDate(businessMs), request, ref);
  const { runId, created } = await context.store.transactionOf(profile.businessId, (trx) =>
    recordLaunch(trx, {
      businessId: profile.businessId,
      business: profile.name,
      playbook: name,
      playbookRevision: revision,
      policy: playbook,
      period,
      inputs: offCycleInputs(request),
      launchedBy: by.name,
      launchedByTokenId: by.tokenId,
      nowMs: context.nowMs(),
      afterNothing: true,
    }),
  );
  await startPayRun(context.temporal, {
    runId,
    business: profile.name,
    playbook: name,
    period,
    launchedBy: by.name,
  });
  return { runId, created };
}

async function policyOf(
  context: GatewayContext,
  asked: string | undefined,
): Promise<{ name: string; playbook: PayRunPlaybook; revision: number }> {
  const name = asked ?? (await onlyPayRun(context));
  const { playbook, revision } = await loadPlaybook(context, name);
  if (playbook.kind === "pay-run") return { name, playbook, revision };
  throw unprocessable(
    "no_pay_run",
    `The playbook “${name}” pays no bills: it is a ${playbook.kind}.`,
  );
}

async function onlyPayRun(context: GatewayContext): Promise<string> {
  const stored = await listPlaybooks(context.store.db);
  const names = stored.flatMap(({ name, compiled }) => (compiled.kind === "pay-run" ? name : []));
  const [only] = names;
  if (only !== undefined && names.length === 1) return only;
  throw unprocessable(
    "playbook_ambiguous",
    only === undefined
      ? "No pay-run playbook is stored, whose approvals and limits would hold; “payrun apply FILE” stores one."
      : `There are several pay-run playbooks (${names.join(", ")}): say under which one to pay.`,
  );
}
