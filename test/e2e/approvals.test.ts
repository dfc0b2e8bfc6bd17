import { describe, expect, test } from "vitest";
import { SIGNAL, UPDATE } from "../../src/contracts/names.ts";
import { isLong } from "../support/long.ts";
import { keepHistory } from "../support/keep-history.ts";
import { approve, plannedRun, stacks, untilEnded } from "../support/stack.ts";

const start = stacks();

describe("nothing is paid unapproved", () => {
  test("a forged approval sent to Temporal moves nothing", async () => {
    const payrun = await start();
    const { runId } = await plannedRun(payrun, [100_00]);
    const { planHash } = await payrun.status(runId);
    const handle = payrun.temporal.workflow.getHandle(runId);
    const forged = JSON.stringify({ decision: "approve", planHash, principal: "owner" });
    const verdict = await handle.executeUpdate<{ accepted: boolean }, [string]>(UPDATE.decide, {
      args: [forged],
    });
    expect(verdict.accepted).toBe(false);
    await handle.signal(SIGNAL.eventsArrived);
    await handle.signal("approve", forged);
    await expect.poll(async () => (await payrun.status(runId)).phase).toBe("awaiting-approval");
    const { body } = await payrun.sandbox.api<{ totalCount: number }>("GET", "/v1/payments");
    expect(body.totalCount).toBe(0);
  });

  test.runIf(isLong)(
    "an approval of an old plan is refused, and the changed line needs a new approval",
    async () => {
      const payrun = await start();
      const { runId, made } = await plannedRun(payrun, [100_00, 200_00]);
      const old = await payrun.status(runId);
      const [changed, kept] = made;
      await payrun.sandbox.control.changePayable(changed?.id ?? "", { totalAmountCents: 150_00 });
      await approve(payrun, runId);
      const replanned = await payrun.until(
        runId,
        "replanned",
        ({ planHash, counts }) => planHash !== old.planHash && counts["awaiting-approval"] === 1,
      );
      const line = replanned.payments.find(({ payableId }) => payableId === changed?.id);
      expect(line?.amountCents).toBe(150_00);
      const path = `/v1/runs/${encodeURIComponent(runId)}/decisions`;
      const stale = await payrun.call("owner", "POST", path, {
        decision: "approve",
        planHash: old.planHash,
      });
      expect(stale.status).toBe(409);
      await approve(payrun, runId);
      const done = await untilEnded(payrun, runId);
      await keepHistory(payrun, runId, "pay-run-asks-again");
      expect(done.counts).toEqual({ settled: 2 });
      expect(done.payments.find(({ payableId }) => payableId === kept?.id)?.amountCents).toBe(
        200_00,
      );
    },
  );
});
