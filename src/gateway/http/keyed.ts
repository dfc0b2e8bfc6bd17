import type { Context } from "hono";
import { z } from "zod";
import { DAY_MS, HOUR_MS } from "../../contracts/durations.ts";
import { isRecord } from "../../contracts/is-record.ts";
import { coversBusinesses } from "../../domain/approvals/token.ts";
import { conflict, GatewayError } from "../../actions/errors.ts";
import type { Principal } from "../../actions/principal.ts";
import {
  answerIn,
  carryOutOnce,
  keepAnswerOf,
  type KeptAnswer,
  type KeptRequest,
  type KeptSum,
  type KeyedRequest,
  keyedRequest,
  keptSumOf,
  keptUnder,
} from "../../store/requests/keyed-requests.ts";
import { reasonOf } from "../../process/repeat.ts";
import { errorBody } from "./refusals.ts";
import type { GatewayContext } from "./context.ts";
import type { ScopedContext } from "./scope.ts";

/** The name of the header, as the description of the API and refusals show it. */
const KEY_HEADER = "Idempotency-Key";

const KEY_MOST = 255;

/** As long as a request that came with a key is recognized when it comes again. */
export const KEYS_KEPT_MS = 7 * DAY_MS;

/** How often those that are older are forgotten. */
export const KEYS_FORGOTTEN_EVERY_MS = HOUR_MS;

/** Most that the requests of one principal may leave in the store in that time. */
const KEYS_MOST_BYTES = 100_000_000;

/** How long a request under a key may still be under way in another process. */
const UNDER_WAY_MS = 60_000;

/** An answer that is sent as it was kept. */
interface Repeated {
  readonly status: KeptAnswer["status"];
  readonly text: string;
  readonly contentType: string;
}

/** The header in the description of the API. */
export const KeyHeader = z.object({
  [KEY_HEADER]: z
    .string()
    .min(1)
    .max(KEY_MOST)
    .optional()
    .describe(
      "Any text of yours, such as a UUID: for seven days, a repeat with the same key gets the first answer and does nothing new. 409 `too_many_keys` takes no new key: what is kept of yours has reached its bound",
    ),
});

/** What of an operation matters for keys. */
interface Operation {
  readonly method: string;
  readonly path: string;
  readonly changesNothing?: true;
  readonly hasSecret?: true;
}

/** False if an operation changes nothing that a repeat could double: it ignores keys. */
export function takesKey({ method, changesNothing }: Operation): boolean {
  return method !== "get" && changesNothing !== true;
}

/** Returns the key that a request came with. @throws GatewayError 400 that says what it may be */
export function keyIn(c: Context): string | undefined {
  const header = c.req.header(KEY_HEADER);
  if (header === undefined || /^[\x21-\x7e]{1,255}$/.test(header)) return header;
  const is =
    header.length > KEY_MOST
      ? `has ${header.length} characters`
      : header === ""
        ? "is empty"
        : "has a space, or a character beyond ASCII";
  const message = `must be one key of 1 to ${KEY_MOST} visible ASCII characters without spaces, such as a UUID; it ${is}`;
  throw new GatewayError("validation_error", `${KEY_HEADER} ${message}.`, [
    { field: KEY_HEADER, message },
  ]);
}

/** A key of a principal's for an operation, before the request's content is known. */
interface KnownKey {
  /** True if it came before, for any business. */
  readonly isKnown: boolean;
  /**
   * Returns the request.
   *
   * @param owner id of the business that owns what the address names
   * @throws GatewayError 403 if it came with a credential that may do more
   */
  of(content: Readonly<Record<string, unknown>>, owner: string | undefined): Keyed;
}

/** Looks up a key. */
export async function keyedBy(
  context: GatewayContext,
  principal: Principal,
  spec: Operation,
  key: string,
): Promise<KnownKey> {
  const operation = `${spec.method} ${spec.path}`;
  const all = await keptUnder(context.store.db, keyedRequest(principal, { operation, key }));
  return {
    isKnown: all.length > 0,
    of: (content, owner) => {
      const businessId = owner ?? businessMeant(context, principal, Object.values(content));
      const request = keyedRequest(principal, { operation, key, businessId, content });
      const kept = all.find((each) => each.businessId === businessId) ?? unnamedAmong(all, request);
      if (kept !== undefined) requireNoLess(principal, kept);
      return {
        request: { ...request, businessId: kept?.businessId ?? businessId },
        kept,
        hasSecret: spec.hasSecret === true,
      };
    },
  };
}

/**
 * Returns the id of the business that a request names, or that its token is for; empty if it names
 * none and the token is for several.
 */
