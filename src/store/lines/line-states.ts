import { sql, type SqlBool } from "kysely";
import type { LineState } from "../../contracts/pay-run.ts";
import { isIn } from "../sql/is-in.ts";

/** States of lines that may still move money, in the order of the index `run_lines_under_way`. */
export const UNDER_WAY: readonly LineState[] = [
  "planned",
  "paying",
  "unknown",
  "scheduled",
  "held",
  "processing",
  "retrying",
];

/**
 * True for a line under way, whatever its account. The condition on the account makes SQLite use
 * the index of these lines: without it, SQLite uses another index to avoid a sort, and reads
 * everything that the business has ever paid.
 */
export const IS_UNDER_WAY = sql<SqlBool>`(run_lines.source_id >= ''
  and ${isIn("run_lines.state", UNDER_WAY)})`;
