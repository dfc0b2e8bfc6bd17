import { describe, expect, test } from "vitest";
import { keepHistory } from "../support/keep-history.ts";
import { paidOnce } from "../support/payrun.ts";
import { approve, each, plannedRun, stacks, untilEnded } from "../support/stack.ts";

const start = stacks();

describe("a weekly pay run", () => {
  test("pays three bills once approved, follows them to settlement and agrees with the bank", async () => {
    const payrun = await start();
    const { runId, made } = await plannedRun(payrun, [125_00, 990_10, 12_345_67]);
    const planned = await payrun.status(runId);
    expect(planned.payments.map(({ payableId }) => payableId).sort()).toEqual(
      made.map(({ id }) => id).sort(),
    );
    expect(planned.totalCents).toBe(1_346_077);

    await approve(payrun, runId);
    await payrun.until(runId, "scheduled", ({ counts }) => counts.scheduled === 3);
    const done = await untilEnded(payrun, runId);

    expect(done.phase).toBe("completed");
    expect(done.counts).toEqual({ settled: 3 });
    await keepHistory(payrun, runId, "pay-run-settles");
    const { actual, expected } = await paidOnce(payrun, each(made));
    expect(actual).toEqual(expected);
  });

  test("pays nothing on the launcher's own approval", async () => {
    const payrun = await start();
    const { runId } = await plannedRun(payrun, [100_00]);
    const own = await payrun.decide("launcher", runId, "approve");
    expect(own.status).toBe(403);
    expect((await payrun.status(runId)).phase).toBe("awaiting-approval");
    expect(await payrun.sandbox.control.ledger()).toEqual([]);
  });

  test("leaves out the line that an approver drops and pays the others", async () => {
    const payrun = await start();
    const { runId, made } = await plannedRun(payrun, [100_00, 200_00]);
    const [dropped, kept] = made;
    const { status } = await payrun.decide("controller", runId, "approve", {
      drop: [dropped?.id],
    });
    expect(status).toBe(200);
    const done = await untilEnded(payrun, runId);
    expect(done.counts).toEqual({ settled: 1, cancelled: 1 });
    const { actual } = await paidOnce(payrun, new Map());
    expect(actual).toEqual(new Map([[kept?.id, 200_00]]));
  });

  test("launched twice for one period is one run", async () => {
    const payrun = await start();
    const { runId } = await plannedRun(payrun, [100_00]);
    expect(await payrun.launch("weekly")).toBe(runId);
  });

  test("ends as rejected on an approver's word, and the next launch is its next revision", async () => {
    const payrun = await start();
    const { runId } = await plannedRun(payrun, [100_00]);
    expect((await payrun.decide("controller", runId, "reject")).status).toBe(200);
    await payrun.untilPhase(runId, "rejected");
    await keepHistory(payrun, runId, "pay-run-rejected");
    expect(await payrun.launch("weekly")).toBe(`${runId}/r2`);
    expect(await payrun.sandbox.control.ledger()).toEqual([]);
  });
});
