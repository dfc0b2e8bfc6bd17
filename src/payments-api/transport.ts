import { Pool, type Dispatcher } from "undici";
import { Deadline } from "./deadline.ts";
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

/** A page of a hundred records has some 100 KB. */
const maxAnswerBytes = 16 * 1024 * 1024;

/** Longer answers of one service are received one at a time, so that together they take little. */
const longAnswerBytes = 256 * 1024;
const connectTimeoutMs = 10_000;

/**
 * Sends each request at most once and reports the result. It resends nothing, follows no redirect,
 * and throws no failure: what a failure means depends on the request.
 */
export class Transport {
  readonly #options: TransportOptions;
  readonly #pool: Pool;
  readonly #dispatcher: Dispatcher;
  readonly #slots: Slots;
  readonly #longAnswers = new Slots(1);
  readonly #pathPrefix: string;

  constructor(options: TransportOptions) {
    this.#options = options;
    this.#pathPrefix = options.baseUrl.pathname.replace(/\/+$/, "");
    this.#slots = new Slots(options.connections);
    this.#pool = new Pool(options.baseUrl.origin, {
      connections: options.connections,
      pipelining: 1,
      // HTTP/2 sends a stream again after GOAWAY: a write must not go out twice.
      allowH2: false,
      connectTimeout: connectTimeoutMs,
      // The deadline covers both, including the queue.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    this.#dispatcher = this.#pool.compose(sendGates);
  }

  async send(request: TransportRequest): Promise<HttpAnswer | NoAnswer> {
    const timeoutMs = request.timeoutMs ?? this.#options.timeoutMs;
    const deadline = new Deadline(timeoutMs, request.signal);
    try {
      if (!(await this.#slots.acquire(deadline.signal))) {
        return notSent(
          deadline.stoppedByCaller
            ? "stopped by the caller"
            : `no connection was free within ${timeoutMs} ms`,
        );
      }
      return await this.#sendInSlot(request, deadline, timeoutMs);
    } finally {
      deadline.end();
    }
  }

  /** Waits for requests in flight, then closes the connections. */
  close(): Promise<void> {
    return this.#pool.close();
  }

  async #sendInSlot(
    request: TransportRequest,
    deadline: Deadline,
    timeoutMs: number,
  ): Promise<HttpAnswer | NoAnswer> {
    const gate = new SendGate(deadline, request.leaveBy);
    let exchange: Promise<HttpAnswer | NoAnswer> | undefined;
    try {
      const token = await deadline.race(this.#options.tokens.get());
      if (token === undefined) return notSent(interrupted(deadline, timeoutMs));
      await deadline.race(Promise.resolve(request.beforeSend?.()));
      if (deadline.passed) return notSent(interrupted(deadline, timeoutMs));
      exchange = this.#exchange(request, token, gate);
      const answer = await deadline.race(exchange);
      if (answer !== undefined && answer.kind === "http") return answer;
      const reason = deadline.signal.aborted ? interrupted(deadline, timeoutMs) : answer?.reason;
      if (answer?.code === "too_long") return answer;
      return gate.sent
        ? { kind: "no-answer", sent: true, code: "no_answer", reason: reason ?? "no answer" }
        : notSent(reason ?? "not sent");
    } catch (error) {
      if (error instanceof TokenUnavailableError) {
        return { kind: "no-answer", sent: false, code: "token_unavailable", reason: error.message };
      }
      return notSent(`stopped before sending: ${messageOf(error)}`);
    } finally {
      // A request that was called back while connecting still holds its connection.
      if (exchange === undefined) this.#slots.release();
      else void exchange.finally(() => this.#slots.release());
    }
  }

  /** Exchanges one request and response. Never rejects; the gate knows whether the request left. */
  async #exchange(
    request: TransportRequest,
    token: string,
    gate: SendGate,
  ): Promise<HttpAnswer | NoAnswer> {
    try {
      const { statusCode, headers, body } = await this.#dispatcher.request({
        method: request.method,
        path: this.#pathPrefix + request.path + (request.query ? `?${request.query}` : ""),
        headers: headersOf(request, token),
        body: request.bodyText ?? request.form?.bytes ?? null,
        signal: gate.signal,
        opaque: gate,
      });
      const announced = Number(single(headers["content-length"]) ?? Number.NaN);
      // No more than what was announced is ever received.
      const received =
        announced <= longAnswerBytes ? await body.text() : await this.#receive(body, gate.signal);
      if (received === undefined) {
        const reason = `its answer is longer than ${maxAnswerBytes} bytes`;
        return { kind: "no-answer", sent: true, code: "too_long", reason };
      }
      return this.#answer(statusCode, headers, withoutToken(received, token), token);
    } catch (error) {
      const reason = withoutToken(describeFailure(error), token);
      return { kind: "no-answer", sent: gate.sent, code: "no_answer", reason };
    }
  }

  /**
   * Receives the body of an answer; undefined if it is too long to be one.
   *
   * @throws {Error} if the deadline passes first
   */
  async #receive(
    body: AsyncIterable<Uint8Array>,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const chunks: Uint8Array[] = [];
    let length = 0;
    let isLong = false;
    try {
      // Leaving the loop early ends the connection.
      for await (const chunk of body) {
        length += chunk.length;
        if (length > maxAnswerBytes) return undefined;
        if (!isLong && length > longAnswerBytes) {
          if (!(await this.#longAnswers.acquire(signal))) throw new Error("no time to receive it");
          isLong = true;
        }
        chunks.push(chunk);
      }
      return new TextDecoder().decode(Buffer.concat(chunks));
    } finally {
      if (isLong) this.#longAnswers.release();
    }
  }

  #answer(
    status: number,
    headers: Record<string, string | string[] | undefined>,
    bodyText: string,
    token: string,
  ): HttpAnswer {
    const { now, onDate, onRateLimit, tokens } = this.#options;
    const headersDateMs = parseHttpDate(single(headers["date"]));
    const retryAfterMs = parseRetryAfter(single(headers["retry-after"]), headersDateMs ?? now());
    if (status === 401) tokens.invalidate(token);
    if (headersDateMs !== undefined) tell(onDate, headersDateMs);
    if (status === 429 && retryAfterMs !== undefined) tell(onRateLimit, now() + retryAfterMs);
    return { kind: "http", status, bodyText, headersDateMs, retryAfterMs };
  }
}

