import { createHash, createHmac, randomUUID } from "node:crypto";
import type { Transaction } from "kysely";
import { isRecord } from "../../contracts/is-record.ts";
import { principalOf } from "../../contracts/principal.ts";
import type { Tables } from "../schema/tables.ts";
import { asColumns, type RecordOf } from "../sql/as-record.ts";
import type { Db } from "../sql/db.ts";
import { findAll, findOne } from "../sql/records.ts";
import { packed, unpacked } from "./packed-text.ts";

/** A request as it was kept: what it was, and its answer once it has one. */
export type KeptRequest = RecordOf<"keyed_requests">;

/** Identifies a request that came with a key. */
export type KeyedRequest = Pick<
  KeptRequest,
  "principal" | "operation" | "keyHash" | "businessId" | "requestHash" | "roles" | "businesses"
>;

/** What a row takes besides its long text, with its entries in indexes. */
const ROW_BYTES = 1_000;

/** The answer that a repeat gets. */
export interface KeptAnswer {
  readonly status: number;
  /** JSON. */
  readonly text: string;
}

/** One transaction of a request. */
export interface KeyedEffect {
  readonly businessId: string;
  /** Tells the transactions of one request apart. */
  readonly part: string;
  readonly nowMs: number;
  /**
   * Present if the outcome has a secret: makes the answer that a repeat gets, and the outcome is not
   * kept.
   */
  readonly insteadOfSecret?: ((outcome: unknown) => KeptAnswer) | undefined;
}

/** What the work of a keyed request has come to, and when that came first. */
export interface Outcome<T> {
  readonly value: T;
  readonly firstAtMs: number;
}

/** What a transaction of a keyed request has come to. */
export type CarriedOut<T> =
  | (Outcome<T> & { readonly isRepeat: boolean })
  /** It did nothing: the key is another request's, or the request has its answer. */
  | { readonly kept: KeptRequest };

/**
 * Returns what identifies a request, with neither its key nor its content in it.
 *
 * @param asked without a business and a content, what is common to all requests under the key
 */
export function keyedRequest(
  by: { readonly name: string } & Pick<KeptRequest, "roles" | "businesses">,
  asked: {
    readonly operation: string;
    readonly key: string;
    readonly businessId?: string;
    readonly content?: unknown;
  },
): KeyedRequest {
  const { operation, key, businessId = "", content = null } = asked;
  return {
    principal: principalOf(by.name),
    operation,
    keyHash: createHash("sha256").update(key).digest("base64url"),
    businessId,
    requestHash: createHmac("sha256", key).update(sortedJson(content)).digest("base64url"),
    roles: by.roles,
    businesses: by.businesses,
  };
}

/** Returns what was kept of a principal's requests under a key, one for each business. */
export function keptUnder(
  db: Db,
  { principal, operation, keyHash }: Pick<KeyedRequest, "principal" | "operation" | "keyHash">,
): Promise<KeptRequest[]> {
  return findAll(db, "keyed_requests", { principal, operation, keyHash }, ["business_id"]);
}

/**
 * Does `work` once for a request, and keeps its outcome in the same transaction: a repeat, or the
 * same request at the same time, gets that outcome, which is JSON, and does nothing.
 */
export async function carryOutOnce<T>(
  trx: Transaction<Tables>,
  request: KeyedRequest,
  { businessId, part, nowMs, insteadOfSecret }: KeyedEffect,
  work: () => Promise<T>,
): Promise<CarriedOut<T>> {
  await insert(trx, request, nowMs);
  const kept = await keptAs(trx, request);
  if (kept === undefined) throw new Error("a request was forgotten while it was carried out");
  if (kept.requestHash !== request.requestHash || kept.status !== null) return { kept };
  const { requestId, createdAtMs: firstAtMs } = kept;
  const done = await findOne(trx, "keyed_effects", { requestId, businessId, part });
  if (done !== undefined) {
    return { value: await valueIn<T>(done.outcome), isRepeat: true, firstAtMs };
  }
  const value = await work();
  if (insteadOfSecret !== undefined) {
    await keepAnswer(trx, requestId, insteadOfSecret(value));
    return { value, isRepeat: false, firstAtMs };
  }
  const outcome = await packed(JSON.stringify({ value }));
  const effect = asColumns({ requestId, businessId, part, outcome });
  await trx.insertInto("keyed_effects").values(effect).execute();
  await trx
    .updateTable("keyed_requests")
    .set((eb) => ({ bytes: eb("bytes", "+", ROW_BYTES + outcome.length) }))
    .where("request_id", "=", requestId)
    .execute();
  // As a repeat gets it, so that the two can't differ.
  return { value: await valueIn<T>(outcome), isRepeat: false, firstAtMs };
}

