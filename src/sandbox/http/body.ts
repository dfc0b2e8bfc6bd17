import type { IncomingMessage } from "node:http";
import { ApiError } from "./api-error.ts";

const largestJsonBytes = 1_048_576;
/** The limit of a body with files, which may be larger. */
export const largestUploadBytes = 10 * 1_048_576;

/**
 * Reads a request's body.
 *
 * @throws {ApiError} 413 above the limit, which is 1 MiB by default; the rest of the body is not
 * read. 400 if the body breaks off.
 */
export async function readBody(
  incoming: IncomingMessage,
  largestBytes = largestJsonBytes,
): Promise<Uint8Array<ArrayBuffer>> {
  const tooLarge = () => {
    const message = `The body may have at most ${largestBytes} bytes`;
    return new ApiError(413, "payload_too_large", message);
  };
  if (Number(incoming.headers["content-length"] ?? 0) > largestBytes) throw tooLarge();
  // From Node's own stream: the web stream that the framework offers costs half a request's time.
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    // Destroying the stream would close the connection too, and the 413 would never arrive.
    const stream = incoming.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>;
    for await (const chunk of stream) {
      length += chunk.length;
      if (length > largestBytes) throw tooLarge();
      chunks.push(chunk);
    }
  } catch (error) {
    if (error instanceof ApiError) throw error;
    throw new ApiError(400, "validation_error", "The body ended too early");
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
