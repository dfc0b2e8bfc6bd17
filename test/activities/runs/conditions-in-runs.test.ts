import { expect } from "vitest";
import { PlanRefusedError } from "../../../activities/shared/plan-refused-error.ts";
import { planOnce } from "../../../activities/runs/make-plan.ts";
import { listSkipped } from "../../../src/store/lines/plan-lines.ts";
import { test } from "../money-world.ts";
import { inDays, POLICY } from "../planning-world.ts";

const [ANYBODY] = POLICY.approve;

const OLD = 'payable.description.matches("(?=rent)")';

test.for([
  ["selects", { where: OLD }],
  ["approves", { approve: [{ ...ANYBODY, where: OLD }, ANYBODY] as typeof POLICY.approve }],
] as const)(
  "a run whose stored condition is refused today says so and has no plan: it %s",
  async ([name, old], { world }) => {
    const runId = await world.world.launch(`old-${name}`, { ...POLICY, ...old });
    const planned = planOnce(world.context(), runId);
    await expect(planned).rejects.toThrow(PlanRefusedError);
    await expect(planned).rejects.toThrow(/“old-.*“payable.description.*looks around/);
  },
);

test("a changed line whose approval rule can't be determined is parked for a person", async ({
  world,
}) => {
  const where = '"changed-bank-account" in payable.flags && 1 / payable.amountPaidCents > 0';
  const approve = [{ ...ANYBODY, where }, ANYBODY] as typeof POLICY.approve;
  const { runId, payableId } = await world.approvedRun([{}], { approve });
  await world.control.changeContact("v1", { bankAccount: { accountNumber: "00009999" } });
  await world.pay(runId);
  expect(await world.line(runId, payableId)).toMatchObject({
    state: "parked",
    reasonCode: "condition_failed",
    reason: expect.stringMatching(/nobody knows who may approve.*division by zero/),
  });
  expect(await world.paymentsOf(payableId)).toEqual([]);
});

test("a vendor's overlong text leaves only its own bill out, and does not occupy the worker", async ({
  world,
}) => {
  const due = { dueDate: inDays(8), issueDate: inDays(-20), contactId: "v1", status: "approved" };
  const text = "rent office floor ".repeat(200);
  const lengths = [2_000, 2_000, 2_000, 2_001];
  for (const length of lengths) {
    const description = text.slice(0, length);
    await world.control.createPayable({ ...due, totalAmountCents: 10_000, description });
  }
  // The thread's own CPU time: on a busy machine the wall clock runs on while the thread waits.
  let latest = process.threadCpuUsage();
  let longestMs = 0;
  const others = setInterval(() => {
    const { user, system } = process.threadCpuUsage(latest);
    longestMs = Math.max(longestMs, (user + system) / 1_000);
    latest = process.threadCpuUsage();
  }, 1);
  const patterns = [String.raw`\w*\w*!`, "rent.*office.*floor.*paid", "(a+)+$"];
  const where = patterns.map((each) => `!payable.description.matches(r"${each}")`).join(" && ");
  const runId = await world.world.launch("long-texts", { ...POLICY, where });
  const { lineCount } = (await planOnce(world.context(), runId)) ?? {};
  clearInterval(others);
  expect(lineCount).toBe(3);
  expect(longestMs).toBeLessThan(1_000);
  const skipped = await listSkipped(world.store.db, runId);
  const failed = skipped.filter(({ code }) => code === "condition_failed");
  expect(failed.map((each) => each.text)).toEqual([expect.stringContaining("2,000 characters")]);
});