/** Returns the outcome of a transaction of a request; undefined if it was not carried out. */
export async function carriedOut<T>(
  db: Db,
  request: KeyedRequest,
  { businessId, part }: Pick<KeyedEffect, "businessId" | "part">,
): Promise<Outcome<T> | undefined> {
  const kept = await keptAs(db, request);
  if (kept?.requestHash !== request.requestHash) return undefined;
  const { requestId, createdAtMs: firstAtMs } = kept;
  const done = await findOne(db, "keyed_effects", { requestId, businessId, part });
  return done === undefined ? undefined : { value: await valueIn<T>(done.outcome), firstAtMs };
}

/**
 * Keeps the answer of a request.
 *
 * @param hasEffect false for a refusal that changed nothing: nobody else may have carried it out
 * @returns false if it has another answer, or somebody else carries it out
 */
export async function keepAnswerOf(
  db: Db,
  request: KeyedRequest,
  answer: KeptAnswer,
  { hasEffect, nowMs }: { readonly hasEffect: boolean; readonly nowMs: number },
): Promise<boolean> {
  const stored = { ...answer, text: await packed(answer.text) };
  const isNew = await insert(db, request, nowMs, stored);
  if (isNew) return true;
  const kept = hasEffect ? await keptAs(db, request) : undefined;
  if (kept?.requestHash !== request.requestHash) return false;
  return keepAnswer(db, kept.requestId, stored);
}

/** Returns the text of the answer that a request got; undefined if it has none. */
export async function answerIn({ answer }: KeptRequest): Promise<string | undefined> {
  return answer === null ? undefined : unpacked(answer);
}

/** What of the store the requests of one principal take. */
export interface KeptSum {
  readonly bytes: number;
  /** When the first of them came; undefined without any. */
  readonly oldestMs: number | undefined;
}

/** Sums up what is kept of a principal's requests, from an index alone. */
export async function keptSumOf(db: Db, principal: string): Promise<KeptSum> {
  const row = await db
    .selectFrom("keyed_requests")
    .select((eb) => [eb.fn.sum("bytes").as("bytes"), eb.fn.min("created_at_ms").as("oldest")])
    .where("principal", "=", principal)
    .executeTakeFirstOrThrow();
  const oldest: number | string | null = row.oldest;
  return { bytes: Number(row.bytes), oldestMs: oldest === null ? undefined : Number(oldest) };
}

/** Forgets requests that came before an instant, with what they have done. */
export async function forgetRequests(trx: Transaction<Tables>, beforeMs: number): Promise<void> {
  const old = trx
    .selectFrom("keyed_requests")
    .select("request_id")
    .where("created_at_ms", "<", beforeMs);
  await trx.deleteFrom("keyed_effects").where("request_id", "in", old).execute();
  await trx.deleteFrom("keyed_requests").where("created_at_ms", "<", beforeMs).execute();
}

function keptAs(
  db: Db,
  { principal, operation, keyHash, businessId }: KeyedRequest,
): Promise<KeptRequest | undefined> {
  return findOne(db, "keyed_requests", { principal, operation, keyHash, businessId });
}

/** @returns false if a request under this key is there already */
async function insert(
  db: Db,
  request: KeyedRequest,
  nowMs: number,
  answer?: KeptAnswer,
): Promise<boolean> {
  const { principal, operation, keyHash, businessId, requestHash, roles, businesses } = request;
  const row = await db
    .insertInto("keyed_requests")
    .values(
      asColumns({
        principal,
        operation,
        keyHash,
        businessId,
        requestHash,
        roles,
        businesses,
        requestId: randomUUID(),
        createdAtMs: Math.floor(nowMs),
        status: answer?.status ?? null,
        answer: answer?.text ?? null,
        bytes: ROW_BYTES + (answer?.text.length ?? 0),
      }),
    )
    .onConflict((conflict) => conflict.doNothing())
    .returning("request_id")
    .executeTakeFirst();
  return row !== undefined;
}

/** @returns false if it has one */
async function keepAnswer(
  db: Db,
  requestId: string,
  { status, text: answer }: KeptAnswer,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable("keyed_requests")
    .set((eb) => ({ status, answer, bytes: eb("bytes", "+", answer.length) }))
    .where("request_id", "=", requestId)
    .where("status", "is", null)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Writes a value so that the order of its fields makes no difference. */
function sortedJson(content: unknown): string {
  return JSON.stringify(content, (_, value: unknown) =>
    isRecord(value)
      ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  );
}

async function valueIn<T>(outcome: string): Promise<T> {
  return (JSON.parse(await unpacked(outcome)) as { readonly value: T }).value;
}
