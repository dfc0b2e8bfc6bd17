import { expect } from "vitest";
import { retryFailedPaymentId } from "../../src/contracts/workflow-kinds.ts";
import { getRetryByWorkflowId } from "../../src/store/retries/retries.ts";
import {
  askToCancel,
  hasEnded,
  scheduledBill,
  untilCancellation,
} from "../support/cancellations.ts";
import { NEXT_DAY_RETRIES } from "../support/next-day-retries.ts";
import { payrunTest } from "../support/payrun-test.ts";
import { paymentsOf, plannedScene, standing } from "../support/scene.ts";
import { approve } from "../support/stack.ts";

const test = payrunTest({ worker: false });

test("runs, decisions and cancellations go on without a worker for retries, and failed payments wait for one", async ({
  payrun,
}) => {
  const { control } = payrun.sandbox;
  await payrun.startWorker(["steps", "money", "reading"]);
  await payrun.apply("next-day", NEXT_DAY_RETRIES);
  const failing = await plannedScene(payrun, "no-retries", [130_00], {
    more: ["onFailure: next-day"],
  });
  const [bill] = failing.made;
  const match = { payableId: bill?.id ?? "" };
  await control.outcome({ match, outcome: "fail", code: "R09", times: 1 });
  await approve(payrun, failing.runId);
  await payrun.until(failing.runId, "sent", ({ counts }) => counts.scheduled === 1);
  await control.advance("P8D");
  await payrun.until(failing.runId, "handed over", ({ counts }) => counts.retrying === 1);

  const { paymentId } = await scheduledBill(payrun, 140_00);
  const cancelled = await untilCancellation(
    payrun,
    await askToCancel(payrun, [paymentId]),
    "ended",
    hasEnded,
  );
  expect(cancelled.counts).toEqual({ cancelled: 1 });
  const retryId = retryFailedPaymentId("default", bill?.id ?? "");
  const phase = async () => (await getRetryByWorkflowId(payrun.store.db, retryId))?.phase;
  expect(await phase()).not.toBe("waiting");

  await payrun.startWorker(["retries"]);
  await expect.poll(phase).toBe("waiting");
  await control.advance("P4D");
  await expect.poll(phase).toBe("following");
  await control.advance("P10D");
  expect(standing(await payrun.untilPhase(failing.runId, "completed"))).toEqual({ settled: 1 });
  expect(await paymentsOf(payrun, bill)).toHaveLength(2);
});
