import type { Transaction } from "kysely";
import type { Attempt } from "../../src/contracts/attempt.ts";
import { beginSend } from "../../src/domain/attempts/sends.ts";
import { holdOn } from "../../src/domain/holds.ts";
import { noteRefusal, type SendMode, writeAttempt } from "../../src/store/attempt-writes.ts";
import { isRejected } from "../../src/store/decisions.ts";
import { activeHolds } from "../../src/store/holds.ts";
import { lineApproved } from "../../src/store/line-approvals.ts";
import type { Tables } from "../../src/store/tables.ts";
import type { ClockReading } from "../../src/business/clock.ts";
import { LEASE_MS, type ActivityContext } from "../context.ts";
import type { PayJob } from "./job.ts";

export type GateAnswer =
  | { readonly open: true; readonly attempt: Attempt; readonly leaseUntilMs: number }
  | { readonly open: false; readonly reason: string };

/**
 * Writes that a request is about to be sent, in one transaction with everything that must hold for
 * it: the lease is still ours, the claim too, the run is neither rejected nor being cancelled, no
 * hold stops the line and a valid, unexpired approval of exactly this line is stored.
 *
 * What is not written here is not sent; what is written here may have been sent, whatever happens
 * to this process next.
 */
export function openGate(
  context: ActivityContext,
  job: PayJob,
  attempt: Attempt,
  mode: SendMode,
  clock: ClockReading,
): Promise<GateAnswer> {
  return context.store.transactionOf(job.businessId, async (trx) => {
    const closed = await closedBecause(trx, job, clock);
    const { by, owner } = job;
    if (closed !== null) {
      const refused = { why: closed, nowMs: clock.realMs };
      await noteRefusal(trx, { ...attempt, owner }, refused);
      return { open: false, reason: closed };
    }
    const sent = beginSend(attempt, { atMs: clock.serviceMs, by, owner });
    if (!(await writeAttempt(trx, sent, mode, clock.realMs))) {
      return { open: false, reason: "the attempt has its final answer" };
    }
    const leaseUntilMs = Date.now() + LEASE_MS;
    await trx
      .updateTable("run_lines")
      .set({
        lease_until_ms: leaseUntilMs,
        attempts: attempt.seq,
        // Weekly limits count a line in the week in which it is paid.
        execution_date: attempt.executionDate,
      })
      .where("run_id", "=", job.line.runId)
      .where("payable_id", "=", job.line.payableId)
      .execute();
    return { open: true, attempt: sent, leaseUntilMs };
  });
}

async function closedBecause(
  trx: Transaction<Tables>,
  job: PayJob,
  clock: ClockReading,
): Promise<string | null> {
  const { runId, payableId, lineHash } = job.line;
  const line = await trx
    .selectFrom("run_lines")
    .select(["lease_epoch", "line_hash"])
    .where("run_id", "=", runId)
    .where("payable_id", "=", payableId)
    .executeTakeFirst();
  if (line?.lease_epoch !== job.line.leaseEpoch) return "another worker has drawn the line";
  if (line.line_hash !== lineHash) return "the line was planned anew";
  const claim = await trx
    .selectFrom("claims")
    .select("owner")
    .where("business_id", "=", job.businessId)
    .where("payable_id", "=", payableId)
    .executeTakeFirst();
  if (claim?.owner !== job.owner) return "the payable belongs to another workflow";
  const run = await trx
    .selectFrom("runs")
    .select("cancel_requested_at_ms")
    .where("run_id", "=", runId)
    .executeTakeFirst();
  if (run?.cancel_requested_at_ms != null && job.owner === runId) return "the run is cancelled";
  if (job.owner === runId && (await isRejected(trx, runId))) return "the run was rejected";
  const holds = await activeHolds(trx, job.businessId, clock.businessMs);
  const hold = holdOn(holds, { ...job.line, playbook: job.playbook });
  if (hold !== undefined) return `on hold: ${hold.reason}`;
  const approved = await lineApproved(trx, job.line, clock.businessMs);
  return approved ? null : "no valid approval of this line is stored";
}
