import { EvaluationError, ParseError, TypeError as CelTypeError } from "@marcbachmann/cel-js";
import { type ConditionUse, FIELDS, VENDOR_FIELDS } from "./condition-fields.ts";
import { FUNCTIONS, noSuchFunction } from "./condition-functions.ts";
import type { Fault } from "./problem.ts";
import { suggest } from "../domain/suggest.ts";

type CelError = ParseError | CelTypeError | EvaluationError;

function isCelError(error: unknown): error is CelError {
  return (
    error instanceof ParseError || error instanceof CelTypeError || error instanceof EvaluationError
  );
}

/** Explains in a bill's terms what the CEL library found wrong, where, and what would be right. */
export function explainCelError(error: unknown, source: string, use: ConditionUse): Fault {
  if (!isCelError(error)) return { message: "the condition can't be read" };
  const range = error.range === undefined ? {} : { range: error.range };
  const at = error.range === undefined ? "" : source.slice(error.range.start, error.range.end);
  switch (error.code) {
    case "unknown_variable":
      return { ...range, ...unknownVariable(at, use) };
    case "no_such_key":
      return { ...range, ...unknownField(at, source, error, use) };
    case "no_matching_overload":
      return { ...range, ...uncallable(error.summary) };
    case "no_such_overload":
      return { ...range, ...wrongTypes(error.summary) };
    default:
      return { ...range, message: `the condition is wrong: ${decapitalise(error.summary)}` };
  }
}

function unknownVariable(name: string, use: ConditionUse): Fault {
  const fields = fieldNames(use);
  const guess = suggest(name, ["payable"]) ?? underPayable(name, fields);
  return {
    message: `a condition knows no \`${name}\``,
    expected: "payable and its fields, such as payable.description",
    ...(guess === undefined ? {} : { didYouMean: guess }),
  };
}

function underPayable(name: string, fields: readonly string[]): string | undefined {
  if (name === "vendor" || name === "flags") return `payable.${name}`;
  const field = suggest(name, fields);
  return field === undefined ? undefined : `payable.${field}`;
}

function fieldNames(use: ConditionUse): string[] {
  return [...Object.keys(FIELDS), "vendor", ...(use === "approve" ? ["flags"] : [])];
}

function unknownField(at: string, source: string, error: CelError, use: ConditionUse): Fault {
  const name = /No such key: (\w+)/.exec(error.summary)?.[1] ?? at;
  const before = source.slice(0, error.range?.start ?? 0);
  const ofVendor = /vendor\s*\.\s*$/.test(before) || /vendor\s*\[/.test(at);
  const owner = ofVendor ? "payable.vendor" : "payable";
  if (error instanceof EvaluationError) {
    return name === "netTerms"
      ? { message: `${owner}.${name} is not set`, expected: `a guard: has(${owner}.${name}) && …` }
      : { message: `there is nothing at \`${name}\`` };
  }
  if (!ofVendor && name === "flags") {
    return {
      message: "`payable.flags` is not known while bills are being selected",
      expected: "flags only in the `where` of an approve rule",
    };
  }
  const known = ofVendor ? Object.keys(VENDOR_FIELDS) : fieldNames(use);
  const guess = suggest(name, known);
  return {
    message: `\`${owner}\` has no field \`${name}\``,
    expected: `one of ${known.join(", ")}`,
    ...(guess === undefined ? {} : { didYouMean: guess }),
  };
}

function uncallable(summary: string): Fault {
  const called = /'(?:(.+?)\.)?(\w+)\((.*)\)'/.exec(summary);
  const name = called?.[2] ?? "";
  if (FUNCTIONS.includes(name)) {
    const on = called?.[1] === undefined ? "" : ` on ${called[1]}`;
    return {
      message: `\`${name}\` can't be called${on} with (${called?.[3] ?? ""})`,
      expected: "arguments of the right number and type",
    };
  }
  return noSuchFunction(name);
}

function wrongTypes(summary: string): Fault {
  const operation = summary
    .replace(/^no such overload: /, "")
    .replace(/\$payable(\.vendor)?/g, "bill");
  if (/\bnull\b/.test(operation)) {
    return {
      message: `these can't be compared: ${operation}`,
      expected: 'a missing text to be compared with "", missing net terms with has(…)',
    };
  }
  return {
    message: `these can't be combined: ${operation}`,
    expected: 'the same type on both sides; amounts are whole cents, texts stand in "…"',
  };
}

function decapitalise(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}
