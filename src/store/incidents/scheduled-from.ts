import { recallOf } from "../../domain/cancellations/cut-off.ts";
import { judgeStop, type StopSums } from "../../domain/cancellations/stop.ts";
import type { Clock } from "../../domain/clock/clock.ts";
import type { Db } from "../sql/db.ts";
import { openSumsOf } from "../lines/open-lines.ts";
import type { PlannedLine } from "../lines/plan-lines.ts";
import { recallableLines } from "../lines/sent-lines.ts";

/** What the service has scheduled from a funding account and can still cancel. */
export interface ScheduledFrom extends Pick<StopSums, "recallable" | "underWay"> {
  /** The first of them, the nearest day first. */
  readonly lines: readonly PlannedLine[];
}

export async function scheduledFrom(
  db: Db,
  { businessId, sourceId }: { readonly businessId: string; readonly sourceId: string },
  clock: Clock,
  limit: number,
): Promise<ScheduledFrom> {
  const sums = await openSumsOf(db, businessId, { scope: "source", value: sourceId });
  const { recallable, underWay } = judgeStop(sums, clock);
  if (recallable.bills === 0) return { recallable, underWay, lines: [] };
  const [firstInTime = null] = sums
    .filter(({ state, executionDate: scheduledAt, isSplit }) => {
      return state === "scheduled" && recallOf({ state, scheduledAt, isSplit }, clock);
    })
    .map(({ executionDate }) => executionDate)
    .toSorted();
  const page = { offset: 0, limit };
  const lines = await recallableLines(db, businessId, firstInTime, page, sourceId);
  return { recallable, underWay, lines };
}