function businessMeant(
  { profiles }: GatewayContext,
  { businesses }: Principal,
  parts: readonly unknown[],
): string {
  const named = parts.flatMap((part) => {
    const business = isRecord(part) ? part["business"] : undefined;
    return typeof business === "string" ? [business] : [];
  });
  const [only = "", ...others] = businesses ?? [];
  const [name = others.length === 0 ? only : ""] = named;
  return profiles.get(name)?.businessId ?? name;
}

/**
 * Returns the same request if it came with another token, when it is not known whether the two mean
 * one business: of one request and another, one named no business, and its token is for several.
 */
function unnamedAmong(
  all: readonly KeptRequest[],
  { businessId, requestHash }: KeyedRequest,
): KeptRequest | undefined {
  return all.find(
    (each) => each.requestHash === requestHash && (businessId === "" || each.businessId === ""),
  );
}

/**
 * Checks that a caller may see what was kept: their credential may do no less than the one under
 * which it was done.
 *
 * @throws GatewayError 403
 */
function requireNoLess({ name, roles, businesses }: Principal, kept: KeptRequest): void {
  const lacks = kept.roles.filter((role) => !roles.includes(role));
  if (lacks.length === 0 && coversBusinesses(businesses, kept.businesses)) return;
  const what =
    lacks.length === 0 ? "covers fewer businesses" : `lacks the role ${lacks.join(", ")}`;
  throw new GatewayError(
    "forbidden",
    `The request with this ${KEY_HEADER} was made with a token that may do more: this one of ${name} ${what}, so it doesn't get the answer.`,
  );
}

/** Throws what has ended a request within a transaction of its handler. */
class Settled extends Error {
  override readonly name = "Settled";
  readonly kept: KeptRequest;

  constructor(kept: KeptRequest) {
    super("the request was settled before");
    this.kept = kept;
  }
}

/** A request under a key, and how its answers are kept. */
interface Keyed {
  readonly request: KeyedRequest;
  /** What is kept of it by now. */
  readonly kept: KeptRequest | undefined;
  /** True if its answer has a secret, which is stored nowhere. */
  readonly hasSecret: boolean;
}

/**
 * Answers a request under a key: as before if it came before, and otherwise by `handle`, each of
 * whose transactions is carried out once.
 *
 * @throws GatewayError 409 if the key was another request's, if the same request is under way, or if
 * its effect is there and its answer lost
 */
export async function answerOnce<Answer extends object>(
  context: ScopedContext,
  keyed: Keyed,
  handle: (context: ScopedContext) => Promise<Answer>,
): Promise<Answer | Repeated> {
  const { request, hasSecret } = keyed;
  if (keyed.kept === undefined) await requireRoom(context, request);
  else {
    requireSame(request, keyed.kept);
    if (keyed.kept.status !== null) return await repeated(keyed.kept);
  }
  const under = carryingOut(context, keyed);
  try {
    const answer = await handle(under.context);
    if (!hasSecret) await keep(context, request, answer);
    return answer;
  } catch (error) {
    if (error instanceof Settled) {
      requireSame(request, error.kept);
      return await repeated(error.kept);
    }
    if (!(error instanceof GatewayError) || !isKept(error)) throw error;
    const text = JSON.stringify(errorBody(error));
    const refusal = { status: error.status, text };
    const how = { hasEffect: under.hasEffect(), nowMs: context.nowMs() };
    if (await keepAnswerOf(context.store.db, request, refusal, how)) throw error;
    if (how.hasEffect) throw error;
    return insteadOf(context, request, error);
  }
}

/** Returns the context with transactions that are carried out once. */
function carryingOut(
  context: ScopedContext,
  { request, hasSecret }: Keyed,
): { readonly context: ScopedContext; readonly hasEffect: () => boolean } {
  let hasEffect = false;
  const insteadOfSecret = hasSecret ? secretRefusal : undefined;
  const { store } = context;
  const once: ScopedContext["store"]["transactionOf"] = async (businessId, fn, options = {}) => {
    const { part = "" } = options;
    const done = await store.transactionOf(
      businessId,
      (trx) => {
        const effect = { businessId, part, nowMs: context.nowMs(), insteadOfSecret };
        return carryOutOnce(trx, request, effect, () => fn(trx));
      },
      options,
    );
    if ("kept" in done) throw new Settled(done.kept);
    hasEffect = true;
    return done.value;
  };
  return {
    context: { ...context, store: { ...store, transactionOf: once } },
    hasEffect: () => hasEffect,
  };
}

/**
 * Keeps an answer. If that fails, a repeat is answered from what the transactions have kept.
 */
async function keep(context: ScopedContext, request: KeyedRequest, answer: object): Promise<void> {
  if (!("status" in answer && "json" in answer)) return;
  const kept = { status: Number(answer.status), text: JSON.stringify(answer.json) };
  const how = { hasEffect: true, nowMs: context.nowMs() };
  await keepAnswerOf(context.store.db, request, kept, how).catch((error: unknown) => {
    const reason = reasonOf(error);
    context.log.warn("an answer could not be kept", { operation: request.operation, reason });
  });
}

