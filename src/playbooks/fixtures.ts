import { basename } from "node:path";
import { z } from "zod";
import { type ApprovalStage, type PayRunPlaybook, REVIEW_REASONS } from "../contracts/playbook.ts";
import { ruleFor } from "../domain/approvals/rules.ts";
import { spanText } from "../domain/clock/spans.ts";
import { read, span } from "./blocks.ts";
import { ConditionError, evaluateCondition } from "./conditions.ts";
import { isInReview } from "../domain/planning/flagged.ts";
import { overBillLimit, type PaidBill, wholeCents } from "../domain/planning/limits.ts";
import type { ConditionView } from "../domain/planning/condition-view.ts";
import type { Problem } from "./problem.ts";
import { type Issue, readSource, type Source } from "./source.ts";
import { readMoney } from "./texts.ts";

const date = z.iso.date("must be a date such as 2026-01-31");
const text = z.string("must be text");

const FLAGS = [...REVIEW_REASONS, "rejected-before", "changed-since-plan"] as const;

const bill = z.strictObject({
  amount: read(readMoney),
  /** The whole bill, if `amount` is a part of it. */
  total: read(readMoney).optional(),
  /** What its vendor is paid besides, in this run and this week. */
  besides: read(readMoney).optional(),
  vendor: text.optional(),
  vendorType: text.optional(),
  description: text.optional(),
  number: text.optional(),
  due: date.optional(),
  issued: date.optional(),
  flags: z.array(z.enum(FLAGS, `must be one of ${FLAGS.join(", ")}`)).optional(),
});

const roles = z.array(text, "must be a list of roles").min(1, "must name a role");

const stage = z.strictObject({
  by: roles,
  quorum: z.int("must be a whole number").min(1, "must be at least 1").optional(),
  escalate: z
    .union(
      [
        z.strictObject({ after: span({ most: 60, example: "1 day" }), to: roles }),
        z.literal("none"),
      ],
      "must be { after: 1 day, to: [ROLE…] } or none",
    )
    .optional(),
});

const stages = z.strictObject({
  stages: z.array(stage, "must be a list of stages").min(1, "must have a stage"),
});

const OTHERWISE = ["left-out", "over-limit"] as const;

const schema = z.strictObject(
  {
    tests: z
      .array(
        z.strictObject({
          name: text.optional(),
          bill,
          expect: z.union(
            [stage, stages, z.enum(OTHERWISE)],
            "must be { by: [ROLE…], quorum: N }, { stages: [{ by: [ROLE…] }, …] }, left-out or over-limit",
          ),
        }),
        "must be a list of tests",
      )
      .min(1, "must have a test"),
  },
  "must be `tests:` with a list of tests",
);

type Fixture = z.output<typeof schema>["tests"][number];

export interface FixtureResult {
  readonly name: string;
  /** What the playbook decides about the bill. */
  readonly found: string;
  /** Undefined if the result is as expected. */
  readonly problem?: Problem;
}

export type FixturesReading =
  | { readonly ok: true; readonly results: readonly FixtureResult[] }
  | { readonly ok: false; readonly problems: readonly Problem[] };

