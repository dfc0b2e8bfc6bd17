import { Environment, type ParseResult } from "@marcbachmann/cel-js";
import type { ConditionView } from "../domain/planning/select.ts";
import { explainCelError } from "./condition-errors.ts";
import { type ConditionUse, FIELDS, VENDOR_FIELDS } from "./condition-fields.ts";
import { findUnsafeCall } from "./condition-safety.ts";
import type { Fault } from "./problem.ts";

/** A condition failed on a bill's own data; the message says on which bill, and how to guard it. */
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

const environments = { select: environment("select"), approve: environment("approve") };
const compiled = new Map<string, ParseResult>();

/**
 * Checks a CEL condition without running it: syntax, names, types, and that it answers yes or no.
 *
 * Patterns of `matches` must be written out and free of nested repetition, so that no description
 * that a vendor wrote can make planning hang.
 *
 * @returns what is wrong with its place in the source, or null.
 */
export function checkCondition(source: string, use: ConditionUse): Fault | null {
  if (source.trim() === "") {
    return { message: "the condition is empty", expected: 'such as payable.status == "approved"' };
  }
  if (source.length > MAX_LENGTH) {
    return { message: "the condition is too long", expected: `at most ${MAX_LENGTH} characters` };
  }
  const env = environments[use];
  const result = env.check(source);
  if (result.error !== undefined) return explainCelError(result.error, source, use);
  if (result.type !== "bool") {
    return {
      message: `the condition gives ${result.type ?? "no value"}, not yes or no`,
      expected: "a comparison, such as payable.amountCents > 100000",
    };
  }
  return findUnsafeCall(env.parse(source).ast);
}

/**
 * Runs a condition that passed `checkCondition`, on one bill. Missing texts read as `""`; missing
 * net terms are absent, so that `has(payable.vendor.netTerms)` tells.
 *
 * @throws {ConditionError} the bill's data makes it fail, such as a division by zero.
 */
export function evaluateCondition(source: string, payable: ConditionView): boolean {
  const label = payable.publicId ?? payable.id;
  let answer: unknown;
  try {
    answer = compile(source)({ payable: toCel(payable) });
  } catch (error) {
    const fault = explainCelError(error, source, "approve");
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

function compile(source: string): ParseResult {
  const known = compiled.get(source);
  if (known !== undefined) return known;
  const fresh = environments.approve.parse(source);
  if (compiled.size >= MAX_CACHED) compiled.clear();
  compiled.set(source, fresh);
  return fresh;
}

function toCel(payable: ConditionView): Record<string, unknown> {
  const { vendor } = payable;
  return {
    id: payable.id,
    publicId: payable.publicId ?? "",
    description: payable.description ?? "",
    customNumber: payable.customNumber ?? "",
    amountCents: BigInt(payable.amountCents),
    totalAmountCents: BigInt(payable.totalAmountCents),
    amountPaidCents: BigInt(payable.amountPaidCents),
    dueDate: payable.dueDate ?? "",
    issueDate: payable.issueDate ?? "",
    status: payable.status,
    paymentStatus: payable.paymentStatus,
    vendor: {
      id: vendor.id ?? "",
      name: vendor.name ?? "",
      type: vendor.type ?? "",
      bankLast4: vendor.bankLast4 ?? "",
      ...(vendor.netTerms === null ? {} : { netTerms: BigInt(vendor.netTerms) }),
    },
    flags: [...payable.flags],
  };
}
