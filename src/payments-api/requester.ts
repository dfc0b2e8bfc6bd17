import { setTimeout as sleep } from "node:timers/promises";
import type { z } from "zod";
import { type AskedRequest, checkAnswer, readAnswer } from "./answers.ts";
import type { Partly } from "./schemas/common.ts";
import { encodeForm, type FormFields } from "./form.ts";
import type { CallOptions, HttpAnswer, NoAnswer, Transport } from "./transport.ts";

/** Query values; undefined ones are left out. */
export type Query = Record<string, string | number | undefined>;

/** Options of a read. */
export interface ReadOptions extends CallOptions {
  /**
   * The total time to wait if the service asks to slow down (429), 10 s unless given: a reader of a
   * thousand pages would otherwise start over with each refusal. A single pause of more than a
   * minute is left to the caller.
   */
  patienceMs?: number | undefined;
}

/** Options of a write whose key is optional. */
export interface WriteOptions extends CallOptions {
  /**
   * Up to 64 characters; the same on a resend of the same request (API specification, section 7).
   */
  idempotencyKey?: string | undefined;
}

/** Options of a write that moves money. The key identifies the write, so it is required. */
export interface MoneyWriteOptions extends CallOptions {
  idempotencyKey: string;
}

interface Write extends WriteOptions {
  method: "POST" | "PATCH" | "DELETE";
  path: string;
  /** Sent as JSON; undefined for a request without a body. */
  body?: unknown;
  /** In place of `body`. */
  form?: FormFields;
  /** Account numbers, tax ids and birth dates of the body, which no error shows. */
  sensitive?: readonly string[];
}

/** The part that all resources share: sending requests and reading responses. */
export class Requester {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * Reads a resource. Tries once more with a fresh token after a 401, and a few times after
   * transient failures: a plan is made of thousands of reads, and must not start over because one
   * of them met a busy moment.
   */
  async read<T>(
    path: string,
    schema: z.ZodType<T>,
    options: ReadOptions & { query?: Query } = {},
    isAsked?: (data: T) => boolean,
  ): Promise<T> {
    const { query, patienceMs = READ_BUDGET_MS, ...call } = options;
    const request = { ...call, method: "GET" as const, path, query: encodeQuery(query) };
    const startedMs = performance.now();
    for (let tries = 1; ; tries += 1) {
      let answer = await this.#transport.send(request);
      if (answer.kind === "http" && answer.status === 401) {
        answer = await this.#transport.send(request);
      }
      const isSlowed = answer.kind === "http" && answer.status === 429;
      const budgetMs = isSlowed ? patienceMs : READ_BUDGET_MS;
      const isPatient = isSlowed && patienceMs > READ_BUDGET_MS;
      const pauseMs = isPatient ? patientPause(answer) : pauseBeforeNextRead(answer, tries);
      const spentMs = performance.now() - startedMs;
      if (pauseMs === undefined || spentMs + pauseMs > budgetMs) {
        return readAnswer({ method: "GET", path }, answer, schema, isAsked);
      }
      // If the caller stopped the read, the next send reports it.
      await sleep(pauseMs, undefined, call.signal && { signal: call.signal }).catch(
        () => undefined,
      );
    }
  }

  /**
   * Reads one record of a list by its id. A record of another id would be taken for this one: its
   * amount, its account, its state.
   *
   * @throws {OtherRecordError} if the answer shows a record with another id
   */
  readOne<T extends { readonly id: string } & Partly>(
    list: string,
    id: string,
    schema: z.ZodType<T>,
    options?: ReadOptions,
  ): Promise<T> {
    // One whose id can't be read says so by itself.
    const isAsked = (record: T): boolean =>
      record.id === id || record.unreadable?.["id"] !== undefined;
    return this.read(`${list}/${segment(id)}`, schema, options, isAsked);
  }

  /** Sends a write at most once, whatever the response. */
  async write<T>(write: Write, schema: z.ZodType<T>): Promise<T> {
    return readAnswer(askedBy(write), await this.#send(write), schema);
  }

  /** Sends a write whose response body doesn't matter. */
  async writeWithoutAnswer(write: Write): Promise<void> {
    checkAnswer(askedBy(write), await this.#send(write));
  }

  async #send(write: Write): Promise<HttpAnswer | NoAnswer> {
    const { body, form, sensitive: _, ...request } = write;
    checkIdempotencyKey(request.idempotencyKey);
    const bodyText = body === undefined ? undefined : JSON.stringify(body);
    const encoded = form && (await encodeForm(form));
    return this.#transport.send({ ...request, bodyText, form: encoded });
  }
}

/** Pauses between the tries of a read. */
const READ_PAUSES_MS = [100, 400, 1_600];

/** No try begins later than this: the caller waits for longer faults. */
const READ_BUDGET_MS = 10_000;

/** The pause of a patient read if the service asks for none. */
const SLOWED_PAUSE_MS = 2_000;

/** Longest single pause of a patient read. */
const PATIENT_PAUSE_MAX_MS = 60_000;

function patientPause(answer: HttpAnswer | NoAnswer): number | undefined {
  const askedMs = (answer.kind === "http" ? answer.retryAfterMs : undefined) ?? SLOWED_PAUSE_MS;
  return askedMs > PATIENT_PAUSE_MAX_MS ? undefined : Math.max(100, askedMs);
}

/** Returns the pause before the next try; undefined if another try would not help. */
function pauseBeforeNextRead(answer: HttpAnswer | NoAnswer, tries: number): number | undefined {
  const pauseMs = READ_PAUSES_MS[tries - 1];
  if (pauseMs === undefined) return undefined;
  if (answer.kind === "no-answer") return answer.code === "no_answer" ? pauseMs : undefined;
  const { status, retryAfterMs = 0 } = answer;
  const passes = status === 408 || status === 429 || status >= 500;
  return passes ? Math.max(pauseMs, retryAfterMs) : undefined;
}

function askedBy({ method, path, sensitive }: AskedRequest): AskedRequest {
  return { method, path, sensitive };
}

/** @throws {TypeError} for a key that the service would refuse or a header can't carry */
export function checkIdempotencyKey(key: string | undefined): void {
  if (key !== undefined && !/^[\x21-\x7e]{1,64}$/.test(key)) {
    throw new TypeError("idempotencyKey must be 1 to 64 visible ASCII characters");
  }
}

/**
 * Encodes an id as one segment of a path.
 *
 * @throws {TypeError} for an empty id and for dots, which would address something else
 */
export function segment(id: string): string {
  if (/^\.{0,2}$/.test(id)) throw new TypeError(`"${id}" is not an id`);
  return encodeURIComponent(id);
}

function encodeQuery(query: Query = {}): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) parameters.set(name, String(value));
  }
  return parameters.toString();
}
