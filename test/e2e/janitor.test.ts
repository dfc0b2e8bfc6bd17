import { describe, expect, test } from "vitest";
import { retryFailedPaymentId } from "../../src/contracts/workflow-kinds.ts";
import { paidOnce, type TestPayrun } from "../support/payrun.ts";
import { clockNoticed, paymentRequests } from "../support/scene.ts";
import { approve, each, plannedRun, stacks, untilEnded } from "../support/stack.ts";
import { isLong } from "../support/long.ts";

const start = stacks();

/** Milliseconds of real time between passes in this file. */
const PASS_EVERY_MS = 400;

/** Checks a stack at its end: each bill is paid once, and no claim is left. */
async function expectAllDone(payrun: TestPayrun, made: Parameters<typeof each>[0]): Promise<void> {
  const { actual, expected } = await paidOnce(payrun, each(made));
  expect(actual).toEqual(expected);
  const claims = await payrun.store.db.selectFrom("claims").selectAll().execute();
  expect(claims).toEqual([]);
}

interface HoldJson {
  readonly id: string;
  readonly scope: string;
  readonly author: string;
  readonly reason: string;
}

async function holds(payrun: TestPayrun): Promise<HoldJson[]> {
  const { body } = await payrun.call<{ items: HoldJson[] }>("operator", "GET", "/v1/holds");
  return body.items;
}

/** Waits for a hold that Payrun has set itself. */
async function ownHold(payrun: TestPayrun, scope: string): Promise<HoldJson> {
  let found: HoldJson | undefined;
  await expect
    .poll(async () => {
      const all = await holds(payrun);
      found = all.find((hold) => hold.scope === scope && hold.author === "payrun");
      return found?.author;
    })
    .toBe("payrun");
  if (found === undefined) throw new Error(`no hold on ${scope}`);
  return found;
}

async function release(payrun: TestPayrun, hold: Pick<HoldJson, "id">): Promise<void> {
  const { status } = await payrun.call("operator", "DELETE", `/v1/holds/${hold.id}`);
  expect(status).toBe(200);
}

const BIG_NEEDS_OWNER = `kind: pay-run
select: { due: all }
pay: { on: next-business-day }
review: []
approve:
  - { over: $1k, by: [owner] }
  - { by: [controller, owner] }
late: next-business-day
`;

/** Makes each payment so slow that things can happen in the middle of it. */
async function slowPayments(payrun: TestPayrun): Promise<void> {
  await payrun.sandbox.control.faults([
    { method: "POST", path: "/v1/payments", when: "after", effect: "delay", delayMs: 3_000 },
  ]);
}

