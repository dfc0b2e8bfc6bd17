import type { Context } from "hono";
import type { ZodError, ZodType } from "zod";
import { GatewayError } from "../../actions/errors.ts";
import { readBody, SMALL_BODY_BYTES } from "./limits.ts";

/** Returns a request's body as JSON. @throws GatewayError if it isn't JSON */
export async function readJson(c: Context, mostBytes = SMALL_BODY_BYTES): Promise<unknown> {
  const bytes = await readBody(c, mostBytes);
  // An operation whose every field is optional may be called without a body.
  if (bytes.byteLength === 0) return {};
  requireJson(c);
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw new GatewayError(400, "malformed_json", "The body is not valid JSON in UTF-8.");
  }
}

/** @throws GatewayError 415 unless the request says that it carries JSON */
export function requireJson(c: Context): void {
  const type = c.req.header("content-type")?.split(";")[0]?.trim().toLowerCase();
  if (type === "application/json") return;
  throw new GatewayError(
    415,
    "unsupported_media_type",
    `Send the body as application/json${type === undefined ? "; the request names no type" : `, not ${type}`}.`,
  );
}

/**
 * Parses a part of a request by its schema. @throws GatewayError 400 naming the first field that is
 * wrong
 */
export function parsePart(part: string, schema: ZodType | undefined, value: unknown): unknown {
  if (schema === undefined) return {};
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw invalid(part, parsed.error);
}

function invalid(part: string, error: ZodError): GatewayError {
  const details = error.issues.map((issue) => {
    const path = issue.path.join(".") || null;
    if (part === "query parameter" && issue.code === "unrecognized_keys")
      return { field: issue.keys[0] ?? path, message: "is not known here" };
    return { field: path, message: messageOf(issue) };
  });
  const first = details[0];
  const where =
    first?.field === null || first === undefined ? "The body" : `${part} ${first.field}`;
  return new GatewayError(
    400,
    "validation_error",
    `${where.charAt(0).toUpperCase()}${where.slice(1)}: ${first?.message ?? "is not valid"}${
      details.length > 1 ? ` (and ${details.length - 1} more)` : ""
    }`,
    details,
  );
}

/** Replaces zod's message for a missing field, “expected string, received undefined”. */
function messageOf(issue: ZodError["issues"][number]): string {
  const isMissing = issue.code === "invalid_type" && issue.message.endsWith("received undefined");
  return isMissing ? "is missing" : issue.message;
}
