import { z } from "zod";

/**
 * A text that the service may extend with new values: an editor completes the known ones, and any
 * other passes unchanged.
 */
export function openEnum<Known extends string>(): z.ZodType<Known | (string & {}), string> {
  return z.string();
}

/** A value that must have this type if it is given; absent and null both read as null. */
export function nullable<T extends z.ZodType>(schema: T) {
  return schema.nullish().transform((value) => value ?? null);
}

/**
 * A value that nothing depends on. Absent, null and another type all read as null, so that a change
 * of the service in a value that is only shown to people can't stop a pay run.
 */
export function lenient<T extends z.ZodType>(schema: T) {
  return schema
    .nullish()
    .transform((value) => value ?? null)
    .catch(null);
}

/**
 * A field of a record whose shape the specification does not show. Undefined means that it was
 * absent, or not as expected; null means that the service returned null.
 */
export function undocumented<T extends z.ZodType>(schema: T) {
  return schema.nullable().optional().catch(undefined);
}

/** A number of US cents: an integer (API specification, introduction). */
export const cents = z.int();

/** One page of a paginated list (API specification, section 2, conventions). */
export function pageOf<T extends z.ZodType>(item: T) {
  return z.object({ items: z.array(item), totalCount: z.int().min(0) });
}

/**
 * A list whose response the specification does not show: a bare array, or under `items`, `data` or
 * the resource's own name.
 */
export function undocumentedList<T extends z.ZodType>(item: T, name: string) {
  const items = z.array(item);
  return z.union([
    items,
    z.object({ items }).transform((answer) => answer.items),
    z.object({ data: items }).transform((answer) => answer.data),
    z
      .record(z.string(), z.unknown())
      .transform((answer) => answer[name])
      .pipe(items),
  ]);
}

/** Returns a JSON object; undefined for anything else. */
export function recordOf(value: unknown): Readonly<Record<string, unknown>> | undefined {
  const isRecord = typeof value === "object" && value !== null && !Array.isArray(value);
  return isRecord ? (value as Readonly<Record<string, unknown>>) : undefined;
}

/** Returns the fields of a JSON object, some perhaps under `data`; undefined for anything else. */
export function fieldsOf(answer: unknown): Readonly<Record<string, unknown>> | undefined {
  const outer = recordOf(answer);
  return outer === undefined ? undefined : { ...outer, ...recordOf(outer["data"]) };
}

/** Returns the first of these fields that is present and not null. */
export function firstOf(
  record: Readonly<Record<string, unknown>>,
  names: readonly string[],
): unknown {
  const name = names.find((each) => record[each] !== undefined && record[each] !== null);
  return name === undefined ? undefined : record[name];
}

/**
 * One page of a list whose response the specification does not show: with or without a count, a
 * bare array, or the records under `items`, `data` or the resource's own name.
 */
export function undocumentedPageOf<T extends z.ZodType>(item: T, name: string) {
  return z.preprocess(
    (answer) => pageIn(answer, name),
    z.object({
      items: z.array(item),
      totalCount: z.int().min(0),
      uncounted: z.boolean().optional(),
      hasMore: z.boolean().optional(),
    }),
  );
}

const NEXT_NAMES = ["nextCursor", "nextPageToken", "nextPage", "next"];

function pageIn(answer: unknown, name: string): unknown {
  const outer = Array.isArray(answer) ? { items: answer } : recordOf(answer);
  if (outer === undefined) return answer;
  const body: Readonly<Record<string, unknown>> = { ...outer, ...recordOf(outer["data"]) };
  const items = [body["items"], outer["data"], body[name]].find((list) => Array.isArray(list));
  if (items === undefined) return answer;
  const count = firstOf(body, ["totalCount", "total"]);
  if (typeof count === "number") return { items, totalCount: count };
  const told = body["hasMore"];
  const hasMore =
    typeof told === "boolean" ? told : isThere(firstOf(body, NEXT_NAMES)) || undefined;
  return { items, totalCount: items.length, uncounted: true, hasMore };
}

function isThere(value: unknown): boolean {
  return value !== undefined && value !== "" && value !== false;
}

/**
 * A record with an id whose response the specification does not show: the record itself, or under
 * the resource's own name or `data`.
 */
export function undocumentedRecord<T extends z.ZodType>(schema: T, name: string) {
  return z.preprocess((answer) => {
    const outer = recordOf(answer);
    return outer === undefined || outer["id"] !== undefined
      ? answer
      : (recordOf(outer[name]) ?? recordOf(outer["data"]) ?? answer);
  }, schema);
}

/**
 * The response of a successful write whose body the specification does not show. A different body,
 * or none, reads as undefined, since a completed write must not look like a failed one.
 */
export function whereShown<T extends z.ZodType>(schema: T) {
  return z.union([schema, z.unknown().transform(() => undefined)]);
}
