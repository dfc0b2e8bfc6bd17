import { createHash } from "node:crypto";
import { z } from "zod";

/** Stands for a value that is not as documented, wherever people or conditions see it. */
export const UNREADABLE = "unreadable";

/** Longest text that is kept of one that people read; a condition fails on one that was cut. */
const TEXT_MOST = 2_000;

/** Longest text that tells records, or their states, apart. */
const WORD_MOST = 255;

/** A text for people, cut to a bounded length: the one place where long texts are cut. */
export const longText = z.string().transform((value) => cut(value, TEXT_MOST));

function cut(value: string, most: number): string {
  return (value.length > most ? `${value.slice(0, most)}…` : value).toWellFormed();
}

/** An id: paths, tables and indexes must be able to hold it. */
export const id = z.string().refine((value) => isWord(value) && !/^\.{0,2}$/.test(value));

/** A text that says what a record is; another one is not the same, so it is never cut. */
export const shortText = z.string().refine(isWord);

function isWord(value: string): boolean {
  return value.length <= WORD_MOST && value.isWellFormed() && !CONTROLS.test(value);
}

/** Characters that no id and no word has: they are for terminals and files. */
const CONTROLS = /\p{Cc}/u;

/** Longest value of a text that says what something is, such as a status. */
const VALUE_MOST = 64;

/**
 * A text that the service may extend with new values: an editor completes the known ones, and any
 * other passes unchanged.
 */
export function openEnum<Known extends string>(): z.ZodType<Known | (string & {}), string> {
  return shortText.max(VALUE_MOST);
}

/** A text that is only shown: one that is not as documented shows as unreadable. */
export const shownText = longText.nullish().transform(orNull).catch(UNREADABLE);

/** Such a text in the item of a list, which may leave it out: undefined. */
export const shownInList = longText.nullish().catch(UNREADABLE);

function orNull<T>(value: T | null | undefined): T | null {
  return value ?? null;
}

/** A value that must have this type if it is given; absent and null both read as null. */
export function nullable<T extends z.ZodType>(schema: T) {
  return schema.nullish().transform(orNull);
}

/**
 * A value that nothing depends on. Absent, null and another type all read as null, so that a change
 * of the service in a value that is only shown to people can't stop a pay run.
 */
