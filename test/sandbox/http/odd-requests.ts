import type { ServiceOperation } from "../../../src/sandbox/http/operation.ts";
import { bodyExamples } from "../../../src/sandbox/openapi/examples.ts";
import { type Ids, paramsOf } from "./registry.ts";

/** A request that is meant to break the service. */
export interface OddRequest {
  method: string;
  path: string;
  /** Names and values in turn, so that a name can occur twice. */
  headers: string[];
  body: string | Buffer | undefined;
}

/** A stream of numbers that depends on nothing but its seed. */
export class Dice {
  #state: number;

  constructor(seed: number) {
    this.#state = seed;
  }

  /** Returns the next number, from 0 up to but not including 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(values: readonly T[]): T {
    const value = values[Math.floor(this.next() * values.length)];
    if (value === undefined) throw new Error("there is nothing to pick from");
    return value;
  }
}

const nested = (depth: number): string => `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`;

/** JSON texts of values that hardly any field accepts. */
const oddValues: readonly string[] = [
  "null",
  "true",
  "0",
  "-1",
  "1.5",
  "-0",
  "1e308",
  "1e999",
  "9007199254740993",
  "123456789012345678901234567890",
  '""',
  '" "',
  '"NaN"',
  '"\\u0000"',
  '"\\ud800"',
  '"💸"',
  '"__proto__"',
  '"2026-13-45"',
  '"9999-12-31"',
  '"0000-01-01"',
  '"2027-02-28T25:61:00Z"',
  '"+275760-09-13T00:00:00Z"',
  '"\' OR 1=1 --"',
  '"%"',
  `"${"x".repeat(3_000)}"`,
  "[]",
  "{}",
  "[[]]",
  "[null]",
  `[${Array.from({ length: 600 }, () => "1").join(",")}]`,
  '{"__proto__":{"amountCents":1}}',
  '{"constructor":{"prototype":{}}}',
  nested(20),
  nested(200),
];

const brokenBodies: readonly (string | Buffer)[] = [
  "",
  " ",
  "{",
  '{"a":',
  "NaN",
  "undefined",
  "null",
  "[]",
  '"text"',
  "7",
  "{'a':1}",
  '{"a":1,}',
  '\ufeff{"a":1}',
  '{"__proto__":null,"a":1}',
  nested(5_000),
  "[".repeat(50_000),
  Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d]),
  Buffer.from([0x00, 0x01, 0x02]),
  Buffer.from('{"displayName":"\u00e9"}', "latin1"),
  Buffer.from('{"displayName":"x"}', "utf16le"),
];

const oddSegments = [
  "%00",
  "%E0%A4%A",
  "%ff%fe",
  "%",
  "..",
  "%2e%2e%2f%2e%2e",
  "__proto__",
  "constructor",
  "{id}",
  "%F0%9F%92%B8",
  "x".repeat(5_000),
  "'%20OR%201=1",
  "-1",
];

const oddContentTypes = [
  "text/plain",
  "application/xml",
  "application/jsonp",
  "multipart/form-data",
  "multipart/form-data; boundary=",
  "multipart/form-data; boundary=x",
  "application/json; charset=utf-7",
  "APPLICATION/JSON",
  ";;;",
];

/** Returns an odd request to an operation; with `ids`, some requests reach existing resources. */
export function oddRequest(
  dice: Dice,
  operation: ServiceOperation,
  ids: Ids,
  token: string,
): OddRequest {
  const isWrite = operation.method !== "GET";
  const { body, isJson } = isWrite
    ? oddBody(dice, operation, ids)
    : { body: undefined, isJson: false };
  const headers = ["authorization", dice.chance(0.01) ? "Bearer \u00e9.." : `Bearer ${token}`];
  if (body !== undefined && !dice.chance(0.03)) {
    const json = dice.chance(isJson ? 0.97 : 0.7);
    headers.push("content-type", json ? "application/json" : dice.pick(oddContentTypes));
  }
  headers.push(...oddKey(dice, operation));
  return { method: operation.method, path: oddPath(dice, operation, ids), headers, body };
}

function oddKey(dice: Dice, { idempotency }: ServiceOperation): string[] {
  const name = "idempotency-key";
  const fresh = `key-${Math.floor(dice.next() * 1e12)}`;
  if (dice.chance(0.02)) return [name, fresh, name, "another"];
  if (dice.chance(0.02)) return [name, "k".repeat(dice.pick([64, 65, 4_000]))];
  if (dice.chance(0.02)) return [name, dice.pick(["", " ", "\u00ff", "a,b", "';--", "__proto__"])];
  const wanted = idempotency === "required" || (idempotency === "optional" && dice.chance(0.5));
  return wanted !== dice.chance(0.03) ? [name, fresh] : [];
}

function oddPath(dice: Dice, operation: ServiceOperation, ids: Ids): string {
  const odd = dice.chance(0.15) ? dice.pick(paramsOf(operation).concat("")) : "";
  const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) =>
    name === odd ? dice.pick(oddSegments) : (ids[name] ?? "nobody"),
  );
  const names = ["page", "pageSize", "status", "createdAfter", "search", "__proto__", "type"];
  if (!dice.chance(operation.method === "GET" ? 0.8 : 0.05)) return path;
  const value = () =>
    dice.chance(0.3)
      ? dice.pick(oddSegments)
      : encodeURIComponent(dice.pick(oddValues).slice(0, 400).toWellFormed());
  return `${path}?${dice.pick(names)}=${value()}&${dice.pick(names)}=${value()}`;
}

function oddBody(
  dice: Dice,
  operation: ServiceOperation,
  ids: Ids,
): { body: string | Buffer; isJson: boolean } {
  if (dice.chance(0.2)) return { body: dice.pick(brokenBodies), isJson: false };
  if (dice.chance(0.006)) {
    const length = dice.pick([1_000_000, 1_048_500, 1_200_000]);
    return { body: `{"displayName":"${"x".repeat(length)}"}`, isJson: true };
  }
  const example = { ...(bodyExamples[operation.name] ?? { a: 1 }) };
  // An endpoint that receives every event would make this a test of webhooks.
  if ("events" in example) example["events"] = ["bank_account.removed"];
  const members = Object.entries(example);
  const texts = members.flatMap(([name, value]): string[] => {
    if (dice.chance(0.05)) return [];
    const text = dice.chance(0.2) ? oddVersion(dice, value) : JSON.stringify(ids[name] ?? value);
    return [`${JSON.stringify(name)}:${text}`];
  });
  if (dice.chance(0.1)) texts.push(`"${dice.pick(["__proto__", "", "id", "a"])}":1`);
  if (dice.chance(0.05) && texts[0] !== undefined) texts.push(texts[0]);
  return { body: `{${texts.join(",")}}`, isJson: true };
}

/** Returns the JSON text of an odd value for a field, or of the field's value with odd parts. */
function oddVersion(dice: Dice, value: unknown): string {
  if (Array.isArray(value) && dice.chance(0.5)) {
    return `[${value.map((entry) => oddVersion(dice, entry)).join(",")}]`;
  }
  if (typeof value === "object" && value !== null && dice.chance(0.7)) {
    const members = Object.entries(value).map(([name, member]) => {
      const text = dice.chance(0.3) ? oddVersion(dice, member) : JSON.stringify(member);
      return `${JSON.stringify(name)}:${text}`;
    });
    return `{${members.join(",")}}`;
  }
  return dice.pick(oddValues);
}
