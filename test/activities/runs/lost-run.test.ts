import { expect } from "vitest";
import { reviewRun } from "../../../activities/runs/review-run.ts";
import { openRun } from "../../../activities/runs/open-run.ts";
import { reviewCancellation } from "../../../activities/cancel/review-cancellation.ts";
import { cancelPayments } from "../../../activities/cancel/cancel-payments.ts";
import { choosePayments } from "../../../activities/cancel/choose-payments.ts";
import { followRefunds } from "../../../activities/cancel/follow-refunds.ts";
import { followPayments } from "../../../activities/runs/follow-payments.ts";
import { reserveMoney } from "../../../activities/runs/reserve-money.ts";
import { cancelScheduledPaymentsId } from "../../../src/contracts/workflow-kinds.ts";
import { test } from "../money-world.ts";

test("a run that the store has lost says so, and sleeps until it is launched again", async ({
  world,
}) => {
  const context = world.context();
  const runId = "pay-run/acme/forgotten/2026-01-05";
  expect(await openRun(context, runId)).toMatchObject({ ended: false, planned: true });
  const now = await reviewRun(context, runId);
  expect(now).toMatchObject({ phase: "planning", ended: false, needsAction: true });
  expect(now.waitingFor).toMatch(/launch it again/);
  expect(now.wakeInMs).toBeGreaterThanOrEqual(600_000);
  // A step that was under way when the store was lost ends, and leaves the rest to the next look.
  expect(await reserveMoney(context, runId)).toEqual({ funded: 0, short: 0 });
  expect(await followPayments(context, runId)).toEqual({ changed: 0 });
});

test("a cancellation that the store has lost ends with exceptions", async ({ world }) => {
  const context = world.context();
  const id = cancelScheduledPaymentsId("acme", "forgotten");
  await choosePayments(context, id);
  const stop = new AbortController().signal;
  expect(await cancelPayments(context, { id, by: "w", stop })).toEqual({ ended: 0 });
  expect(await followRefunds(context, id)).toEqual({ ended: 0 });
  expect(await reviewCancellation(context, id)).toMatchObject({
    phase: "completed-with-exceptions",
    ended: true,
    business: "acme",
  });
});
