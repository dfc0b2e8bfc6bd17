import type { Transaction } from "kysely";
import { DAY_MS } from "../../src/contracts/durations.ts";
import type { PlanSummary } from "../../src/contracts/pay-run.ts";
import { nextBankMorningMs } from "../../src/domain/payments/poll-times.ts";
import { mayReturnUntilMs } from "../../src/domain/payments/return-window.ts";
import { onlyPlans } from "../../src/domain/plan-only.ts";
import type { Plan } from "../../src/domain/planning/plan.ts";
import { releaseClaim } from "../../src/store/payables/claims.ts";
import { notePlan } from "../../src/store/plans/plan-trail.ts";
import { getPlan } from "../../src/store/plans/plans.ts";
import { storePlan } from "../../src/store/plans/plan-writes.ts";
import { getRun, isOver, type Run, setApproveBy } from "../../src/store/runs/runs.ts";
import type { Tables } from "../../src/store/schema/tables.ts";
import { setSubscriptions } from "../../src/store/payables/subscriptions.ts";
import type { ActivityContext } from "../shared/context.ts";
import { notifyOfAskedAgain } from "../notify/asked-again.ts";
import { notifyOfPlanWarnings } from "../notify/run.ts";
import { askForTopUp, type PlanReading } from "../deposit/plan-top-up.ts";
import { findAll } from "../../src/store/sql/records.ts";
import { dateIn } from "../../src/domain/clock/dates.ts";

/**
 * Stores a plan with everything that follows from it: the time to approve it, the subscriptions of
 * its bills, and the deposit that it would need; for a run that only plans, none of these. A plan
 * that is stored already stays as it is; a run that has ended meanwhile gets none.
 */
export async function keepPlan(
  context: ActivityContext,
  run: Run,
  plan: Plan,
  reading: PlanReading,
): Promise<PlanSummary | undefined> {
  const nowMs = Date.now();
  const businessMs = reading.nowMs;
  return context.store.transactionOf(run.businessId, async (trx) => {
    const before = await getPlan(trx, run.runId);
    if (before !== undefined) return before.summary;
    if (isOver(await getRun(trx, run.runId))) return undefined;
    const { summary } = await storePlan(trx, {
      run,
      plan,
      nowMs,
      pollAtMs: nextBankMorningMs(businessMs),
    });
    if (onlyPlans(run.policy)) {
      await notePlan(trx, { run, plan, nowMs });
      await notifyOfPlanWarnings(trx, run, summary, nowMs);
      return summary;
    }
    await setApproveBy(trx, run.runId, {
      plannedAtMs: nowMs,
      approveByMs: businessMs + run.policy.approvalValidDays * DAY_MS,
    });
    const planned = new Set(plan.lines.map((line) => line.payableId));
    await releaseStrays(trx, run, planned);
    const lastArrival = plan.lines.reduce((last, line) => {
      return line.arrivalDate > last ? line.arrivalDate : last;
    }, dateIn(run.period));
    await setSubscriptions(trx, {
      businessId: run.businessId,
      business: run.business,
      payableIds: [...planned],
      owner: run.runId,
      // Bills that are approved late are paid late.
      untilMs: mayReturnUntilMs(
        Math.max(businessMs, Date.parse(lastArrival)) + run.policy.approvalValidDays * DAY_MS,
      ),
    });
    await notePlan(trx, { run, plan, nowMs });
    await notifyOfPlanWarnings(trx, run, summary, nowMs);
    await notifyOfAskedAgain(trx, run, plan.lines, nowMs);
    await askForTopUp(trx, { run, planHash: summary.planHash, reading, realMs: nowMs });
    return summary;
  });
}

/**
 * Releases the claims of bills that are not in the plan: a try that died left them, or no rule
 * could judge their bills.
 */
async function releaseStrays(
  trx: Transaction<Tables>,
  run: Run,
  planned: ReadonlySet<string>,
): Promise<void> {
  const { businessId, runId: owner } = run;
  for (const { payableId } of await findAll(trx, "claims", { businessId, owner }, ["payable_id"])) {
    if (!planned.has(payableId)) await releaseClaim(trx, { businessId, payableId, owner });
  }
}