/**
 * Determines who would have to approve each bill of a test file, without running anything.
 *
 * @param source the test file's text: `tests: [{ name?, bill: { amount, … }, expect }]`
 * @returns the mistakes in the file, or the result of each test
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
  const wantedStages = stagesOf(test.expect);
  // A test that mentions no escalation doesn't check escalations.
  const asksEscalation = wantedStages.some(({ escalate }) => escalate !== undefined);
  const { outcome, because } = rulingOf(playbook, test.bill);
  const found = outcomeText(outcome, asksEscalation);
  const wanted =
    typeof test.expect === "string"
      ? test.expect
      : outcomeText(wantedStages.map(compiled), asksEscalation);
  if (found === wanted) return { name, found };
  const problem = tree.locate({
    path: ["tests", index, "expect"],
    anchor: "value",
    message: `${name}: the playbook says ${found}${because}`,
    expected: wanted,
  });
  return { name, found, problem };
}

type Outcome = (typeof OTHERWISE)[number] | readonly ApprovalStage[];

interface Ruling {
  readonly outcome: Outcome;
  readonly because: string;
}

/** Returns a playbook's decision about a bill of that many cents, in the form of `expect`. */
export function expectationOf(playbook: PayRunPlaybook, amountCents: number): Expected {
  const { outcome } = rulingOf(playbook, { amount: amountCents });
  if (typeof outcome === "string") return outcome;
  const stages = outcome.map(({ by, quorum }) => ({
    by: [...by],
    ...(quorum === 1 ? {} : { quorum }),
  }));
  const [first, ...more] = stages;
  return first !== undefined && more.length === 0 ? first : { stages };
}

type Expected = Fixture["expect"];
type ExpectedStage = z.output<typeof stage>;

function stagesOf(expect: Expected): readonly ExpectedStage[] {
  if (typeof expect === "string") return [];
  return "stages" in expect ? expect.stages : [expect];
}

function compiled({ by, quorum = 1, escalate }: ExpectedStage): ApprovalStage {
  return {
    by,
    quorum,
    ...(escalate === undefined || escalate === "none" ? {} : { escalate }),
  };
}

function rulingOf(playbook: PayRunPlaybook, given: Fixture["bill"]): Ruling {
  const flags = given.flags ?? [];
  const view = viewOf(given, []);
  const { where, limits, approve } = playbook;
  try {
    if (where !== null && !evaluateCondition(where, view)) {
      return { outcome: "left-out", because: " (its “where” condition)" };
    }
    const paid = paidOf(given);
    if (overBillLimit(paid, limits) !== null) {
      return { outcome: "over-limit", because: " (its limit for a bill)" };
    }
    const inReview = isInReview(
      flags.map((kind) => ({ kind })),
      playbook,
    );
    const { besides = 0 } = given;
    const besidesCents = { vendor: besides, "vendor-week": besides };
    const facts = { billCents: wholeCents(paid), besidesCents, inReview };
    const { rule, index } = ruleFor(facts, approve, (condition) =>
      evaluateCondition(condition, viewOf(given, flags)),
    );
    const { stages = [{ by: rule.by, quorum: rule.quorum }] } = rule;
    return { outcome: stages, because: ` (rule ${index + 1})` };
  } catch (error) {
    if (error instanceof ConditionError)
      return { outcome: "left-out", because: ` (${error.message})` };
    throw error;
  }
}

function paidOf({ amount, total = amount }: Fixture["bill"]): PaidBill {
  return { amountCents: amount, totalCents: total };
}

function outcomeText(outcome: Outcome, withEscalations: boolean): string {
  if (typeof outcome === "string") return outcome;
  const list = (roles: readonly string[]): string => roles.toSorted().join(", ");
  return outcome
    .map(({ by, quorum, escalate }) => {
      const people = `${quorum} of ${list(by)}`;
      if (!withEscalations) return people;
      if (escalate === undefined) return `${people} (no escalation)`;
      return `${people} (or ${list(escalate.to)} after ${spanText(escalate.after)})`;
    })
    .join(", then ");
}

function viewOf(given: Fixture["bill"], flags: readonly string[]): ConditionView {
  return {
    id: "pay_test",
    publicId: null,
    description: given.description ?? null,
    customNumber: given.number ?? null,
    amountCents: given.amount,
    totalAmountCents: paidOf(given).totalCents,
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

/** Returns the path of the tests for a playbook's file: `weekly.yaml` has `weekly.test.yaml`. */
export function fixturesOf(file: string): string {
  const name = basename(file);
  return file.slice(0, file.length - name.length) + name.replace(/(\.ya?ml)$/, ".test$1");
}
