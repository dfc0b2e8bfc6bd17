import { basename } from "node:path";
import { z } from "zod";
import { type PayRunPlaybook, REVIEW_REASONS } from "../contracts/playbook.ts";
import { ruleFor } from "../domain/approvals/policy.ts";
import { read } from "./blocks.ts";
import { ConditionError, evaluateCondition } from "./conditions.ts";
import type { ConditionView } from "../domain/planning/select.ts";
import type { Problem } from "./problem.ts";
import { type Issue, readSource, type Source } from "./source.ts";
import { readMoney } from "./texts.ts";

const date = z.iso.date("must be a date such as 2026-01-31");
const text = z.string("must be text");

const bill = z.strictObject({
  amount: read(readMoney),
  vendor: text.optional(),
  vendorType: text.optional(),
  description: text.optional(),
  number: text.optional(),
  due: date.optional(),
  issued: date.optional(),
  flags: z.array(z.enum(REVIEW_REASONS, `must be one of ${REVIEW_REASONS.join(", ")}`)).optional(),
});

const approval = z.strictObject({
  by: z.array(text, "must be a list of roles").min(1, "must name a role"),
  quorum: z.int("must be a whole number").min(1).optional(),
});

const OTHERWISE = ["left-out", "over-limit"] as const;

const schema = z.strictObject({
  tests: z
    .array(
      z.strictObject({
        name: text.optional(),
        bill,
        expect: z.union(
          [approval, z.enum(OTHERWISE)],
          "must be { by: [ROLE…], quorum: N }, left-out or over-limit",
        ),
      }),
      "must be a list of tests",
    )
    .min(1, "must have a test"),
});

type Fixture = z.output<typeof schema>["tests"][number];

export interface FixtureResult {
  readonly name: string;
  /** What the playbook says of the bill. */
  readonly found: string;
  /** Undefined where it is as expected. */
  readonly problem?: Problem;
}

export type FixturesReading =
  | { readonly ok: true; readonly results: readonly FixtureResult[] }
  | { readonly ok: false; readonly problems: readonly Problem[] };

/**
 * Asks a playbook who would have to approve each bill of a test file, without anything running.
 *
 * @param source the test file's text: `tests: [{ name?, bill: { amount, … }, expect }]`
 * @returns the mistakes of the file, or what each test came to
 */
export function testPlaybook(
  playbook: PayRunPlaybook,
  source: string,
  file: string,
): FixturesReading {
  const tree = readSource(source, file);
  if (tree.problems.length > 0) return { ok: false, problems: tree.problems };
  const parsed = schema.safeParse(tree.value);
  if (!parsed.success) {
    return { ok: false, problems: parsed.error.issues.flatMap((issue) => located(issue, tree)) };
  }
  const results = parsed.data.tests.map((test, index) => judged(playbook, test, index, tree));
  return { ok: true, results };
}

function located(issue: z.core.$ZodIssue, tree: Source): Problem[] {
  const path = issue.path.filter((part) => typeof part !== "symbol");
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((key) =>
      tree.locate({
        path: [...path, key],
        anchor: "key",
        message: `\`${key}\` means nothing here`,
      }),
    );
  }
  const fault: unknown = issue.code === "custom" ? issue.params?.["fault"] : undefined;
  const given = typeof fault === "object" && fault !== null ? (fault as Partial<Issue>) : {};
  const isMissing = !tree.has(path);
  const last = path.at(-1);
  const where = isMissing ? path.slice(0, -1) : path;
  const message = isMissing ? `\`${String(last)}\` is missing` : issue.message;
  return [tree.locate({ message, ...given, path: where, anchor: "value" })];
}

function judged(
  playbook: PayRunPlaybook,
  test: Fixture,
  index: number,
  tree: Source,
): FixtureResult {
  const name = test.name ?? `test ${index + 1}`;
  const found = outcomeOf(playbook, test.bill);
  const wanted =
    typeof test.expect === "string"
      ? test.expect
      : approvalText(test.expect.by, test.expect.quorum ?? 1);
  if (found.text === wanted) return { name, found: found.text };
  const problem = tree.locate({
    path: ["tests", index, "expect"],
    anchor: "value",
    message: `${name}: the playbook says ${found.text}${found.because}`,
    expected: wanted,
  });
  return { name, found: found.text, problem };
}

interface Outcome {
  readonly text: string;
  readonly because: string;
}

function outcomeOf(playbook: PayRunPlaybook, given: Fixture["bill"]): Outcome {
  const flags = given.flags ?? [];
  const view = viewOf(given, []);
  const { where, limits, review, approve } = playbook;
  try {
    if (where !== null && !evaluateCondition(where, view)) {
      return { text: "left-out", because: " (its “where” condition)" };
    }
    if (limits.billCents !== null && given.amount > limits.billCents) {
      return { text: "over-limit", because: " (its limit for a bill)" };
    }
    const inReview = flags.some((flag) => review.includes(flag));
    const facts = { amountCents: given.amount, inReview };
    const { rule, index } = ruleFor(facts, approve, (condition) =>
      evaluateCondition(condition, viewOf(given, flags)),
    );
    return { text: approvalText(rule.by, rule.quorum), because: ` (rule ${index + 1})` };
  } catch (error) {
    if (error instanceof ConditionError)
      return { text: "left-out", because: ` (${error.message})` };
    throw error;
  }
}

function approvalText(by: readonly string[], quorum: number): string {
  return `${quorum} of ${[...by].sort().join(", ")}`;
}

function viewOf(given: Fixture["bill"], flags: readonly string[]): ConditionView {
  return {
    id: "pay_test",
    publicId: null,
    description: given.description ?? null,
    customNumber: given.number ?? null,
    amountCents: given.amount,
    totalAmountCents: given.amount,
    amountPaidCents: 0,
    dueDate: given.due ?? null,
    issueDate: given.issued ?? null,
    status: "approved",
    paymentStatus: "unpaid",
    vendor: {
      id: "con_test",
      name: given.vendor ?? null,
      type: given.vendorType ?? null,
      netTerms: null,
      bankLast4: null,
    },
    flags,
  };
}

/** Where the tests of a playbook's file stand: `weekly.yaml` has `weekly.test.yaml`. */
export function fixturesOf(file: string): string {
  const name = basename(file);
  return file.slice(0, file.length - name.length) + name.replace(/(\.ya?ml)$/, ".test$1");
}
