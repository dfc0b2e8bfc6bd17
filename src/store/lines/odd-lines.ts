import { type Expression, expressionBuilder, type SqlBool } from "kysely";
import { WHOLE_RUN_CODES } from "../../domain/runs/exceptions.ts";
import { COUNT, type Db } from "../sql/db.ts";
import type { Tables } from "../schema/tables.ts";
import { toRunLine } from "./lines.ts";
import { getPlanLines, type PlannedLine } from "./plan-lines.ts";
import { LINE } from "../../contracts/line-states.ts";

/** Returns a condition that is true of exceptions, as `isException` decides it for one line. */
export function areExceptions(): Expression<SqlBool> {
  const eb = expressionBuilder<Tables, "run_lines">();
  return eb.or([
    eb.and([
      eb("run_lines.state", "in", LINE.exceptional),
      eb.or([
        eb("run_lines.reason_code", "is", null),
        eb("run_lines.reason_code", "not in", WHOLE_RUN_CODES),
      ]),
    ]),
    eb.and([
      eb("run_lines.state", "not in", [...LINE.exceptional, ...LINE.regular]),
      eb("run_lines.reason_code", "is not", null),
    ]),
  ]);
}

/** Returns the first exceptions of a run, and how many there are. */
export async function oddLines(
  db: Db,
  runId: string,
  most: number,
): Promise<{ readonly count: number; readonly lines: readonly PlannedLine[] }> {
  const states = await db
    .selectFrom("run_lines")
    .select(["state", COUNT])
    .where("run_id", "=", runId)
    .where(areExceptions())
    .groupBy("state")
    .execute();
  const count = states.reduce((sum, row) => sum + row.count, 0);
  if (count === 0) return { count, lines: [] };
  const lines = await getPlanLines(db, runId, {
    states: states.map(toRunLine).map(({ state }) => state),
    where: areExceptions(),
    page: { offset: 0, limit: most },
  });
  return { count, lines };
}
