import type { z } from "zod";
import { type Asked, checkAnswer, readAnswer } from "./answers.ts";
import type { CallOptions, HttpAnswer, NoAnswer, Transport } from "./transport.ts";

/** Query values; undefined ones are left out. */
export type Query = Record<string, string | number | undefined>;

/** Options of a write whose key is optional. */
export interface WriteOptions extends CallOptions {
  /** Up to 64 characters; the same on a resend of the same request (API specification, section 7). */
  idempotencyKey?: string | undefined;
}

/** Options of a write that moves money: the key says which one it is, so it can't be left out. */
export interface MoneyWriteOptions extends CallOptions {
  idempotencyKey: string;
}

interface Write extends WriteOptions {
  method: "POST" | "PATCH" | "DELETE";
  path: string;
  /** Sent as JSON; undefined for a request without a body. */
  body?: unknown;
}

/** What all resources share: asking, and reading the answer. */
export class Requester {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** A read; asked once more with a fresh token after a 401. */
  async read<T>(
    path: string,
    schema: z.ZodType<T>,
    options: CallOptions & { query?: Query } = {},
  ): Promise<T> {
    const { query, ...call } = options;
    const request = { ...call, method: "GET" as const, path, query: encodeQuery(query) };
    let answer = await this.#transport.send(request);
    if (answer.kind === "http" && answer.status === 401) {
      answer = await this.#transport.send(request);
    }
    return readAnswer({ method: "GET", path }, answer, schema);
  }

  /** A write, sent at most once, whatever is answered. */
  async write<T>(write: Write, schema: z.ZodType<T>): Promise<T> {
    return readAnswer(askedBy(write), await this.#send(write), schema);
  }

  /** A write whose answer has no body that matters. */
  async writeWithoutAnswer(write: Write): Promise<void> {
    checkAnswer(askedBy(write), await this.#send(write));
  }

  #send(write: Write): Promise<HttpAnswer | NoAnswer> {
    const { body, ...request } = write;
    checkIdempotencyKey(request.idempotencyKey);
    const bodyText = body === undefined ? undefined : JSON.stringify(body);
    return this.#transport.send({ ...request, bodyText });
  }
}

function askedBy({ method, path }: Asked): Asked {
  return { method, path };
}

/** @throws {TypeError} for a key that the service would refuse or a header can't carry. */
export function checkIdempotencyKey(key: string | undefined): void {
  if (key !== undefined && !/^[\x21-\x7e]{1,64}$/.test(key)) {
    throw new TypeError("idempotencyKey must be 1 to 64 visible ASCII characters");
  }
}

/**
 * An id as one segment of a path.
 *
 * @throws {TypeError} for an empty id and for dots, which would address something else.
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
