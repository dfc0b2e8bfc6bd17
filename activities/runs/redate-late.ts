import type { Transaction } from "kysely";
import type { ClockReading } from "../../src/business/clock.ts";
import { asksForNewDate, earliestDate } from "../../src/domain/planning/send-date.ts";
import { lateLines } from "../../src/store/lines/late-lines.ts";
import { planLinesOf } from "../../src/store/lines/plan-lines.ts";
import { storeReplannedLines } from "../../src/store/plans/replan-writes.ts";
import type { Run } from "../../src/store/runs/runs.ts";
import type { Tables } from "../../src/store/schema/tables.ts";
import type { BusinessWait } from "../../src/store/runs/waits.ts";
import { redateLine } from "../pay/replan-line.ts";

/**
 * Plans anew, at once, all lines that would be paid now and whose execution date has passed, if the
 * playbook says to ask for another date.
 *
 * A lane would find the same for each line, one by one, after reading it: a run that is approved a
 * day late would ask for its bills in as many plans as it has bills.
 *
 * @param waits what the business waits for now: a line that can't be paid anyway keeps its date
 * until it can
 * @returns true if there is a new plan
 */
export async function redateLate(
  trx: Transaction<Tables>,
  run: Run,
  waits: readonly BusinessWait[],
  clock: ClockReading,
): Promise<boolean> {
  const { runId, policy, plannedAtMs } = run;
  const blockedSources = waits.map(({ sourceId }) => sourceId);
  if (blockedSources.includes("")) return false;
  if (!asksForNewDate({ policy, plannedAtMs: plannedAtMs ?? 0 }, clock)) return false;
  const before = earliestDate(clock);
  const ids = await lateLines(trx, {
    runId,
    before,
    serviceMs: clock.serviceMs,
    blockedSources,
  });
  if (ids.length === 0) return false;
  const late = await planLinesOf(trx, runId, ids);
  const lines = late.map((line) => redateLine(run, line, before));
  await storeReplannedLines(trx, { runId, lines, nowMs: clock.realMs });
  return true;
}
