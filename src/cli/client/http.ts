import { type Dispatcher, request } from "undici";

import { WaysOut } from "../../outgoing/ways-out.ts";
import { allowText, crossesInTheClear } from "../../config/plaintext.ts";
import { errorReason, usageError } from "../terminal/cli-error.ts";

export interface GatewayAnswer {
  readonly status: number;
  /** The parsed JSON; the raw text if it isn't JSON. */
  readonly body: unknown;
  /** The request's id in the gateway's log. */
  readonly requestId: string | undefined;
}

const ways = new WaysOut();

/** No response arrived; `message` says why. */
class NoAnswerError extends Error {
  override readonly name = "NoAnswerError";
}

/**
 * Sends one request with a JSON body and reads a JSON response.
 *
 * @param token sent as a bearer token
 * @throws {NoAnswerError} if no response arrived in time
 * @throws {CliError} 2 if the token would cross a network in the clear
 */
export async function httpJson(
  method: "GET" | "POST" | "PATCH" | "DELETE",
  url: string,
  options: Bearer & { readonly body?: unknown; readonly timeoutMs?: number } = {},
): Promise<GatewayAnswer> {
  const { body, timeoutMs = 30_000 } = options;
  const authorization = bearer(url, options);
  try {
    const answer = await request(url, {
      dispatcher: ways.to(url),
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

/** The token that a request carries. */
export interface Bearer {
  readonly token?: string | undefined;
  /** True if the settings declare the network private. */
  readonly mayCrossInTheClear?: boolean;
}

/** @throws {CliError} 2 if the token would cross a network in the clear */
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
 * Reads a text as it arrives, so that a text of any size is never held in memory as a whole.
 *
 * @param idleMs the longest that the connection may stay silent
 * @returns the text in parts if the status is 200, otherwise the response
 * @throws {NoAnswerError} if no response arrived in time; iterating the parts throws it if the
 *   response breaks off
 */
export async function httpText(
  url: string,
  { idleMs, ...who }: Bearer & { readonly idleMs: number },
): Promise<GatewayAnswer | { readonly status: 200; readonly parts: AsyncIterable<string> }> {
  const headers = bearer(url, who);
  try {
    const answer = await request(url, {
      dispatcher: ways.to(url),
      headers,
      headersTimeout: idleMs,
      bodyTimeout: idleMs,
    });
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
}: Dispatcher.ResponseData): Promise<GatewayAnswer> {
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
  return code === "ECONNREFUSED" ? "nothing listens there" : (code ?? errorReason(error));
}
