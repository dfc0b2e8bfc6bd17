import { type Dispatcher, request } from "undici";

import { allowText, crossesInTheClear } from "../../config/plaintext.ts";
import { reasonOf, usageError } from "../terminal/cli-error.ts";

export interface HttpAnswer {
  readonly status: number;
  /** The parsed JSON; the text itself where it is none. */
  readonly body: unknown;
  /** Under which the gateway's log has the request. */
  readonly requestId: string | undefined;
}

/** Nobody answered; `message` says why. */
class NoAnswerError extends Error {
  override readonly name = "NoAnswerError";
}

/**
 * One request with JSON both ways.
 *
 * @param token sent as a bearer token
 * @throws {NoAnswerError} where there was no answer in time
 * @throws {CliError} 2 where the token would cross a network in the clear
 */
export async function httpJson(
  method: "GET" | "POST" | "PATCH" | "DELETE",
  url: string,
  options: Bearer & { readonly body?: unknown; readonly timeoutMs?: number } = {},
): Promise<HttpAnswer> {
  const { body, timeoutMs = 30_000 } = options;
  const authorization = bearer(url, options);
  try {
    const answer = await request(url, {
      method,
      headers: {
        accept: "application/json",
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...authorization,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(timeoutMs),
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
    });
    return await answerOf(answer);
  } catch (error) {
    throw new NoAnswerError(whyOf(error), { cause: error });
  }
}

/** Whose token a request carries. */
export interface Bearer {
  readonly token?: string | undefined;
  /** True where somebody has said that the network is private. */
  readonly mayCrossInTheClear?: boolean;
}

/** @throws {CliError} 2 where the token would cross a network in the clear */
function bearer(
  url: string,
  { token, mayCrossInTheClear = false }: Bearer,
): { readonly authorization?: string } {
  if (token === undefined) return {};
  if (mayCrossInTheClear || !crossesInTheClear(url)) return { authorization: `Bearer ${token}` };
  throw usageError(
    `${new URL(url).origin} is another machine without TLS: your token would cross the network in the clear`,
    `Set PAYRUN_GATEWAY_URL to an https:// address. ${allowText("gateway")}`,
  );
}

/**
 * Reads a text as it comes, so that one of any size is never held at once.
 *
 * @param idleMs how long nothing may come
 * @returns the text in parts where the status is 200, else the answer
 * @throws {NoAnswerError} where there was no answer in time; the parts throw it where they break off
 */
export async function httpText(
  url: string,
  { idleMs, ...who }: Bearer & { readonly idleMs: number },
): Promise<HttpAnswer | { readonly status: 200; readonly parts: AsyncIterable<string> }> {
  const headers = bearer(url, who);
  try {
    const answer = await request(url, { headers, headersTimeout: idleMs, bodyTimeout: idleMs });
    if (answer.statusCode !== 200) return await answerOf(answer);
    return { status: answer.statusCode, parts: inParts(answer.body) };
  } catch (error) {
    throw new NoAnswerError(whyOf(error), { cause: error });
  }
}

async function answerOf({
  statusCode,
  headers,
  body,
}: Dispatcher.ResponseData): Promise<HttpAnswer> {
  const requestId = [headers["x-request-id"]].flat()[0];
  return { status: statusCode, body: parsed(await body.text()), requestId };
}

async function* inParts(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  try {
    for await (const bytes of body) yield decoder.decode(bytes, { stream: true });
    yield decoder.decode();
  } catch (error) {
    throw new NoAnswerError(`the answer broke off (${whyOf(error)})`, { cause: error });
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function whyOf(error: unknown): string {
  if (error instanceof Error && error.name === "TimeoutError") return "no answer in time";
  const code = error instanceof Error && "code" in error ? String(error.code) : undefined;
  return code === "ECONNREFUSED" ? "nothing listens there" : (code ?? reasonOf(error));
}
