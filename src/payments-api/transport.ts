import type { Dispatcher } from "undici";
import { wayTo } from "../outgoing/ways-out.ts";
import { Deadline } from "./deadline.ts";
import { Exchange, type Headers, TooLongError } from "./exchange.ts";
import type { EncodedForm } from "./form.ts";
import { parseHttpDate, parseRetryAfter } from "./retry-after.ts";
import { Slots } from "./slots.ts";
import type { TimeLimit } from "./time-limit.ts";
import { type TokenProvider, TokenUnavailableError } from "./token.ts";

/** A caller's options for one request. */
export interface CallOptions {
  /** Stops the request; one that has not left yet never will. */
  signal?: AbortSignal | undefined;
  /** From the call to the last byte of the response, including the wait for a connection. */
  timeoutMs?: number | undefined;
  /**
   * Called when a connection is free, as the last step before the request leaves. If it throws,
   * nothing is sent.
   */
  beforeSend?: (() => void | Promise<void>) | undefined;
  /**
   * The time until which the request may leave. The caller starts it before deciding that the
   * request may leave. It is checked in the same turn of the event loop as the write to the socket;
   * after it, nothing is sent.
   */
  leaveBy?: TimeLimit | undefined;
}

interface TransportRequest extends CallOptions {
  method: "GET" | "POST" | "PATCH" | "DELETE";
  /** Begins with `/`; without query. */
  path: string;
  /** Encoded, without `?`; empty for none. */
  query?: string;
  /** Exact bytes of a JSON body; undefined for a request without one. */
  bodyText?: string | undefined;
  /** In place of `bodyText`. */
  form?: EncodedForm | undefined;
  idempotencyKey?: string | undefined;
}

export interface HttpAnswer {
  kind: "http";
  status: number;
  bodyText: string;
  /** The service's `Date` header, in epoch milliseconds. */
  headersDateMs: number | undefined;
  retryAfterMs: number | undefined;
}

export interface NoAnswer {
  kind: "no-answer";
  /** False if the request certainly never left. */
  sent: boolean;
  code: "no_answer" | "not_sent" | "token_unavailable" | "too_long";
  reason: string;
}

interface TransportOptions {
  baseUrl: URL;
  tokens: TokenProvider;
  timeoutMs: number;
  connections: number;
  /** The service's clock, in epoch milliseconds. */
  now: () => number;
  onDate: ((dateMs: number) => void) | undefined;
  onRateLimit: ((untilMs: number) => void) | undefined;
}

const connectTimeoutMs = 10_000;

/**
 * Sends each request at most once and reports the result. It resends nothing, follows no redirect,
 * and throws no failure: what a failure means depends on the request.
 */
export class Transport {
  readonly #options: TransportOptions;
  readonly #way: Dispatcher;
  readonly #slots: Slots;
  readonly #longAnswers = new Slots(1);
  readonly #pathPrefix: string;

