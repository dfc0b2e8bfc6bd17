import { sql } from "kysely";
import type { DaySum } from "./day-sums.ts";
import { toRunLine } from "./lines.ts";

/**
 * 1 for a line with more payments than attempts: the service has split one. Their ids are a list in
 * JSON, with a comma between two.
 */
export const IS_SPLIT = sql<number>`case
  when length(run_lines.payment_ids) - length(replace(run_lines.payment_ids, ',', ''))
    >= case when run_lines.attempts > 1 then run_lines.attempts else 1 end
  then 1 else 0 end`;

/** Lines of one day and state, apart for those that the service has split. */
export interface SentSum extends DaySum {
  readonly isSplit: boolean;
}

export function toSentSum({
  is_split: isSplit,
  count,
  cents,
  ...row
}: {
  readonly execution_date: string;
  readonly state: string;
  readonly is_split: number;
  readonly count: number;
  readonly cents: number;
}): SentSum {
  const sum = { isSplit: Number(isSplit) === 1, count: Number(count), cents: Number(cents) };
  return { ...toRunLine(row), ...sum };
}
