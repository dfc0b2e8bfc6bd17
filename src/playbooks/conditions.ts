import { type ASTNode, Environment, ParseError, type ParseResult } from "@marcbachmann/cel-js";
import { composed } from "../domain/composed.ts";
import type { ConditionView, Matches } from "../domain/planning/condition-view.ts";
import { explainCelError } from "./condition-errors.ts";
import { type ConditionUse, FIELDS, VENDOR_FIELDS } from "./condition-fields.ts";
import { findUnfit } from "./condition-cost.ts";
import { type FlagAsked, flagsAsked, unknownFlags } from "./condition-flags.ts";
import { isNode, conditionParts } from "./condition-parts.ts";
import { matchesPattern } from "./condition-patterns.ts";
import { MOST_CHARACTERS } from "./condition-sizes.ts";
import type { Fault } from "./problem.ts";

/** A condition failed on a bill's own data; the message names the bill and how to guard it. */
export class ConditionError extends Error {
  override readonly name = "ConditionError";
}

const MAX_LENGTH = 2_000;
const MAX_CACHED = 500;
const LIMITS = { maxAstNodes: 400, maxDepth: 32, maxListElements: 200, maxCallArguments: 8 };

function environment(use: ConditionUse): Environment {
  const fields = { ...FIELDS, vendor: { ...VENDOR_FIELDS } };
  const schema = use === "approve" ? { ...fields, flags: "list<string>" } : fields;
  return new Environment({ limits: LIMITS }).registerVariable({ name: "payable", schema });
}

/** The name that replaces `matches` after the check: the library's own `matches` may never end. */
const LINEAR = "matchesLinear";

const environments = {
  select: environment("select"),
  approve: environment("approve").registerFunction(
    `string.${LINEAR}(string): bool`,
    matchesPattern,
  ),
};
const compiled = new Map<string, ParseResult | Fault>();

/**
 * Checks a CEL condition without running it: syntax, names, types, that it returns yes or no, that
 * it does so in time for any text of a vendor, and that the flags that it looks for exist.
 *
 * @returns what is wrong, each mistake with its place in the source
 */
export function checkCondition(source: string, use: ConditionUse): readonly Fault[] {
  if (source.trim() === "") {
    const expected = 'such as payable.status == "approved"';
    return [{ message: "the condition is empty", expected }];
  }
  if (source.length > MAX_LENGTH) {
    return [{ message: "the condition is too long", expected: `at most ${MAX_LENGTH} characters` }];
  }
  const env = environments[use];
  const result = env.check(source);
  if (result.error !== undefined) {
    const first = explainCelError(result.error, source, use);
    if (result.error instanceof ParseError) return [first];
    const all = mistakesIn(env.parse(source).ast, source, use);
    return all.some(({ range }) => range?.start === first.range?.start) ? all : [first, ...all];
  }
  if (result.type !== "bool") {
    const message = `the condition gives ${result.type ?? "no value"}, not yes or no`;
    return [{ message, expected: "a comparison, such as payable.amountCents > 100000" }];
  }
  const { ast } = env.parse(source);
  const unfit = findUnfit(ast);
  return [...(unfit === null ? [] : [unfit]), ...unknownFlags(ast)];
}

/** Returns the flags that the condition of an approval rule looks for; it must be valid. */
export function flagsIn(source: string): readonly FlagAsked[] {
  return flagsAsked(environments.approve.parse(source).ast);
}

/** Returns the mistakes of each part of a condition; a check of the whole ends at the first. */
function mistakesIn(node: ASTNode, source: string, use: ConditionUse): Fault[] {
  const inner = operandsOf(node).flatMap((operand) => mistakesIn(operand, source, use));
  if (inner.length > 0) return inner;
  const { start, end } = node.range;
  const part = source.slice(start, end);
  const { error } = environments[use].check(part);
  // A part's range may cut through parentheses.
  if (error === undefined || error instanceof ParseError) return [];
  const { range = { start: 0, end: part.length }, ...fault } = explainCelError(error, part, use);
  return [{ ...fault, range: { start: start + range.start, end: start + range.end } }];
}

/**
 * Nodes that can't be checked alone, such as the parts of a loop, or that mean something only with
 * their owner.
 */
const WHOLE: readonly ASTNode["op"][] = [
  ...(["value", "id", "call", "rcall", "list", "map", ".", ".?", "[]", "[?]"] as const),
];

function operandsOf(node: ASTNode): readonly ASTNode[] {
  return WHOLE.includes(node.op) ? [] : [node.args].flat().filter(isNode);
}

