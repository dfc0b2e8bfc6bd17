import { createHash } from "node:crypto";

/** First half of each advisory lock of ours: other programs may use locks of the same database. */
const CLASS = 0x70_61_79_72;

const EVERYBODY = 0;
const SCHEMA = 1;

/** Taken while the tables are created. */
export const SCHEMA_LOCK = `select pg_advisory_xact_lock(${CLASS}, ${SCHEMA})`;

/**
 * Returns the statements for the locks that a transaction takes before it reads anything, always in
 * this order: the lock for all businesses, shared if the transaction is about one business, then
 * the business's own.
 *
 * They are held until the transaction's end, so what it has read stays true until it writes, as in
 * SQLite, whose transactions follow one another.
 */
export function lockStatements(businessId: string | undefined): string[] {
  if (businessId === undefined) return [`select pg_advisory_xact_lock(${CLASS}, ${EVERYBODY})`];
  return [
    `select pg_advisory_xact_lock_shared(${CLASS}, ${EVERYBODY})`,
    `select pg_advisory_xact_lock(${CLASS}, ${keyOf(businessId)})`,
  ];
}

/** Two businesses with the same key wait for each other; nothing worse happens. */
function keyOf(businessId: string): number {
  const key = createHash("sha256").update(businessId).digest().readInt32BE(0);
  return key === EVERYBODY || key === SCHEMA ? 2 : key;
}
