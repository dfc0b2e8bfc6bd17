import { z } from "zod";
import { ApiError } from "./api-error.ts";

const mostFields = 50;

/**
 * A file of a multipart body with its bytes already read, because a handler can't wait for a
 * `File`'s bytes.
 */
export class ReceivedFile extends File {
  readonly content: Uint8Array;

  constructor(content: ArrayBuffer, name: string, type: string) {
    super([new Uint8Array(content)], name, { type });
    this.content = new Uint8Array(content);
  }
}

/**
 * Returns the schema of a multipart field that must be a file; its value is the file's bytes. The
 * name and type that came with the file are only the sender's claim, so neither is passed on.
 *
 * @param largestBytes a larger file is a 422.
 */
export function fileField(largestBytes: number): z.ZodType<Uint8Array> {
  return z
    .file({ error: "must be a file" })
    .min(1, { error: "is empty" })
    .max(largestBytes, { error: `may have at most ${largestBytes} bytes` })
    .transform((file, check) => {
      if (file instanceof ReceivedFile) return file.content;
      check.issues.push({ code: "custom", input: file, message: "must be a file" });
      return z.NEVER;
    });
}

/**
 * Parses a `multipart/form-data` body into an object of its fields: texts and
 * {@link ReceivedFile}s.
 *
 * @throws {ApiError} 415 for another content type; 400 if the body doesn't follow its boundary, has
 * a field twice, or has too many fields.
 */
export async function parseMultipartBody(
  body: Uint8Array,
  contentType: string | undefined,
): Promise<Record<string, unknown>> {
  if (!/^multipart\/form-data\s*(;|$)/i.test(contentType ?? "")) {
    throw new ApiError(
      415,
      "validation_error",
      "The body must be sent with Content-Type: multipart/form-data",
    );
  }
  const fields = new Map<string, unknown>();
  for (const [name, value] of await readForm(body, contentType ?? "")) {
    if (fields.has(name)) throw malformedForm(`The field "${name}" is there twice`);
    if (fields.size === mostFields) throw malformedForm(`A body has at most ${mostFields} fields`);
    fields.set(
      name,
      typeof value === "string"
        ? value
        : new ReceivedFile(await value.arrayBuffer(), value.name, value.type),
    );
  }
  return Object.fromEntries(fields);
}

async function readForm(body: Uint8Array, contentType: string): Promise<FormData> {
  try {
    const headers = { "content-type": contentType };
    return await new Response(new Uint8Array(body), { headers }).formData();
  } catch {
    throw malformedForm("The body is not valid multipart/form-data");
  }
}

function malformedForm(message: string): ApiError {
  return new ApiError(400, "validation_error", message);
}
