import { sql } from "kysely";
import { LINE } from "../../contracts/line-states.ts";
import type { Db } from "../sql/db.ts";
import type { Run } from "../runs/runs.ts";

/** A line that waits, and whether an event concerned its bill, or only its vendor. */
export interface LineOfEvent {
  readonly payableId: string;
  readonly isOfBill: boolean;
}

/**
 * Returns the lines of a run that may still be approved or sent, and whose bill or vendor an event
 * has concerned since the run was launched. The run read them for its plan after its launch, so
 * what the service shows of them now may differ from the plan.
 */
export async function linesOfEvents(
  db: Db,
  { runId, businessId, launchedAtMs }: Run,
): Promise<LineOfEvent[]> {
  const concerns = (object: "payable" | "contact", id: "payable_id" | "contact_id") =>
    sql<number>`case when exists (
      select 1 from inbox
      where inbox.business_id = ${businessId} and inbox.object_id = ${sql.ref(`run_lines.${id}`)}
        and inbox.object = ${object} and inbox.received_at_ms >= ${launchedAtMs}
    ) then 1 else 0 end`;
  const each = db
    .selectFrom("run_lines")
    .select(["payable_id", "line_no"])
    .select([
      concerns("payable", "payable_id").as("of_bill"),
      concerns("contact", "contact_id").as("of_vendor"),
    ])
    .where("run_id", "=", runId)
    .where("state", "in", LINE.decidable)
    .as("each_line");
  const rows = await db
    .selectFrom(each)
    .select(["payable_id", "of_bill"])
    .where((eb) => eb.or([eb("of_bill", "=", 1), eb("of_vendor", "=", 1)]))
    .orderBy("line_no")
    .execute();
  return rows.map((row) => ({ payableId: row.payable_id, isOfBill: Number(row.of_bill) === 1 }));
}
