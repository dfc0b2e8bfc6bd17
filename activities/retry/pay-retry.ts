import type { RetryFailedPaymentInput } from "../../src/contracts/activities.ts";
import { leaseLine } from "../../src/store/lines/line-leases.ts";
import { planLineOf, type RunLine } from "../../src/store/lines/lines.ts";
import { getPlan } from "../../src/store/plans/plans.ts";
import { probeWaits } from "../../src/store/runs/waits.ts";
import { LEASE_MS, type ActivityContext } from "../shared/context.ts";
import { outcomeOfError } from "../pay/error-outcome.ts";
import type { PayOutcome, PayOwner } from "../pay/job.ts";
import { payOne } from "../pay/pay-one.ts";
import { recordOutcome } from "../pay/record.ts";
import { approvalEndOf, runDay } from "./approval.ts";
import {
  endCase,
  openRetryCase,
  type RetryCase,
  setRow,
  notifyPeople,
  undealtPayments,
} from "./retry-case.ts";

/**
 * Pays a failed payable again, as a run pays its lines: through the one gate, under the next key
 * once all that the last one made is known to be unpaid.
 */
export async function payRetry(
  context: ActivityContext,
  input: RetryFailedPaymentInput,
  by: string,
): Promise<void> {
  const opened = await openRetryCase(context, input);
  if (opened.kind === "not-ours") return;
  const retry = opened.case;
  // Another worker may have paid it, and died before it could say so.
  if (undealtPayments(retry).length > 0) return;
  const line = await leaseForRetry(retry, by);
  if (line === undefined) return;
  const job = { line, plan: await planLineOf(context.store.db, line) };
  const owner = await ownerOf(retry, by);
  const outcome = await payOne(context, owner, job).catch((error: unknown) =>
    outcomeOfError(context, owner, job, error),
  );
  // Another worker may have leased it since: then what it came to here is no news of it.
  if (await recordOutcome(context, owner, job, outcome)) await afterOutcome(retry, outcome);
}

async function ownerOf(retry: RetryCase, by: string): Promise<PayOwner> {
  const { business, businessId, run, workflowId } = retry;
  const stored = await getPlan(retry.context.store.db, run.runId);
  const day = runDay(retry);
  // What came back since the assessment may have ended the approval: then nothing is sent anew.
  const isOver = day === null || (await approvalEndOf(retry, day)) !== null;
  return {
    owner: workflowId,
    runId: run.runId,
    business,
    businessId,
    playbook: run.playbook,
    policy: run.policy,
    by,
    plannedAtMs: stored?.createdAtMs ?? 0,
    runsOn: isOver ? null : day,
  };
}

async function leaseForRetry(retry: RetryCase, by: string): Promise<RunLine | undefined> {
  return retry.context.store.transactionOf(retry.businessId, async (trx) => {
    const { businessId, clock, line } = retry;
    const leased = await leaseLine(trx, line, { by, leaseMs: LEASE_MS });
    if (leased === undefined) return undefined;
    await probeWaits(trx, { businessId, sourceIds: [line.sourceId], nowMs: clock.serviceMs });
    return leased;
  });
}

async function afterOutcome(retry: RetryCase, outcome: PayOutcome): Promise<void> {
  switch (outcome.kind) {
    case "changed":
      // The next run plans it anew, so it must be free.
      return endCase(retry, outcome.reason);
    case "not-approved":
      return endCase(retry, "approval expired");
    case "stopped":
      await setRow(retry, { phase: "parked", reason: "Its run was stopped.", requested: null });
      return notifyPeople(retry);
    case "parked":
      await setRow(retry, { phase: "parked", reason: outcome.reason, requested: null });
      return notifyPeople(retry);
    default:
      return undefined;
  }
}
