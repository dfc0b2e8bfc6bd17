import type { Transaction } from "kysely";
import { beginSend } from "../../src/domain/attempts/sends.ts";
import { writeFirstAttempts } from "../../src/store/attempt-writes.ts";
import { subjectsWithAttempts } from "../../src/store/attempts.ts";
import { claimOwners } from "../../src/store/claims.ts";
import { chunks } from "../../src/store/db.ts";
import type { DrawnLine } from "../../src/store/draws.ts";
import { idsIn } from "../../src/store/many.ts";
import type { Tables } from "../../src/store/tables.ts";
import type { ClockReading } from "../../src/business/clock.ts";
import { attemptOf, executionDateOf } from "./freeze-attempt.ts";
import type { PayJob } from "./job.ts";
import { isVerified } from "./verify-line.ts";

/**
 * Freezes the requests of lines that have just been drawn and writes that they are about to be
 * sent, in the transaction that drew them: it has checked lease, run, holds, approvals and limits,
 * and here the claims are.
 *
 * Only of lines with nothing to think about: read a moment ago, never tried before, their date
 * still to come. The others are returned as they are, for `payLine` to take its time over.
 */
export async function openLines(
  trx: Transaction<Tables>,
  drawn: readonly { readonly drawn: DrawnLine; readonly job: PayJob }[],
  clock: ClockReading,
): Promise<PayJob[]> {
  const jobs = drawn.map(({ job }) => job);
  const simple = await simpleOnes(trx, jobs, clock);
  const opened = drawn.map(({ drawn: { leaseUntilMs }, job }): PayJob => {
    const date = simple.get(job.plan.payableId);
    if (date === undefined) return job;
    const frozen = attemptOf(job, date, job.line.knownPaymentIds, 1);
    const { by, owner } = job;
    const attempt = beginSend(frozen, { atMs: clock.serviceMs, by, owner });
    return { ...job, opened: { frozen, attempt, leaseUntilMs } };
  });
  const begun = opened.flatMap(({ line, opened: send }) =>
    send === undefined ? [] : [{ lineNo: line.lineNo, attempt: send.attempt }],
  );
  await writeFirstAttempts(trx, jobs[0]?.line.runId ?? "", begun, clock.realMs);
  await noteOnLines(trx, opened);
  return opened;
}

/** Payables that need no second thought, with the date to send. */
async function simpleOnes(
  trx: Transaction<Tables>,
  jobs: readonly PayJob[],
  clock: ClockReading,
): Promise<Map<string, string>> {
  const dates = new Map<string, string>();
  for (const job of jobs) {
    const isPlain = job.maySend && job.attempt === undefined && job.operation === "pay";
    if (!isPlain || !isVerified(job.line, clock.serviceMs)) continue;
    const dated = executionDateOf(job, clock);
    if (!dated.late) dates.set(job.plan.payableId, dated.date);
  }
  const [first] = jobs;
  if (first === undefined || dates.size === 0) return dates;
  const ids = [...dates.keys()];
  const owners = await claimOwners(trx, first.businessId, ids);
  const tried = await subjectsWithAttempts(trx, first.businessId, ids);
  for (const id of ids) {
    if (owners.get(id) !== first.owner || tried.has(id)) dates.delete(id);
  }
  return dates;
}

/** Weekly limits count a line in the week in which it is paid. */
async function noteOnLines(trx: Transaction<Tables>, jobs: readonly PayJob[]): Promise<void> {
  const opened = jobs.filter((job) => job.opened !== undefined);
  const byDate = Map.groupBy(opened, (job) => job.opened?.attempt.executionDate ?? "");
  for (const [date, ofDate] of byDate) {
    for (const some of chunks(ofDate)) {
      await trx
        .updateTable("run_lines")
        .set({ attempts: 1, execution_date: date })
        .where("run_id", "=", some[0]?.line.runId ?? "")
        .where("payable_id", "in", idsIn(some.map((job) => job.plan.payableId)))
        .execute();
    }
  }
}
