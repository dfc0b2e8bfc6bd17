import { type RawBuilder, sql } from "kysely";
import { newYorkDate } from "../../domain/clock/new-york.ts";

/** A business-clock instant in milliseconds, or an expression of it in a statement. */
export type Instant = number | RawBuilder<number>;

/** A business's clock in a statement. */
export interface ClockInSql {
  readonly ms: Instant;
  /** The day in New York. */
  readonly today: string | RawBuilder<string>;
}

/** Returns the clock of one business at this instant. */
export function clockAt(ms: number): ClockInSql {
  return { ms, today: newYorkDate(ms) };
}

/**
 * Returns the clock of whichever business a row is about, for statements about several.
 *
 * @param businessId column with the row's business
 * @param clocks instants by business id
 * @param otherwiseMs for businesses without a clock
 */
export function clockOfRow(
  businessId: string,
  clocks: ReadonlyMap<string, number>,
  otherwiseMs: number,
): ClockInSql {
  const choose = <Value extends number | string>(read: (ms: number) => Value) => {
    if (clocks.size === 0) return read(otherwiseMs);
    // Written out, because a database takes bound values of a case for texts.
    const cases = [...clocks].map(([id, ms]) => sql`when ${id} then ${sql.lit(read(ms))}`);
    return sql<Value>`case ${sql.ref(businessId)} ${sql.join(cases, sql` `)} else ${sql.lit(read(otherwiseMs))} end`;
  };
  return { ms: choose((ms) => ms), today: choose(newYorkDate) };
}
