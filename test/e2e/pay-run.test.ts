import { describe, expect } from "vitest";
import { keepHistory } from "../support/keep-history.ts";
import { payrunTest } from "../support/payrun-test.ts";
import { ended, expectBank, plannedScene, standing } from "../support/scene.ts";
import { approve } from "../support/stack.ts";

const test = payrunTest();

describe("a weekly pay run", () => {
  test("a pay run pays three bills once approved, follows them to settlement and agrees with the bank", async ({
    payrun,
  }) => {
    const { runId, made } = await plannedScene(payrun, "weekly", [125_00, 990_10, 12_345_67]);
    const planned = await payrun.status(runId);
    expect(planned.payments.map(({ payableId }) => payableId).sort()).toEqual(
      made.map(({ id }) => id).sort(),
    );
    expect(planned.totalCents).toBe(1_346_077);

    await approve(payrun, runId);
    await payrun.until(runId, "scheduled", ({ counts }) => counts.scheduled === 3);
    const done = await ended(payrun, runId);

    expect(done.phase).toBe("completed");
    expect(standing(done)).toEqual({ settled: 3 });
    await keepHistory(payrun, runId, "pay-run-settles");
    await expectBank(
      payrun,
      made.map((bill) => [bill, bill.amountCents]),
    );
  });

  test("a pay run pays nothing on its launcher's own approval", async ({ payrun }) => {
    const { runId, made } = await plannedScene(payrun, "own-approval", [100_00]);
    const own = await payrun.decide("launcher", runId, "approve");
    expect(own.status).toBe(403);
    expect((await payrun.status(runId)).phase).toBe("awaiting-approval");
    await expectBank(payrun, [[made[0], 0]]);
  });

  test("a pay run leaves out the line that an approver drops, and pays the others", async ({
    payrun,
  }) => {
    const { runId, made } = await plannedScene(payrun, "dropped", [100_00, 200_00]);
    const [dropped, kept] = made;
    const { status } = await payrun.decide("controller", runId, "approve", {
      drop: [dropped?.id],
    });
    expect(status).toBe(200);
    const done = await ended(payrun, runId);
    expect(standing(done)).toEqual({ settled: 1, cancelled: 1 });
    await expectBank(payrun, [
      [dropped, 0],
      [kept, 200_00],
    ]);
  });

  test("a pay run that is launched twice for one period is one run", async ({ payrun }) => {
    const { runId } = await plannedScene(payrun, "twice", [100_00]);
    expect(await payrun.launch("twice")).toBe(runId);
  });

  test("a rejected pay run ends as rejected, and the next launch is its next revision", async ({
    payrun,
  }) => {
    const { runId, made } = await plannedScene(payrun, "rejected", [100_00]);
    expect((await payrun.decide("controller", runId, "reject")).status).toBe(200);
    await payrun.untilPhase(runId, "rejected");
    await keepHistory(payrun, runId, "pay-run-rejected");
    expect(await payrun.launch("rejected")).toBe(`${runId}/r2`);
    await expectBank(payrun, [[made[0], 0]]);
  });
});
