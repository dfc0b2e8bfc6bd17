import { z } from "zod";
import { ApiError } from "./api-error.ts";

/**
 * Validates a body or query against its schema; without a schema the input is ignored.
 *
 * @throws {ApiError} 400 for a wrong type, a missing field or a wrong combination; 422 if every
 * type is right and only a value is out of range or of the wrong format (API specification, section
 * 7).
 */
export function validate<T>(schema: z.ZodType<T> | undefined, input: unknown): T {
  if (schema === undefined) return undefined as T;
  const result = schema.safeParse(input, { reportInput: true });
  if (result.success) return result.data;
  const issues = result.error.issues.map((issue) => ({
    field: issue.path.map(String).join("."),
    message: explain(issue),
    status: statusOf(issue),
  }));
  const first = issues.find((issue) => issue.status === 400) ?? issues[0];
  if (first === undefined) throw result.error;
  throw new ApiError(
    first.status,
    "validation_error",
    first.field === "" ? first.message : `${first.field}: ${first.message}`,
    { field: first.field, issues: issues.map(({ field, message }) => ({ field, message })) },
  );
}

function explain(issue: z.core.$ZodIssue): string {
  return isMissing(issue) ? "is required" : issue.message;
}

function isMissing(issue: z.core.$ZodIssue): boolean {
  const expectsValue =
    issue.code === "invalid_type" ||
    issue.code === "invalid_value" ||
    issue.code === "invalid_union";
  return expectsValue && issue.input === undefined;
}

function statusOf(issue: z.core.$ZodIssue): 400 | 422 {
  if (isMissing(issue)) return 400;
  switch (issue.code) {
    case "invalid_type":
      // A fraction in place of an integer is still a number, so its type is right.
      return typeof issue.input === "number" && Number.isFinite(issue.input) && wantsNumber(issue)
        ? 422
        : 400;
    case "invalid_value":
      return issue.values.some((value) => typeof value === typeof issue.input) ? 422 : 400;
    case "custom":
      return issue.params?.["status"] === 400 ? 400 : 422;
    case "invalid_union":
    case "unrecognized_keys":
    case "invalid_key":
    case "invalid_element":
      return 400;
    default:
      return 422;
  }
}

function wantsNumber(issue: z.core.$ZodIssueInvalidType): boolean {
  return issue.expected === "int" || issue.expected === "number";
}

const largestPage = 1_000_000_000;

const countText = z
  .string()
  .refine((text) => /^[+-]?\d{1,12}$/.test(text), {
    error: "must be a whole number",
    params: { status: 400 },
    abort: true,
  })
  .transform(Number);

/** `page` and `pageSize` as section 2 defines them; to be spread into a list's query schema. */
export const pagingQuery = {
  page: countText
    .pipe(z.number().min(1).max(largestPage))
    .default(1)
    .meta({ type: "integer", minimum: 1, maximum: largestPage, default: 1 }),
  pageSize: countText
    .pipe(z.number().min(1).max(100))
    .default(25)
    .meta({ type: "integer", minimum: 1, maximum: 100, default: 25 }),
};

/** An instant with or without a zone, read as milliseconds since the epoch. */
export const instantMs = z.string().transform((text, check) => {
  const ms = /^\d{4}-\d{2}-\d{2}/.test(text) ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(ms)) return ms;
  check.issues.push({
    code: "custom",
    input: text,
    message: "must be an ISO 8601 instant",
    params: { status: 422 },
  });
  return z.NEVER;
});

/** A calendar date `YYYY-MM-DD`. */
export const plainDate = z.iso.date({ error: "must be a date YYYY-MM-DD" });

/** Returns the schema of a field that may be left out; null means the same as leaving it out. */
export function optional<T>(schema: z.ZodType<T>): z.ZodOptional<z.ZodType<T | undefined>> {
  return z.preprocess((value) => value ?? undefined, schema.optional()).optional();
}

/** Returns the schema of an amount of at least one cent. */
export function amountUpTo(largestCents: number): z.ZodType<number> {
  return z.int().min(1).max(largestCents);
}
