import { STORE, storeBehind } from "../../domain/facts/businesses.ts";
import { record } from "../facts/record.ts";
import { PAYRUN } from "../../contracts/authors.ts";
import type { Transaction } from "kysely";
import { databaseNowMs } from "../sql/database-clock.ts";
import { type Lease, takeLease } from "../sql/leases.ts";
import type { Db } from "../sql/db.ts";
import { findOne } from "../sql/records.ts";
import { createHold, listHolds } from "../holds/holds.ts";
import type { Tables } from "../schema/tables.ts";

/** A row of its own: a lease that ends at once records when it was last taken. */
const KEPT: Lease = { name: "store-kept", holder: "payrun" };

/**
 * Records that the store is in use, so that a backup shows when it was made, no matter who restores
 * it.
 */
export async function noteKept(db: Db): Promise<void> {
  await takeLease(db, KEPT, 0);
}

/**
 * Returns when the store was last in use, on the database's clock; null if nothing recorded it yet.
 */
export async function lastKept(
  db: Db,
): Promise<{ readonly atMs: number; readonly forMs: number } | null> {
  const row = await findOne(db, "leases", { name: KEPT.name });
  if (row === undefined) return null;
  return { atMs: row.untilMs, forMs: (await databaseNowMs(db)) - row.untilMs };
}

/** Evidence that the store has lost something that it once had. */
export interface Loss {
  readonly businessId: string;
  /** True if the store may be complete all the same: only a person can decide that. */
  readonly maybe?: true;
  /** Half a sentence for people: "Temporal has a run … that the store doesn't know". */
  readonly evidence: string;
  /** Instant at which the store still had it, by the database's clock or Temporal's. */
  readonly hadItAtMs: number;
  /** The service's clock now; null if not known. */
  readonly serviceMs: number | null;
  /** The business clock now, by which the service dates its payments; null if not known. */
  readonly businessMs: number | null;
}

/**
 * Puts everything of a business on hold because its store is older than what was done with it. Only
 * a person releases that hold: they know which backup it was, and what the bank says.
 *
 * One loss shows in many places. Anything that the store had before the last hold of this kind
 * belongs to the loss that the hold was set for, and a person may have released that hold since.
 *
 * @returns true if the hold was set now
 */
export async function holdForLoss(trx: Transaction<Tables>, loss: Loss): Promise<boolean> {
  const { businessId } = loss;
  const held = await lossNoticed(trx, businessId);
  if (held !== null && held.atMs >= loss.hadItAtMs) return false;
  // Not a process's own clock: it may be minutes off.
  const nowMs = await databaseNowMs(trx);
  const { is, why } =
    loss.maybe === true
      ? { is: "may be", why: "If it was restored from a backup, compare" }
      : { is: "is", why: "It was restored from a backup, or is empty. Compare" };
  const reason =
    `The store ${is} older than what was done with it: ${loss.evidence}. ${why} it with the ` +
    "bank, and enter again what is missing: cancels, rejections, holds, revoked tokens. Then " +
    "release this hold: what was paid meanwhile is then found at the service, and not paid again.";
  const hold = await createHold(trx, {
    businessId,
    scope: "all",
    value: "",
    reason,
    author: PAYRUN,
    nowMs,
  });
  const { evidence, serviceMs, businessMs } = loss;
  await record(
    trx,
    storeBehind(
      { businessId, nowMs, by: PAYRUN, subject: STORE },
      { evidence, holdId: hold.holdId, serviceMs, businessMs, noticedAtMs: nowMs },
      { is, reason },
    ),
  );
  return true;
}

/** A loss of data that was noticed. */
interface NoticedLoss {
  /** When, on the database's clock. */
  readonly atMs: number;
  /** On the service's clock; null if it was not known. */
  readonly serviceMs: number | null;
  /** On the business clock; null if it was not known. */
  readonly businessMs: number | null;
  /** The hold on everything that was set for it. */
  readonly holdId: string;
}

/**
 * Returns when the store was last found to be older than what was done with it; null if it never
 * was.
 */
export async function lossNoticed(db: Db, businessId: string): Promise<NoticedLoss | null> {
  const found = await db
    .selectFrom("audit")
    .select("details")
    .where("business_id", "=", businessId)
    .where("subject", "=", STORE)
    .where("action", "=", storeBehind.action)
    .orderBy("audit_id", "desc")
    .limit(1)
    .executeTakeFirst();
  if (found === undefined) return null;
  const { noticedAtMs: atMs, ...rest } = JSON.parse(found.details) as Omit<NoticedLoss, "atMs"> & {
    readonly noticedAtMs: number;
  };
  const { serviceMs, businessMs, holdId } = rest;
  return { atMs, serviceMs, businessMs, holdId };
}

/**
 * Returns the hold that was set for a loss, until a person has compared and released it; null if
 * there is none.
 */
export async function lossHold(db: Db, businessId: string, nowMs: number): Promise<string | null> {
  const loss = await lossNoticed(db, businessId);
  if (loss === null) return null;
  const holds = await listHolds(db, { businessId, scope: "all", active: true, nowMs });
  return holds.some(({ holdId }) => holdId === loss.holdId) ? loss.holdId : null;
}

/**
 * Returns when the loss was noticed, on the clock by which the service dates its payments, as far
 * as that was known.
 */
export function lossAtBusinessMs({
  businessMs,
  serviceMs,
  atMs,
}: Pick<NoticedLoss, "businessMs" | "serviceMs" | "atMs">): number {
  return businessMs ?? serviceMs ?? atMs;
}

/**
 * True if a payment was made before the loss was noticed, so that the store may have forgotten it.
 */
export function mayPredateLoss(
  loss: NoticedLoss | null,
  { createdAt }: { readonly createdAt: string | null },
): boolean {
  return loss !== null && !(Date.parse(createdAt ?? "") >= lossAtBusinessMs(loss));
}

/** True if the store may have forgotten any payment of a business that was made since `sinceMs`. */
export async function mayHaveForgotten(
  db: Db,
  businessId: string,
  sinceMs: number,
): Promise<boolean> {
  const loss = await lossNoticed(db, businessId);
  return loss !== null && lossAtBusinessMs(loss) > sinceMs;
}
