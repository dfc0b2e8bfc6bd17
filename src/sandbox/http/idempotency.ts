import { createHash } from "node:crypto";
import { execute, getRow, insertRow, transaction } from "../db.ts";
import type { SandboxContext } from "../context.ts";
import { ApiError, isStateRefusal } from "./api-error.ts";

export const idempotencyDdl = `
CREATE TABLE IF NOT EXISTS idempotency_keys (
  business_id TEXT NOT NULL,
  key TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('started', 'answered', 'dead')),
  attempt INTEGER NOT NULL,
  started_at INTEGER NOT NULL,
  status INTEGER,
  body TEXT,
  PRIMARY KEY (business_id, key)
);
`;

/** How long an unanswered request counts as running, on the wire clock (section 7). */
const inFlightWindowMs = 5 * 60_000;
const deepestBody = 64;

/** An answer as it goes over the wire; `body` is its exact text, null for none. */
export interface StoredAnswer {
  status: number;
  body: string | null;
}

export interface IdempotentRequest {
  businessId: string;
  key: string;
  fingerprint: string;
  money: boolean;
}

/** The right to run a request's action under its key. */
export interface Claim extends IdempotentRequest {
  attempt: number;
}

interface KeyRow {
  fingerprint: string;
  state: "started" | "answered" | "dead";
  attempt: number;
  started_at: number;
  status: number | null;
  body: string | null;
}

/** The rules of section 7 for `Idempotency-Key`. */
export class IdempotencyKeys {
  readonly #ctx: SandboxContext;
  readonly #answering = new Set<string>();

  constructor(ctx: SandboxContext) {
    this.#ctx = ctx;
  }

  /**
   * True if something is stored under the key; for requests that are refused before they may claim
   * it.
   */
  isUsed(businessId: string, key: string): boolean {
    return this.#row(businessId, key) !== undefined;
  }

  /**
   * Claims a key for a request. The claim is committed before the action, so that a death in the
   * middle leaves a trace.
   *
   * @returns the claim, or the answer to replay.
   * @throws {ApiError} `idempotency_conflict` or `payment_unconfirmed`.
   */
  claim(request: IdempotentRequest): Claim | StoredAnswer {
    return transaction(this.#ctx.db, () => {
      const row = this.#row(request.businessId, request.key);
      const startedAt = this.#ctx.clock.wireNow();
      if (row === undefined) {
        insertRow(this.#ctx.db, "idempotency_keys", {
          business_id: request.businessId,
          key: request.key,
          fingerprint: request.fingerprint,
          state: "started",
          attempt: 1,
          started_at: startedAt,
        });
        return { ...request, attempt: 1 };
      }
      if (row.fingerprint !== request.fingerprint) {
        throw conflict("This Idempotency-Key was used for another request");
      }
      return this.#claimAgain(request, row, startedAt);
    });
  }

  #claimAgain(request: IdempotentRequest, row: KeyRow, nowMs: number): Claim | StoredAnswer {
    if (row.state === "dead") return unconfirmed();
    const isOnItsWay = this.#answering.has(nameOf(request));
    if (row.state === "answered" && !isOnItsWay) {
      return { status: row.status ?? 500, body: row.body };
    }
    // A request that moves no money runs again only once the first one is known to be dead.
    if (nowMs - row.started_at < inFlightWindowMs || (isOnItsWay && !request.money)) {
      throw conflict("The first request with this Idempotency-Key has not been answered yet");
    }
    if (request.money) {
      this.#update(request, "state = 'dead'");
      return unconfirmed();
    }
    const attempt = row.attempt + 1;
    this.#update(request, "attempt = ?, started_at = ?", attempt, nowMs);
    return { ...request, attempt };
  }

  /**
   * Stores an answer under its key, or frees the key if section 7 stores nothing. Call it in the
   * transaction of the effect. Does nothing if the claim was lost in the meantime.
   */
  settle(claim: Claim, answer: StoredAnswer, code: string | undefined): void {
    const { status, body } = answer;
    if (isStored(status, code)) {
      this.#updateOwn(claim, "state = 'answered', status = ?, body = ?", status, body);
    } else if (status >= 500 && claim.money) {
      this.#updateOwn(claim, "state = 'dead'");
    } else {
      execute(
        this.#ctx.db,
        `DELETE FROM idempotency_keys
         WHERE business_id = ? AND key = ? AND attempt = ? AND state = 'started'`,
        claim.businessId,
        claim.key,
        claim.attempt,
      );
    }
  }

  /**
   * Marks a claim's answer as still on its way, so that a second request finds the first one
   * running.
   */
  answering(claim: Claim): Disposable {
    const name = nameOf(claim);
    this.#answering.add(name);
    return { [Symbol.dispose]: () => this.#answering.delete(name) };
  }

  #row(businessId: string, key: string): KeyRow | undefined {
    return getRow(
      this.#ctx.db,
      "SELECT * FROM idempotency_keys WHERE business_id = ? AND key = ?",
      businessId,
      key,
    );
  }

  #update(request: IdempotentRequest, set: string, ...values: (string | number | null)[]): void {
    const sql = `UPDATE idempotency_keys SET ${set} WHERE business_id = ? AND key = ?`;
    execute(this.#ctx.db, sql, ...values, request.businessId, request.key);
  }

  #updateOwn(claim: Claim, set: string, ...values: (string | number | null)[]): void {
    execute(
      this.#ctx.db,
      `UPDATE idempotency_keys SET ${set}
       WHERE business_id = ? AND key = ? AND attempt = ? AND state = 'started'`,
      ...values,
      claim.businessId,
      claim.key,
      claim.attempt,
    );
  }
}

export function isClaim(result: Claim | StoredAnswer): result is Claim {
  return "attempt" in result;
}

function isStored(status: number, code: string | undefined): boolean {
  if (status === 409 || status === 429 || status >= 500) return false;
  return code === undefined || !isStateRefusal(code);
}

function nameOf({ businessId, key }: IdempotentRequest): string {
  return `${businessId} ${key}`;
}

function conflict(message: string): ApiError {
  return new ApiError(409, "idempotency_conflict", message);
}

function unconfirmed(): StoredAnswer {
  const message =
    "The first request with this Idempotency-Key may have taken effect; look it up before using a new key";
  return { status: 409, body: JSON.stringify({ error: "payment_unconfirmed", message }) };
}

/**
 * Returns the fingerprint that two requests share if they are the same: channel, method, path and
 * body. The order of keys doesn't change it, nor whether a field is left out or null.
 *
 * @throws {ApiError} 400 if the body is nested too deeply.
 */
export function fingerprintOf(operation: string, path: string, body: unknown): string {
  const text = `${operation}\n${path}\n${canonical(body ?? {}, 0)}`;
  return createHash("sha256").update(text).digest("base64url");
}

function canonical(value: unknown, depth: number): string {
  if (depth > deepestBody) {
    throw new ApiError(400, "validation_error", `The body is nested more than ${deepestBody} deep`);
  }
  if (Array.isArray(value)) {
    return `[${value.map((entry) => canonical(entry, depth + 1)).join(",")}]`;
  }
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value)
    .filter(([, member]) => member !== null && member !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, member]) => `${JSON.stringify(name)}:${canonical(member, depth + 1)}`);
  return `{${members.join(",")}}`;
}
