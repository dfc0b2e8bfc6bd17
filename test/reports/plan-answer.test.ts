import { expect, test } from "vitest";
import { DryPlanBody } from "../../src/api/runs.ts";
import { planAnswer } from "../../src/reports/plan-answer.ts";
import { planLine, planSummary } from "../store/fixtures.ts";

const where = { business: "acme", playbook: "weekly", period: "2026-11-05", planId: "dry_1" };
const page = { page: 1, pageSize: 5, totalCount: 1, nextPage: null };

test("a plan's lines have the fields that the API describes, and none that only the engine needs", () => {
  const lines = [planLine("pay_1")];
  const plan = { ...planSummary(lines), ...where, ...page, lines, skipped: [] };
  const [line = {}] = planAnswer(plan, { zone: "America/Chicago" }).lines;
  const described = Object.keys(DryPlanBody.shape.lines.element.shape);
  expect(described).toEqual(expect.arrayContaining(Object.keys(line)));
  expect(line).toMatchObject({ payableId: "pay_1" });
});

test("a plan for a period that was already launched warns that a launch pays nothing of it, and says what does", () => {
  const lines = [planLine("pay_1")];
  const plan = { ...planSummary(lines), ...where, ...page, lines, skipped: [] };
  const zone = "America/Chicago";
  const alone = planAnswer({ ...plan, warnings: ["Old books."] }, { zone });
  expect(alone.warnings).toEqual(["Old books."]);
  const joining = planAnswer(
    { ...plan, warnings: ["Old books."] },
    { zone, joins: "pay-run/acme/weekly/2026-11-05" },
  );
  expect(joining.warnings).toEqual([
    "Old books.",
    expect.stringMatching(/^weekly\/2026-11-05 was launched already: .*payrun pay BILL/),
  ]);
});
