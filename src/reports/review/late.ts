import type { ReviewedBill } from "../../api/review.ts";
import {
  countMatching,
  lateOnceMoved,
  type LineAsApproved,
  linesAsApproved,
} from "../../store/lines/approval-groups.ts";
import type { Db } from "../../store/index.ts";

/**
 * Returns the late bills of a run in which some bills wait whose day has passed. These now arrive
 * later than the day by which the store counts late days.
 */
export async function lateAfterDeadline(
  db: Db,
  runId: string,
  of: Parameters<typeof lateOnceMoved>[0] & {
    /** How many are named. */
    readonly most: number;
    readonly reviewed: (line: LineAsApproved) => ReviewedBill;
  },
): Promise<{ readonly count: number; readonly bills: readonly ReviewedBill[] }> {
  const { businessMs, most, reviewed } = of;
  const { moved, others } = lateOnceMoved(of);
  const page = { offset: 0, limit: most };
  // All moved bills arrive on the same day, so the one due first is the latest of them.
  const lines = [
    ...(await linesAsApproved(db, runId, { where: moved, first: "due_date", page }, businessMs)),
    ...(await linesAsApproved(db, runId, { where: others, most: ["days_late"], page }, businessMs)),
  ];
  const late = lines.map(reviewed).toSorted((one, other) => other.daysLate - one.daysLate);
  return {
    count: (await countMatching(db, runId, moved)) + (await countMatching(db, runId, others)),
    bills: late.slice(0, most),
  };
}
