import type { IncomingMessage } from "node:http";
import { ApiError } from "./api-error.ts";

const largestJsonBytes = 1_048_576;
/** The limit of a body with files, which may be larger. */
export const largestUploadBytes = 10 * 1_048_576;

/**
 * Reads a request's body to its end. What is above the limit is dropped, but still read: a client
 * that is sending when its connection closes sees a reset instead of the answer.
 *
 * @throws {ApiError} 413 above the limit, which is 1 MiB by default; 400 if the body breaks off.
 */
export async function receiveBody(
  incoming: IncomingMessage,
  largestBytes = largestJsonBytes,
): Promise<Uint8Array<ArrayBuffer>> {
  // From Node's own stream: the web stream that the framework offers costs half a request's time.
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const chunk of incoming as AsyncIterable<Uint8Array>) {
      length += chunk.length;
      if (length <= largestBytes) chunks.push(chunk);
      else chunks.length = 0;
    }
  } catch {
    throw new ApiError(400, "validation_error", "The body ended too early");
  }
  if (length > largestBytes) {
    const message = `The body may have at most ${largestBytes} bytes`;
    throw new ApiError(413, "payload_too_large", message);
  }
  return Buffer.concat(chunks, length);
}

/**
 * Parses a JSON body.
 *
 * @throws {ApiError} 415 for another content type, 400 if the body is not JSON.
 */
export function parseJsonBody(body: Uint8Array, contentType: string | undefined): unknown {
  if (!/^application\/json\s*(;|$)/i.test(contentType ?? "")) {
    throw new ApiError(
      415,
      "validation_error",
      "The body must be sent with Content-Type: application/json",
    );
  }
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
  } catch {
    throw new ApiError(400, "validation_error", "The body is not valid JSON");
  }
}