/**
 * Answers a request that was refused because of its own effect: the one before, or the same one at
 * the same time, has changed things.
 */
async function insteadOf(
  { store, nowMs }: ScopedContext,
  request: KeyedRequest,
  refused: GatewayError,
): Promise<Repeated> {
  const all = await keptUnder(store.db, request);
  const kept = all.find(({ businessId }) => businessId === request.businessId);
  if (kept !== undefined) {
    requireSame(request, kept);
    if (kept.status !== null) return await repeated(kept);
    if (nowMs() - kept.createdAtMs > UNDER_WAY_MS) {
      throw conflict(
        "answer_lost",
        `The request with this ${KEY_HEADER} took effect on ${new Date(kept.createdAtMs).toISOString()}, at least in part, and its answer was lost. It is not carried out again; look at how things stand. Now it would be refused: ${refused.message}`,
        { error: refused.code },
      );
    }
  }
  throw conflict(
    "in_progress",
    `A request with this ${KEY_HEADER} is being carried out right now: send it again in a moment for its answer.`,
    { retryAfterSeconds: 2 },
  );
}

/** @throws GatewayError 409 if the key came with another request */
function requireSame({ requestHash, operation }: KeyedRequest, kept: KeptRequest): void {
  if (kept.requestHash === requestHash) return;
  const [method = "", path = ""] = operation.split(" ");
  throw conflict(
    "idempotency_key_reused",
    `This ${KEY_HEADER} came with another request for ${method.toUpperCase()} ${path}, on ${new Date(kept.createdAtMs).toISOString()}. Nothing was done: a new request takes a new key.`,
  );
}

/**
 * True for a refusal that a repeat gets as well. One that says nothing of the request itself is not
 * kept: it was malformed, its sender was not entitled, or this is not the moment.
 */
function isKept({ status, code }: GatewayError): boolean {
  const isPassing = [400, 401, 403, 429].includes(status) || status >= 500;
  return !isPassing && code !== "in_progress" && code !== "schedule_busy";
}

async function repeated(kept: KeptRequest): Promise<Repeated> {
  const text = (await answerIn(kept)) ?? "";
  return { status: kept.status ?? 500, text, contentType: "application/json" };
}

/** How long the sum of a principal's requests is taken as it was read. */
const SUM_COUNTS_MS = 1_000;

interface LastSum {
  readonly atMs: number;
  readonly sum: Promise<KeptSum>;
}

/** The last sums of principals' requests that were read, by store. */
const SUMS = new WeakMap<object, Map<string, LastSum>>();

/**
 * Checks that there is room for what a new request leaves behind. To forget an earlier one in its
 * place would let that one's repeat act a second time.
 *
 * @throws GatewayError 409 that says when there is room again
 */
async function requireRoom(
  { store, nowMs }: ScopedContext,
  { principal }: KeyedRequest,
): Promise<void> {
  const { bytes, oldestMs } = await sumOf(store.db, principal);
  if (bytes < KEYS_MOST_BYTES || oldestMs === undefined) return;
  const roomMs = oldestMs + KEYS_KEPT_MS + KEYS_FORGOTTEN_EVERY_MS;
  const most = `${KEYS_MOST_BYTES / 1_000_000} MB`;
  throw conflict(
    "too_many_keys",
    `Nothing was done: what is kept of requests of this name with an ${KEY_HEADER} has reached ${most}, and nothing is forgotten before seven days are over, so that no repeat acts twice. There is room again from ${new Date(roomMs).toISOString()}. A request without a key is carried out.`,
    { retryAfterSeconds: Math.max(1, Math.ceil((roomMs - nowMs()) / 1_000)) },
  );
}

/** Reads the sum of a principal's requests at most once a second: of many, it takes a while. */
function sumOf(db: ScopedContext["store"]["db"], principal: string): Promise<KeptSum> {
  const sums = SUMS.get(db) ?? new Map<string, LastSum>();
  SUMS.set(db, sums);
  const atMs = performance.now();
  for (const [name, read] of sums) if (atMs - read.atMs > SUM_COUNTS_MS) sums.delete(name);
  const sum = sums.get(principal)?.sum ?? keptSumOf(db, principal);
  if (!sums.has(principal)) sums.set(principal, { atMs, sum });
  return sum;
}

const Made = z.object({ tokenId: z.string() });

function secretRefusal(outcome: unknown): KeptAnswer {
  const id = Made.safeParse(outcome).data?.tokenId ?? null;
  const error = conflict(
    "secret_shown_once",
    `This was done when the ${KEY_HEADER} came first, for the token ${id ?? "of the caller"}. Its secret was shown then, once, and is stored nowhere: make another if it was lost.`,
    { id },
  );
  return { status: error.status, text: JSON.stringify(errorBody(error)) };
}
