import type { Context } from "hono";
import type { ZodError, ZodType } from "zod";
import { GatewayError } from "../../actions/errors.ts";
import { repeatedMember } from "../../domain/repeated-member.ts";
import { counted } from "../../domain/counted.ts";
import { readBody, SMALL_BODY_BYTES } from "./limits.ts";

/** Most characters of a name that a refusal repeats. */
const NAME_MOST = 50;

/** Returns a request's body as JSON. @throws GatewayError if it isn't JSON */
export async function readJson(c: Context, mostBytes = SMALL_BODY_BYTES): Promise<unknown> {
  const bytes = await readBody(c, mostBytes);
  // An operation whose every field is optional may be called without a body.
  if (bytes.byteLength === 0) return {};
  requireJson(c);
  const { text, value } = jsonIn(bytes);
  // Of two values, the parser takes the last, and the sender may have meant the first.
  const repeated = repeatedMember(text);
  if (repeated !== undefined) throw invalidField(repeated.slice(0, NAME_MOST), "is there twice");
  return value;
}

function jsonIn(bytes: Uint8Array): { readonly text: string; readonly value: unknown } {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return { text, value: JSON.parse(text) };
  } catch {
    throw new GatewayError("malformed_json", "The body is not valid JSON in UTF-8.");
  }
}

/**
 * Returns the parameters of a request's query. @throws GatewayError 400 if one is named twice, of
 * which only one could count
 */
export function queryIn(c: Context): Record<string, string> {
  const twice = Object.entries(c.req.queries()).find(([, values]) => values.length > 1);
  if (twice === undefined) return c.req.query();
  throw invalidField(twice[0].slice(0, NAME_MOST), "is named twice", "Query parameter");
}

/** @throws GatewayError 415 unless the request says that it carries JSON */
export function requireJson(c: Context): void {
  const type = c.req.header("content-type")?.split(";")[0]?.trim().toLowerCase();
  if (type === "application/json") return;
  throw new GatewayError(
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

/** Returns the refusal of a field, of the body unless said, that its schema can't judge alone. */
export function invalidField(field: string, message: string, part = "Field"): GatewayError {
  return new GatewayError("validation_error", `${part} ${field}: ${message}`, [{ field, message }]);
}

/** The most mistakes that a refusal names; further ones are counted. */
const NAMED_MOST = 100;

type Issue = ZodError["issues"][number];

interface Mistake {
  /** Path of the field; null for the whole part. */
  readonly field: string | null;
  readonly message: string;
}

function invalid(part: string, error: ZodError): GatewayError {
  const mistakes = error.issues.flatMap((issue) => mistakesOf(issue, []));
  const first = mistakes[0];
  const where =
    first?.field === null || first === undefined ? "The body" : `${part} ${first.field}`;
  return new GatewayError(
    "validation_error",
    `${where.charAt(0).toUpperCase()}${where.slice(1)}: ${first?.message ?? "is not valid"}${
      mistakes.length > 1 ? ` (and ${mistakes.length - 1} more)` : ""
    }`,
    mistakes.slice(0, NAMED_MOST),
  );
}

function mistakesOf(issue: Issue, within: readonly PropertyKey[]): readonly Mistake[] {
  const path = [...within, ...issue.path];
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((key) => ({
      field: [...path, key].join("."),
      message: "is not known here",
    }));
  }
  const meant = issue.code === "invalid_union" ? meantForm(issue.errors) : undefined;
  if (meant !== undefined) return meant.flatMap((each) => mistakesOf(each, path));
  return [{ field: path.join(".") || null, message: messageOf(issue) }];
}

/**
 * Returns the mistakes in the form that the sender most likely meant: of those with mistakes in
 * their fields alone, the one with the fewest; undefined if there is none.
 */
function meantForm(forms: readonly (readonly Issue[])[]): readonly Issue[] | undefined {
  const ofFields = forms.filter((issues) =>
    issues.every(({ code, path }) => code === "unrecognized_keys" || path.length > 0),
  );
  return ofFields.toSorted((one, other) => one.length - other.length)[0];
}

/** What a field of each type must be. */
const NOUNS: Readonly<Record<string, string>> = {
  string: "a text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  object: "an object",
  record: "an object",
  array: "a list",
};

/** What the size of a field of each type counts; the size of a number is the number. */
const COUNTED: Readonly<Record<string, string>> = { string: "character", array: "item" };

/** Replaces zod's own messages, which speak of schemas: “Too small: expected number to be >=1”. */
function messageOf(issue: Issue): string {
  const { message } = issue;
  if (issue.code === "invalid_type" && message.startsWith("Invalid input: expected")) {
    if (message.endsWith("received undefined")) return "is missing";
    const noun = NOUNS[issue.expected];
    return noun === undefined ? message : `must be ${noun}`;
  }
  if (issue.code === "too_small" && message.startsWith("Too small")) {
    return `must ${sized(issue.origin, issue.inclusive === false ? "more than" : "at least", issue.minimum)}`;
  }
  if (issue.code === "too_big" && message.startsWith("Too big")) {
    return `must ${sized(issue.origin, issue.inclusive === false ? "less than" : "at most", issue.maximum)}`;
  }
  return message;
}

function sized(origin: string, than: string, bound: number | bigint): string {
  const of = COUNTED[origin];
  if (of === undefined) return `be ${than} ${bound}`;
  return `have ${than} ${counted(Number(bound), of)}`;
}
