import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { AuditHead } from "../../contracts/activities.ts";
import { isRecord } from "../../contracts/is-record.ts";
import { endOfTrail } from "../audit/audit.ts";
import type { Db } from "../sql/db.ts";
import { databaseNowMs } from "../sql/database-clock.ts";
import { findOne } from "../sql/records.ts";

const NAME = "heads";

/**
 * Returns the store's own secret, which is made at the first use of the store: a backup has it, and
 * an empty store has another.
 */
async function storeSecret(
  db: Db,
): Promise<{ readonly secret: string; readonly madeAtMs: number }> {
  const known = await findOne(db, "secrets", { name: NAME });
  if (known !== undefined) return known;
  const made = {
    name: NAME,
    secret: randomBytes(32).toString("hex"),
    made_at_ms: await databaseNowMs(db),
  };
  await db
    .insertInto("secrets")
    .values(made)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  // Another process may have been first.
  return storeSecret(db);
}

/** Returns when the store was made, on the database's clock. */
export async function storeMadeAtMs(db: Db): Promise<number> {
  return (await storeSecret(db)).madeAtMs;
}

/**
 * Returns the current end of a business's trail, for workflows to carry, with the store's proof that
 * it was that; undefined if there is none yet.
 */
export async function auditHead(db: Db, businessId: string): Promise<AuditHead | undefined> {
  const hash = await endOfTrail(db, businessId);
  if (hash === undefined) return undefined;
  const head = { hash, atMs: await databaseNowMs(db) };
  const { secret } = await storeSecret(db);
  return { ...head, proof: proofOf(secret, businessId, head) };
}

/**
 * Returns what Temporal has, if this store, or one that it was restored from, has made it as an end
 * of the business's trail; undefined for anything else, as anyone may write there.
 */
async function provenHead(
  db: Db,
  businessId: string,
  said: unknown,
): Promise<AuditHead | undefined> {
  if (!isRecord(said)) return undefined;
  const { hash, atMs, proof } = said;
  const isShaped =
    typeof hash === "string" && typeof atMs === "number" && typeof proof === "string";
  if (!isShaped) return undefined;
  const { secret } = await storeSecret(db);
  const expected = Buffer.from(proofOf(secret, businessId, { hash, atMs }));
  const given = Buffer.from(proof);
  const isOurs = given.length === expected.length && timingSafeEqual(given, expected);
  return isOurs ? { hash, atMs, proof } : undefined;
}

/** Returns those of several runs' heads that are proven. */
export async function provenHeads(
  db: Db,
  businessId: string,
  saidByRun: ReadonlyMap<string, unknown>,
): Promise<[string, AuditHead][]> {
  const proven: [string, AuditHead][] = [];
  for (const [runId, said] of saidByRun) {
    const head = await provenHead(db, businessId, said);
    if (head !== undefined) proven.push([runId, head]);
  }
  return proven;
}

/** Returns a proven head that the business's trail lacks: the store has lost what came before it. */
export async function lostHead(
  db: Db,
  businessId: string,
  said: unknown,
): Promise<AuditHead | undefined> {
  const head = await provenHead(db, businessId, said);
  if (head === undefined || (await hasAuditHead(db, businessId, head.hash))) return undefined;
  return head;
}

/** True if the business's trail still has the entry that was once its end. */
export async function hasAuditHead(db: Db, businessId: string, hash: string): Promise<boolean> {
  // The end first: if the entry is no longer the end, its successor exists by the second read.
  if ((await endOfTrail(db, businessId)) === hash) return true;
  // Its successor is found by its link, which has an index.
  return (await findOne(db, "audit", { businessId, prevHash: hash })) !== undefined;
}

function proofOf(
  secret: string,
  businessId: string,
  { hash, atMs }: Pick<AuditHead, "hash" | "atMs">,
): string {
  return createHmac("sha256", secret)
    .update(JSON.stringify([businessId, hash, atMs]))
    .digest("hex");
}
