import { setTimeout as sleep } from "node:timers/promises";
import type { SandboxContext } from "../context.ts";
import type { HitFault, FaultMoment, Faults } from "../control/faults.ts";
import { bodyHashOf, type RequestLog } from "../control/request-log.ts";
import { allOrNothing, transaction } from "../db.ts";
import type { PaymentEngine } from "../payments/engine.ts";
import { ApiError } from "./api-error.ts";
import {
  type Claim,
  fingerprintOf,
  type IdempotencyKeys,
  isClaim,
  type StoredAnswer,
} from "./idempotency.ts";
import type { TokenHolder, ServiceOperation, RawCall } from "./operation.ts";
import { errorAnswer, faultAnswer, type ReadyAnswer, plainAnswer } from "./answers.ts";
import { parseJsonBody } from "./body.ts";
import { parseMultipartBody } from "./multipart.ts";
import type { Tokens } from "./tokens.ts";

const longestKey = 64;

/** A request as a server hands it over; `path` is decoded. */
export interface ServiceRequest {
  /** What the fingerprint calls the request's channel: a REST method, or an MCP tool. */
  channel: string;
  /** What the log calls the request's method. */
  logAs: string;
  method: string;
  path: string;
  params: Readonly<Record<string, string>>;
  query: Readonly<Record<string, string>>;
  authorization: string | undefined;
  /** Every key that was sent; there should be at most one. */
  idempotencyKeys: readonly string[];
  body: RequestBody;
}

/** A body as it arrived, or with a function that reads it and may refuse it. */
type RequestBody =
  | { raw: Uint8Array<ArrayBuffer>; contentType: string | undefined }
  | { raw: Uint8Array<ArrayBuffer>; value: () => unknown };

/** The parts that answering needs. */
export interface ServiceParts {
  ctx: SandboxContext;
  engine: PaymentEngine;
  tokens: Tokens;
  keys: IdempotencyKeys;
  faults: Faults;
  log: RequestLog;
}

interface Acted {
  answer: StoredAnswer;
  code?: string | undefined;
  fault?: HitFault | undefined;
}

/**
 * Answers one request, in this order: faults "before", 401, 403, body, idempotency key, action,
 * faults "after".
 */
export async function answerRequest(
  parts: ServiceParts,
  operation: ServiceOperation | undefined,
  request: ServiceRequest,
): Promise<ReadyAnswer> {
  const exchange: Exchange = { caller: undefined };
  const answer = await new Answering(parts, request, exchange).answer(operation);
  parts.log.add({
    method: request.logAs,
    path: request.path,
    business: exchange.caller?.businessId ?? null,
    key: request.idempotencyKeys[0] ?? null,
    bodyHash: bodyHashOf(request.body.raw),
    status: answer.drop === true ? null : answer.status,
    at: new Date(parts.ctx.clock.wireNow()).toISOString(),
  });
  return answer;
}

interface Exchange {
  caller: TokenHolder | undefined;
}

class Answering {
  readonly #parts: ServiceParts;
  readonly #request: ServiceRequest;
  readonly #exchange: Exchange;

  constructor(parts: ServiceParts, request: ServiceRequest, exchange: Exchange) {
    this.#parts = parts;
    this.#request = request;
    this.#exchange = exchange;
  }

  async answer(operation: ServiceOperation | undefined): Promise<ReadyAnswer> {
    try {
      const fault = this.#takeFault("before");
      if (fault?.effect === "late") return this.#hangUp(fault, () => this.#carryOut(operation));
      if (fault !== undefined) {
        if (fault.effect !== "delay") return this.#struck(fault, undefined);
        await sleep(fault.delayMs);
      }
      return await this.#carryOut(operation);
    } catch (error) {
      return errorAnswer(error);
    }
  }