describe("a run whose workflow was terminated", () => {
  test("a run terminated while paying sends nothing until a person releases it, and follows what it sent", async () => {
    const payrun = await start({ janitorEveryMs: PASS_EVERY_MS });
    const amounts = [10_00, 20_00, 30_00, 5_000_00];
    const { runId, made } = await plannedRun(payrun, amounts, BIG_NEEDS_OWNER);
    await slowPayments(payrun);
    await approve(payrun, runId);
    await payrun.until(runId, "paying", ({ counts }) => counts.paying === 3);
    await payrun.temporal.workflow.getHandle(runId).terminate("looks wrong");
    const hold = await ownHold(payrun, "run");
    expect(hold.reason).toMatch(/terminated in Temporal/);
    await payrun.sandbox.control.faults([]);
    const owner = await payrun.decide("owner", runId, "approve");
    expect(owner.status).toBe(200);
    await payrun.until(
      runId,
      "held",
      ({ counts }) => counts["on-hold"] === 1 && counts.scheduled === 3,
    );
    await release(payrun, hold);
    const done = await untilEnded(payrun, runId);
    expect(done.counts).toEqual({ settled: 4 });
    await expectAllDone(payrun, made);
  });

  test.runIf(isLong)(
    "a run that is terminated or cancelled in Temporal while settling is followed to its end",
    async () => {
      const payrun = await start({ janitorEveryMs: PASS_EVERY_MS });
      const { runId, made } = await plannedRun(payrun, [10_00, 20_00, 5_000_00], BIG_NEEDS_OWNER);
      await approve(payrun, runId);
      await payrun.until(runId, "sent", ({ counts }) => counts.scheduled === 2);
      const workflow = payrun.temporal.workflow.getHandle(runId);
      await workflow.cancel();
      const cancelled = await payrun.until(
        runId,
        "cancelled",
        ({ counts }) => counts.cancelled === 1,
      );
      expect(cancelled.counts.scheduled).toBe(2);
      await expect.poll(async () => (await workflow.describe()).status.name).toBe("RUNNING");
      // Nothing is left to be sent, so nothing needs a hold.
      await workflow.terminate("by mistake");
      const done = await untilEnded(payrun, runId);
      expect(done.counts).toEqual({ settled: 2, cancelled: 1 });
      expect(await holds(payrun)).toEqual([]);
      await expectAllDone(payrun, made.slice(0, 2));
    },
  );

  test.runIf(isLong)(
    "a retry that was terminated makes no payment until a person releases the bill",
    async () => {
      const payrun = await start({ janitorEveryMs: PASS_EVERY_MS });
      const { runId, made } = await plannedRun(payrun, [10_00]);
      const [bill] = made;
      const payableId = bill?.id ?? "";
      await payrun.sandbox.control.outcome({
        match: { payableId },
        outcome: "fail",
        code: "R01",
        times: 1,
      });
      await approve(payrun, runId);
      await payrun.until(runId, "sent", ({ counts }) => counts.scheduled === 1);
      // Without it the retry could pay before it is terminated.
      const body = { payableId, reason: "not before its workflow is gone" };
      const kept = await payrun.call<{ id: string }>("operator", "POST", "/v1/holds", body);
      await payrun.sandbox.control.advance("P4D");
      await payrun.until(runId, "retrying", ({ counts }) => counts.retrying === 1);
      const workflowId = retryFailedPaymentId("default", payableId);
      await payrun.temporal.workflow.getHandle(workflowId).terminate("not again");
      const hold = await ownHold(payrun, "payable");
      await release(payrun, kept.body);
      await payrun.sandbox.control.advance("P4D");
      await clockNoticed();
      expect(await paymentRequests(payrun)).toBe(1);
      await release(payrun, hold);
      await expect.poll(() => paymentRequests(payrun)).toBe(2);
      const done = await untilEnded(payrun, runId);
      expect(done.counts).toEqual({ settled: 1 });
      await expectAllDone(payrun, made);
    },
  );
});

describe("a payment that is returned weeks after its run has ended", () => {
  test.runIf(isLong)(
    "a payment that is returned weeks after its run gets a retry even without webhooks",
    async () => {
      const payrun = await start({ janitorEveryMs: PASS_EVERY_MS, webhooks: false });
      const { runId, made } = await plannedRun(payrun, [10_00, 20_00]);
      const [bill] = made;
      const payableId = bill?.id ?? "";
      await payrun.sandbox.control.outcome({
        match: { payableId },
        outcome: "return",
        code: "R10",
        after: "P60D",
      });
      await approve(payrun, runId);
      const done = await untilEnded(payrun, runId);
      expect(done.counts).toEqual({ settled: 2 });
      await payrun.sandbox.control.setScale(1);
      await payrun.sandbox.control.advance("P70D");
      const late = await payrun.until(
        runId,
        "noticed",
        ({ counts }) => counts.parked === 1,
        60_000,
      );
      const line = late.payments.find((each) => each.payableId === payableId);
      expect(line).toMatchObject({ state: "parked", reasonCode: "R10" });
      const running = await payrun.temporal.workflow
        .getHandle(retryFailedPaymentId("default", payableId))
        .describe();
      expect(running.status.name).toBe("RUNNING");
    },
  );
});
