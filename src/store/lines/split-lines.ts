import { sql } from "kysely";
import { LINE } from "../../contracts/line-states.ts";
import { sumCents } from "../../domain/money.ts";
import { type Lines, linesInParts } from "../payables/line-parts.ts";
import type { Db } from "../sql/db.ts";
import type { DaySum } from "./day-sums.ts";
import { IS_UNDER_WAY } from "./line-states.ts";
import { toRunLine } from "./lines.ts";

/**
 * 1 for a line with more payments than attempts: the service has split one. The ids are a list in
 * JSON, with a comma between two.
 */
export const IS_SPLIT = sql<number>`case
  when length(run_lines.payment_ids) - length(replace(run_lines.payment_ids, ',', ''))
    >= case when run_lines.attempts > 1 then run_lines.attempts else 1 end
  then 1 else 0 end`;

/**
 * How a line stands with the service. A bill that is paid again after a failure counts like any
 * other that the service has once its new payment is made. Until then it has not been sent, and a
 * hold applies to it.
 */
export const STANDS = sql<string>`case
  when run_lines.state <> 'retrying' then run_lines.state
  when length(run_lines.payment_ids) - length(replace(run_lines.payment_ids, ',', '')) > coalesce(
    (select length(retries.handled_payment_ids) - length(replace(retries.handled_payment_ids, ',', ''))
      from retries
      where retries.business_id = run_lines.business_id
        and retries.payable_id = run_lines.payable_id
        and retries.run_id = run_lines.run_id), 0)
  then 'scheduled' else 'planned' end`;

/** The name under which `STANDS` is selected and grouped. */
export const AS_STANDS = "stands";

/** The sum of the lines of one day and state, separate for lines that the service has split. */
export interface SentSum extends DaySum {
  readonly isSplit: boolean;
}

export function toSentSum({
  stands: state,
  is_split: isSplit,
  count,
  cents,
  ...row
}: {
  readonly execution_date: string;
  readonly stands: string;
  readonly is_split: number;
  readonly count: number;
  readonly cents: number;
}): SentSum {
  const sum = { isSplit: Number(isSplit) === 1, count: Number(count), cents: Number(cents) };
  return { ...toRunLine({ ...row, state }), ...sum };
}

/**
 * Returns the same sums without what has settled or failed of split lines: the service has only the
 * rest.
 *
 * @param of selects the lines that the sums are of
 */
export async function onlyOnItsWay(
  db: Db,
  sums: readonly SentSum[],
  of: (lines: Lines) => Lines,
): Promise<SentSum[]> {
  if (!sums.some(({ isSplit, state }) => isSplit && LINE.sent.includes(state))) return [...sums];
  const inParts = await linesInParts(db, (all) =>
    of(all).where(IS_UNDER_WAY).where("run_lines.state", "in", LINE.sent),
  );
  return sums.map((sum) => {
    const theirs = inParts.filter(
      ({ state, executionDate }) =>
        sum.isSplit && state === sum.state && executionDate === sum.executionDate,
    );
    const ended = theirs.map(({ amountCents, parts }) => amountCents - (parts?.onItsWayCents ?? 0));
    return { ...sum, cents: sum.cents - sumCents(ended) };
  });
}