  async #carryOut(operation: ServiceOperation | undefined): Promise<ReadyAnswer> {
    const { engine, tokens } = this.#parts;
    try {
      engine.takeDueNow();
      const caller = await tokens.check(this.#request.authorization);
      if (caller === undefined) return plainAnswer(401, "Unauthorized");
      this.#exchange.caller = caller;
      if (operation === undefined) {
        throw new ApiError(404, "not_found", "There is no such operation");
      }
      const answer = await this.#perform(operation, caller);
      if (operation.method !== "GET") engine.wake();
      return answer;
    } catch (error) {
      return errorAnswer(error);
    }
  }

  async #perform(operation: ServiceOperation, caller: TokenHolder): Promise<ReadyAnswer> {
    const isAllowed = operation.scopes.some((scope) => caller.scopes.has(scope));
    if (!isAllowed) return this.#forbid(operation, caller);
    const call = await this.#call(operation, caller);
    const key = this.#key(operation);
    if (key === undefined) return this.#finish(this.#act(operation, call, undefined), undefined);
    const { ctx, faults } = this.#parts;
    if (!faults.mayStrike("during")) {
      // Nothing can happen between them, so one commit holds the claim, the effect and the answer.
      const done = transaction(ctx.db, () => {
        const claim = this.#claim(operation, call, key);
        return isClaim(claim) ? { claim, acted: this.#act(operation, call, claim) } : claim;
      });
      return "acted" in done ? this.#finish(done.acted, done.claim) : this.#replay(done);
    }
    const claim = this.#claim(operation, call, key);
    if (!isClaim(claim)) return this.#replay(claim);
    const during = this.#takeFault("during");
    if (during?.effect === "drop") return this.#struck(during, undefined);
    if (during?.effect === "late") {
      return this.#hangUp(during, () => this.#act(operation, call, claim));
    }
    if (during?.effect === "delay") await sleep(during.delayMs);
    if (during?.effect === "status" || during?.effect === "malformed") {
      return this.#dieBeforeEffect(during, claim);
    }
    const acted = this.#act(operation, { ...call, partially: during?.effect === "partial" }, claim);
    return this.#finish(acted, claim);
  }