export function lenient<T extends z.ZodType>(schema: T) {
  return schema.nullish().transform(orNull).catch(null);
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

/**
 * The greatest amount of one bill or payment, $10 billion: sums of thousands of them are still
 * exact.
 */
const AMOUNT_MOST_CENTS = 1_000_000_000_000;

/** The amount of a bill or a payment. */
export const amountCents = z.int().min(0).max(AMOUNT_MOST_CENTS);

const FROM_1900_TO_2999 = /^(?:19|2\d)\d{2}-\d{2}-\d{2}/;

/** An instant, ISO 8601, in a year that calendars can count with. */
export const serviceInstant = z
  .string()
  .max(64)
  .refine((value) => FROM_1900_TO_2999.test(value) && !Number.isNaN(Date.parse(value)));

/** A record some of whose fields are not as documented. */
export interface Partly {
  /** By field, what came instead, shortened. */
  readonly unreadable?: Readonly<Record<string, string>>;
}

/**
 * A record that must not keep others from being read if it is not as documented: unreadable fields
 * are then null, `instead` replaces what can't be null, and `unreadable` names them.
 *
 * @param marks values that keep anything from being paid by such a record
 */
export function orUnreadable<T extends { id: string }>(
  schema: z.ZodType<T>,
  marks: Omit<Partial<T>, "id"> = {} as Omit<Partial<T>, "id">,
  instead: Readonly<Record<string, unknown>> = {},
): z.ZodType<T & Partly> {
  return z.unknown().transform((came, context): T & Partly => {
    const read = schema.safeParse(came);
    if (read.success) return read.data;
    const record = jsonObject(came);
    const unreadable = record === undefined ? { record: shortened(came) } : whatCame(record, read);
    const fields = Object.keys(unreadable).map((field) => [field, instead[field] ?? null]);
    const readable = record === undefined ? instead : { ...record, ...Object.fromEntries(fields) };
    const id = "id" in unreadable || record === undefined ? stableId(came) : record["id"];
    const rest = schema.safeParse({ ...readable, ...marks, id });
    if (rest.success) return { ...rest.data, unreadable };
    context.addIssue({ code: "custom", message: "can't be read" });
    return z.NEVER;
  });
}

function whatCame(
  record: Readonly<Record<string, unknown>>,
  { error }: z.ZodSafeParseError<unknown>,
): Record<string, string> {
  return Object.fromEntries(
    error.issues.map(({ path: [field = "record"] }) => {
      const name = String(field);
      return [name, shortened(record[name])];
    }),
  );
}

/** Longest text of a value that is not as documented. */
const CAME_MOST = 40;

/** Says what came in a field. Doesn't show what is inside it: that may be a bank account. */
export function shortened(came: unknown): string {
  if (came === undefined) return "missing";
  if (came === TWO_VALUES) return "two values";
  if (Array.isArray(came)) return "a list";
  if (typeof came === "object" && came !== null) return "a record";
  return cut(typeof came === "string" ? came : JSON.stringify(came), CAME_MOST);
}

/** Returns an id for a record without one, the same whenever the record is read. */
function stableId(came: unknown): string {
  const hash = createHash("sha256").update(JSON.stringify(came) ?? "");
  return `${UNREADABLE}-${hash.digest("hex").slice(0, 16)}`;
}

/** Stands for a field that one answer shows with two values. */
const TWO_VALUES: readonly string[] = ["two values"];

/**
 * The records of one answer. If it shows a record twice, it is one record, and the fields in which
 * the two differ can't be read.
 */
export function recordsOf<T extends z.ZodType>(item: T) {
  return z.preprocess((came) => (Array.isArray(came) ? withoutTwins(came) : came), z.array(item));
}

function withoutTwins(came: readonly unknown[]): readonly unknown[] {
  const records = new Map<unknown, unknown>();
  const twins = new Map<unknown, Twins>();
  for (const each of came) {
    const record = jsonObject(each);
    const id = typeof record?.["id"] === "string" ? record["id"] : {};
    const first = jsonObject(records.get(id));
    if (first === undefined || record === undefined) {
      records.set(id, each);
      continue;
    }
    const found = twins.get(id) ?? new Twins(first);
    twins.set(id, found);
    found.add(record);
  }
  for (const [id, found] of twins) records.set(id, found.merged());
  return [...records.values()];
}

/**
 * The showings of one record. Each is compared with the first, field by field as it comes, so that
 * thousands of them, each with other fields, cost no more than their length.
 */
class Twins {
  readonly #first: Readonly<Record<string, unknown>>;
  /** By field of the first showing, its value as text, once another showing has the field. */
  readonly #texts = new Map<string, string>();
  /** By field of the first showing, how many others have the same in it. */
  readonly #same = new Map<string, number>();
  /** Fields that the first showing doesn't have. */
  readonly #added = new Set<string>();
  #others = 0;

  constructor(first: Readonly<Record<string, unknown>>) {
    this.#first = first;
  }

  add(other: Readonly<Record<string, unknown>>): void {
    this.#others += 1;
    for (const name of Object.keys(other)) {
      if (!Object.hasOwn(this.#first, name)) this.#added.add(name);
      else if (this.#textOf(name) === JSON.stringify(other[name])) {
        this.#same.set(name, (this.#same.get(name) ?? 0) + 1);
      }
    }
  }

  merged(): Readonly<Record<string, unknown>> {
    const names = [...Object.keys(this.#first), ...this.#added];
    const isSame = (name: string) => this.#same.get(name) === this.#others;
    return Object.fromEntries(
      names.map((name) => [name, isSame(name) ? this.#first[name] : TWO_VALUES]),
    );
  }

  /** A value of megabytes is written as text once, not for each of its twins. */
  #textOf(name: string): string {
    const known = this.#texts.get(name);
    if (known !== undefined) return known;
    const written = JSON.stringify(this.#first[name]);
    this.#texts.set(name, written);
    return written;
  }
}

/** The number of records on all pages, if it can be one. */
const totalCount = z.int().min(0);

/**
 * One page of a paginated list (API specification, section 2, conventions). A count that can't be
 * one, or is less than what the page shows, counts as none: such a list is read until a page shows
 * nothing new.
 */
export function pageSchema<T extends z.ZodType>(item: T) {
  return z.preprocess(
    counted,
    z.object({
      items: recordsOf(item),
      totalCount,
      shown: z.int(),
      uncounted: z.boolean().optional(),
      hasMore: z.boolean().optional(),
    }),
  );
}

function counted(answer: unknown): unknown {
  const page = jsonObject(answer);
  const items: unknown = page?.["items"];
  if (page === undefined || !Array.isArray(items)) return answer;
  const count = totalCount.safeParse(page["totalCount"]);
  const shown = items.length;
  const hasMore = typeof page["hasMore"] === "boolean" ? page["hasMore"] : undefined;
  if (count.success && count.data >= shown) return { items, totalCount: count.data, shown };
  return { items, totalCount: shown, shown, uncounted: true, hasMore };
}

/**
 * A list whose response the specification does not show: a bare array, or under `items`, `data` or
 * the resource's own name.
 */
export function undocumentedList<T extends z.ZodType>(item: T, name: string) {
  // Found before it is read: a union would read it once for each place in which it may be.
  return z.preprocess((answer) => {
    const outer = jsonObject(answer);
    if (outer === undefined) return answer;
    const lists = [outer["items"], outer["data"], outer[name]];
    return lists.find((list) => Array.isArray(list)) ?? answer;
  }, recordsOf(item));
}

/** Returns a JSON object; undefined for anything else. */
export function jsonObject(value: unknown): Readonly<Record<string, unknown>> | undefined {
  const isRecord = typeof value === "object" && value !== null && !Array.isArray(value);
  return isRecord ? (value as Readonly<Record<string, unknown>>) : undefined;
}

/** Returns the fields of a JSON object, some perhaps under `data`; undefined for anything else. */
export function fieldsOf(answer: unknown): Readonly<Record<string, unknown>> | undefined {
  const outer = jsonObject(answer);
  return outer === undefined ? undefined : { ...outer, ...jsonObject(outer["data"]) };
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
  const page = pageSchema(item);
  return z.preprocess((answer) => pageIn(answer, name), page);
}

const NEXT_NAMES = ["nextCursor", "nextPageToken", "nextPage", "next"];

function pageIn(answer: unknown, name: string): unknown {
  const outer = Array.isArray(answer) ? { items: answer } : jsonObject(answer);
  if (outer === undefined) return answer;
  const body: Readonly<Record<string, unknown>> = { ...outer, ...jsonObject(outer["data"]) };
  const items = [body["items"], outer["data"], body[name]].find((list) => Array.isArray(list));
  if (items === undefined) return answer;
  const count = firstOf(body, ["totalCount", "total"]);
  const told = body["hasMore"];
  const hasMore =
    typeof told === "boolean" ? told : isThere(firstOf(body, NEXT_NAMES)) || undefined;
  return { items, totalCount: count, hasMore };
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
    const outer = jsonObject(answer);
    return outer === undefined || outer["id"] !== undefined
      ? answer
      : (jsonObject(outer[name]) ?? jsonObject(outer["data"]) ?? answer);
  }, schema);
}

/**
 * The response of a successful write whose body the specification does not show. A different body,
 * or none, reads as undefined, since a completed write must not look like a failed one.
 */
export function whereShown<T extends z.ZodType>(schema: T) {
  return z.union([schema, z.unknown().transform(() => undefined)]);
}