/** Lets one request onto the wire, once, and only in time. */
class SendGate {
  readonly #deadline: Deadline;
  readonly #leaveBy: TimeLimit | undefined;
  #sent = false;

  constructor(deadline: Deadline, leaveBy: TimeLimit | undefined) {
    this.#deadline = deadline;
    this.#leaveBy = leaveBy;
  }

  get signal(): AbortSignal {
    return this.#deadline.signal;
  }

  get sent(): boolean {
    return this.#sent;
  }

  /**
   * Called when a connection is ready and before the first byte; if it throws, nothing is sent.
   * Between its return and the write to the socket undici waits for nothing: it only composes the
   * head.
   */
  pass(): void {
    if (this.#sent) throw new Error("a request is never sent a second time");
    if (this.#deadline.passed) throw new Error("the time limit had passed before it could be sent");
    if (this.#leaveBy?.passed) throw new Error("its time to leave had passed");
    this.#sent = true;
  }
}

/** undici's interceptor, which calls the request's gate when its turn on a connection has come. */
function sendGates(dispatch: Dispatcher.Dispatch): Dispatcher.Dispatch {
  return (options, handler) => {
    const gate = "opaque" in options ? options.opaque : undefined;
    if (!(gate instanceof SendGate)) throw new Error("a request needs a gate");
    return dispatch(options, {
      onRequestStart(controller, context) {
        gate.pass();
        handler.onRequestStart?.(controller, context);
      },
      onResponseStart: (controller, status, headers, text) =>
        handler.onResponseStart?.(controller, status, headers, text),
      onResponseData: (controller, chunk) => handler.onResponseData?.(controller, chunk),
      onResponseEnd: (controller, trailers) => handler.onResponseEnd?.(controller, trailers),
      onResponseError: (controller, error) => handler.onResponseError?.(controller, error),
    });
  };
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