  constructor(options: TransportOptions) {
    this.#options = options;
    this.#pathPrefix = options.baseUrl.pathname.replace(/\/+$/, "");
    this.#slots = new Slots(options.connections);
    this.#way = wayTo(options.baseUrl.origin, {
      connections: options.connections,
      pipelining: 1,
      // HTTP/2 sends a stream again after GOAWAY: a write must not go out twice.
      allowH2: false,
      connectTimeout: connectTimeoutMs,
      // The deadline covers both, including the queue.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  }

  async send(request: TransportRequest): Promise<HttpAnswer | NoAnswer> {
    const timeoutMs = request.timeoutMs ?? this.#options.timeoutMs;
    const deadline = new Deadline(timeoutMs, request.signal);
    try {
      if (!(await this.#slots.acquire(deadline))) {
        return notSent(
          deadline.stoppedByCaller
            ? "stopped by the caller"
            : `no connection was free within ${timeoutMs} ms`,
        );
      }
      return await this.#sendInSlot(request, deadline, timeoutMs);
    } finally {
      deadline.close();
    }
  }

  /** Waits for requests in flight, then closes the connections. */
  close(): Promise<void> {
    return this.#way.close();
  }

  async #sendInSlot(
    request: TransportRequest,
    deadline: Deadline,
    timeoutMs: number,
  ): Promise<HttpAnswer | NoAnswer> {
    let exchange: Exchange | undefined;
    try {
      const token = await deadline.race(this.#options.tokens.get());
      if (token === undefined) return notSent(interrupted(deadline, timeoutMs));
      if (request.beforeSend) await deadline.race(Promise.resolve(request.beforeSend()));
      if (deadline.passed) return notSent(interrupted(deadline, timeoutMs));
      exchange = new Exchange(deadline, request.leaveBy, this.#longAnswers);
      this.#way.dispatch(this.#dispatched(request, token), exchange);
      const answer = await deadline.race(this.#answerOf(exchange, token));
      if (answer?.kind === "http" || answer?.code === "too_long") return answer;
      const reason = deadline.ended ? interrupted(deadline, timeoutMs) : answer?.reason;
      return exchange.sent ? noAnswer(reason ?? "no answer") : notSent(reason ?? "not sent");
    } catch (error) {
      if (error instanceof TokenUnavailableError) {
        return { kind: "no-answer", sent: false, code: "token_unavailable", reason: error.message };
      }
      return notSent(`stopped before sending: ${messageOf(error)}`);
    } finally {
      // A request that was called back while connecting still holds its connection.
      const release = (): void => this.#slots.release();
      if (exchange === undefined) release();
      else exchange.answer.then(release, release);
    }
  }

  #dispatched(request: TransportRequest, token: string): Dispatcher.DispatchOptions {
    const { method, path, query, bodyText, form } = request;
    return {
      origin: this.#options.baseUrl.origin,
      method,
      path: this.#pathPrefix + path + (query ? `?${query}` : ""),
      headers: headersOf(request, token),
      body: bodyText ?? form?.bytes ?? null,
    };
  }

  /** Returns what came of an exchange. Never rejects; the exchange knows whether it left. */
  async #answerOf(exchange: Exchange, token: string): Promise<HttpAnswer | NoAnswer> {
    try {
      const { status, headers, bodyText } = await exchange.answer;
      return this.#answer(status, headers, withoutToken(bodyText, token), token);
    } catch (error) {
      if (error instanceof TooLongError) return { ...noAnswer(error.message), code: "too_long" };
      return noAnswer(withoutToken(describeFailure(error), token));
    }
  }

  #answer(status: number, headers: Headers, bodyText: string, token: string): HttpAnswer {
    const { now, onDate, onRateLimit, tokens } = this.#options;
    const headersDateMs = parseHttpDate(single(headers["date"]));
    const retryAfterMs = parseRetryAfter(single(headers["retry-after"]), headersDateMs ?? now());
    if (status === 401) tokens.invalidate(token);
    if (headersDateMs !== undefined) tell(onDate, headersDateMs);
    if (status === 429 && retryAfterMs !== undefined) tell(onRateLimit, now() + retryAfterMs);
    return { kind: "http", status, bodyText, headersDateMs, retryAfterMs };
  }
}

function headersOf(request: TransportRequest, token: string): Record<string, string> {
  const headers: Record<string, string> = {
    accept: "application/json",
    authorization: `Bearer ${token}`,
    "user-agent": "payrun",
  };
  if (request.bodyText !== undefined) headers["content-type"] = "application/json";
  else if (request.form !== undefined) headers["content-type"] = request.form.contentType;
  if (request.idempotencyKey !== undefined) headers["idempotency-key"] = request.idempotencyKey;
  return headers;
}

function notSent(reason: string): NoAnswer {
  return { kind: "no-answer", sent: false, code: "not_sent", reason };
}

function noAnswer(reason: string): NoAnswer {
  return { kind: "no-answer", sent: true, code: "no_answer", reason };
}

function interrupted(deadline: Deadline, timeoutMs: number): string {
  return deadline.stoppedByCaller ? "stopped by the caller" : `no answer within ${timeoutMs} ms`;
}

/** An observer's fault must not turn the response to a payment into no response. */
function tell(observer: ((ms: number) => void) | undefined, ms: number): void {
  try {
    observer?.(ms);
  } catch (error) {
    process.emitWarning(`an observer of the payments client failed: ${messageOf(error)}`);
  }
}

function single(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}

/** A service or proxy that echoes the request must not get the token into an error. */
function withoutToken(text: string, token: string): string {
  return text.includes(token) ? text.replaceAll(token, "[token]") : text;
}

function describeFailure(error: unknown): string {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const message = messageOf(error);
  return [code, message].filter((part) => part !== "").join(": ");
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : "unknown failure";
}
