import { type RawBuilder, sql } from "kysely";

/** The columns of a line that nobody has leased. */
export const NO_LEASE = { lease_owner: null, lease_until_ms: null } as const;

/** The columns of a line that doesn't back off. */
export const NO_BACK_OFF = { back_offs: 0, back_off_since_ms: null } as const;

/** Returns columns with their values as a statement that is written in SQL assigns them. */
export function assigned(columns: Readonly<Record<string, 0 | null>>): RawBuilder<unknown> {
  return sql.join(
    Object.entries(columns).map(([name, value]) => sql`${sql.ref(name)} = ${sql.lit(value)}`),
  );
}

/**
 * True for a line that nobody has leased, or whose lease has run out.
 *
 * @param nowMs by the database's clock, on which leases run
 */
export function isFreeAt(nowMs: number): RawBuilder<boolean> {
  return sql<boolean>`(lease_until_ms is null or lease_until_ms < ${nowMs})`;
}