  #replay(answer: StoredAnswer): Promise<ReadyAnswer> {
    const isSuccess = answer.status < 300;
    const fault = isSuccess ? this.#takeFault("after") : undefined;
    return this.#finish({ answer, fault }, undefined);
  }

  async #call(operation: ServiceOperation, caller: TokenHolder): Promise<RawCall> {
    const { params, query } = this.#request;
    const body = await this.#body(operation);
    return { ctx: this.#parts.ctx, caller, params, query, body, partially: false };
  }

  async #body(operation: ServiceOperation): Promise<unknown> {
    const { body } = this.#request;
    if ("value" in body) return body.value();
    if (operation.method === "GET" || body.raw.length === 0) return undefined;
    if (operation.bodyKind === "multipart") return parseMultipartBody(body.raw, body.contentType);
    return parseJsonBody(body.raw, body.contentType);
  }

  /**
   * Returns the key to claim, if any. @throws {ApiError} 400: missing, too long, or not accepted.
   */
  #key(operation: ServiceOperation): string | undefined {
    const [first, ...more] = this.#request.idempotencyKeys;
    const key = first?.trim() || undefined;
    const refuse = (message: string) =>
      new ApiError(400, "validation_error", message, { field: "Idempotency-Key" });
    const { idempotency } = operation;
    if (idempotency === "none") return undefined;
    if (more.length > 0) throw refuse("Only one Idempotency-Key may be sent");
    if (idempotency === "refused" && key !== undefined) {
      throw refuse("This operation does not accept an Idempotency-Key");
    }
    if (idempotency === "required" && key === undefined) {
      throw refuse("The header Idempotency-Key is required");
    }
    if (key !== undefined && key.length > longestKey) {
      throw refuse(`The header Idempotency-Key may have at most ${longestKey} characters`);
    }
    return key;
  }

  #claim(operation: ServiceOperation, call: RawCall, key: string): Claim | StoredAnswer {
    return this.#parts.keys.claim({
      businessId: call.caller.businessId,
      key,
      fingerprint: fingerprintOf(this.#request.channel, this.#request.path, call.body),
      money: operation.money === true,
    });
  }

  /** Returns a 403, and stores it under the key if the request could claim one. */
  async #forbid(operation: ServiceOperation, caller: TokenHolder): Promise<ReadyAnswer> {
    const forbidden = plainAnswer(403, "Forbidden");
    try {
      const call = await this.#call(operation, caller);
      const key = this.#key(operation);
      if (key === undefined || this.#parts.keys.isUsed(caller.businessId, key)) return forbidden;
      const claim = this.#claim(operation, call, key);
      if (isClaim(claim)) this.#parts.keys.settle(claim, forbidden, undefined);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
    }
    return forbidden;
  }

  /** Runs the action; its effect and what is stored under the key are one transaction. */
  #act(operation: ServiceOperation, call: RawCall, claim: Claim | undefined): Acted {
    const { ctx, keys } = this.#parts;
    const isWrite = operation.method !== "GET";
    try {
      const run = (): Acted => {
        const { status, body } = operation.run(call);
        const answer = { status, body: body === undefined ? null : JSON.stringify(body) };
        const fault = call.partially ? partialFault : this.#takeFault("after");
        if (claim !== undefined) keys.settle(claim, this.#storedAnswer(answer, fault), undefined);
        return { answer, fault };
      };
      return isWrite ? allOrNothing(ctx.db, run) : run();
    } catch (error) {
      const { status, body, code } = errorAnswer(error);
      if (claim !== undefined) keys.settle(claim, { status, body }, code);
      return { answer: { status, body }, code };
    }
  }

  /**
   * Returns what the service itself stores in place of an answer that a fault replaces. A 5xx is
   * the service's own failure after the effect; any other fault happens on the way to the client.
   */
  #storedAnswer(answer: StoredAnswer, fault: HitFault | undefined): StoredAnswer {
    const isOwnFailure = fault?.effect === "status" && fault.status >= 500;
    return isOwnFailure ? { status: fault.status, body: null } : answer;
  }

  #dieBeforeEffect(fault: HitFault, claim: Claim): ReadyAnswer {
    const answer = this.#struck(fault, undefined);
    const failed = { status: 500, body: null };
    this.#parts.keys.settle(claim, fault.effect === "status" ? answer : failed, undefined);
    return answer;
  }

  async #finish({ answer, fault }: Acted, claim: Claim | undefined): Promise<ReadyAnswer> {
    if (fault === undefined) return { ...answer, headers: {} };
    if (fault.effect !== "delay") return this.#struck(fault, answer);
    using _ = claim === undefined ? undefined : this.#parts.keys.answering(claim);
    await sleep(fault.delayMs);
    return { ...answer, headers: {} };
  }

  /**
   * Closes the connection now and does the work later, when nothing waits for its answer any more.
   */
  #hangUp(fault: HitFault, work: () => unknown): ReadyAnswer {
    const { engine } = this.#parts;
    // Pending work doesn't keep the service alive once it has to stop.
    void sleep(fault.delayMs, undefined, { ref: false })
      .then(work)
      .then(() => engine.wake());
    return this.#struck(fault, undefined);
  }

  #takeFault(moment: FaultMoment): HitFault | undefined {
    return this.#parts.faults.take(moment, this.#request.method, this.#request.path);
  }

  #struck(fault: HitFault, answer: StoredAnswer | undefined): ReadyAnswer {
    return faultAnswer(fault, answer, this.#parts.ctx.clock.wireNow());
  }
}

const partialFault: HitFault = {
  effect: "status",
  status: 500,
  retryAfterSeconds: undefined,
  byDate: false,
  delayMs: 0,
};