/**
 * Runs a condition that passed `checkCondition` on one bill; both are composed first, so that texts
 * that look the same are the same. Missing texts read as `""`; missing
 * net terms are absent, so that `has(payable.vendor.netTerms)` tests for them.
 *
 * @throws {ConditionError} if the bill's data makes it fail, such as a division by zero, or if it
 *   was stored when more was allowed
 */
export function evaluateCondition(source: string, payable: ConditionView): boolean {
  const label = payable.publicId ?? payable.id;
  let answer: unknown;
  try {
    const ready = compile(composed(source));
    if (typeof ready !== "function") throw new UnfitError(ready);
    answer = ready({ payable: toCel(payable) });
  } catch (error) {
    const fault =
      error instanceof UnfitError ? error.fault : explainCelError(error, source, "approve");
    const hint = fault.expected === undefined ? "" : ` (expected ${fault.expected})`;
    throw new ConditionError(
      `the condition \`${source.trim()}\` can't be answered for bill ${label}: ${fault.message}${hint}`,
    );
  }
  if (typeof answer === "boolean") return answer;
  throw new ConditionError(
    `the condition \`${source.trim()}\` gave no yes or no for bill ${label}`,
  );
}

/** As `evaluateCondition`; says why a bill's data makes it fail, instead of throwing. */
export const matches: Matches = (source, payable) => {
  try {
    return evaluateCondition(source, payable);
  } catch (error) {
    if (error instanceof ConditionError) return { failed: error.message };
    throw error;
  }
};

/** The condition isn't valid today, or it reads a value that it may not. */
class UnfitError extends Error {
  readonly fault: Fault;

  constructor(fault: Fault) {
    super(fault.message);
    this.fault = fault;
  }
}

function compile(source: string): ParseResult | Fault {
  const known = compiled.get(source);
  if (known !== undefined) return known;
  const parsed = environments.approve.parse(source);
  const fresh = findUnfit(parsed.ast) ?? parsed;
  matchLinearly(parsed.ast);
  composeTexts(parsed.ast);
  if (compiled.size >= MAX_CACHED) compiled.clear();
  compiled.set(source, fresh);
  return fresh;
}

function matchLinearly(root: ASTNode): void {
  for (const part of conditionParts(root)) {
    if (part.op === "rcall" && part.args[0] === "matches") part.args[0] = LINEAR;
  }
}

/** An escape in a text (`"e\\u0301"`) hides from `composed` what it stands for. */
function composeTexts(root: ASTNode): void {
  for (const part of conditionParts(root)) {
    if (part.op !== "value" || typeof part.args !== "string") continue;
    Object.assign(part, { args: composed(part.args) });
  }
}

function toCel(payable: ConditionView): Record<string, unknown> {
  const { vendor } = payable;
  const fields = {
    id: payable.id,
    publicId: composed(payable.publicId ?? ""),
    description: composed(payable.description ?? ""),
    customNumber: composed(payable.customNumber ?? ""),
    amountCents: BigInt(payable.amountCents),
    totalAmountCents: BigInt(payable.totalAmountCents),
    amountPaidCents: BigInt(payable.amountPaidCents),
    dueDate: payable.dueDate ?? "",
    issueDate: payable.issueDate ?? "",
    status: payable.status,
    paymentStatus: payable.paymentStatus,
    vendor: readable(
      {
        id: vendor.id ?? "",
        name: composed(vendor.name ?? ""),
        type: vendor.type ?? "",
        bankLast4: vendor.bankLast4 ?? "",
        ...(vendor.netTerms === null ? {} : { netTerms: BigInt(vendor.netTerms) }),
      },
      VENDOR_NAMES,
    ),
    flags: [...payable.flags],
  };
  return readable(fields, NAMES);
}

const NAMES = Object.keys(FIELDS);
const VENDOR_NAMES = Object.keys(VENDOR_FIELDS);

/** Makes a condition fail if it reads a text that is too long: a part of the text could mislead. */
function readable(fields: Record<string, unknown>, names: readonly string[]): typeof fields {
  for (const name of names) {
    const value = fields[name];
    if (typeof value !== "string" || value.length <= MOST_CHARACTERS) continue;
    const limit = MOST_CHARACTERS.toLocaleString("en-US");
    Object.defineProperty(fields, name, {
      get: () => {
        throw new UnfitError({ message: `its ${name} has more than ${limit} characters` });
      },
    });
  }
  return fields;
}
