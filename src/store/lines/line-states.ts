import { sql, type SqlBool } from "kysely";
import { LINE } from "../../contracts/line-states.ts";
import { isIn } from "../sql/is-in.ts";

/**
 * True for a line under way, whatever its account. The condition on the account makes SQLite use
 * the index of these lines: without it, SQLite uses another index to avoid a sort, and reads
 * everything that the business has ever paid.
 */
export const IS_UNDER_WAY = sql<SqlBool>`(run_lines.source_id >= ''
  and ${isIn("run_lines.state", LINE.underWay)})`;
