import { expect } from "vitest";
import { assessRun } from "../../../activities/runs/assess-run.ts";
import { beginRun } from "../../../activities/runs/begin-run.ts";
import { assessCancellation } from "../../../activities/cancel/assess-cancellation.ts";
import { cancelLane } from "../../../activities/cancel/cancel-lane.ts";
import { chooseCancellation } from "../../../activities/cancel/choose.ts";
import { followRefunds } from "../../../activities/cancel/follow-refunds.ts";
import { followRun } from "../../../activities/runs/follow-run.ts";
import { fundRun } from "../../../activities/runs/fund-run.ts";
import { cancelScheduledPaymentsId } from "../../../src/contracts/workflow-kinds.ts";
import { test } from "../money-world.ts";

test("a run that the store has lost says so, and sleeps until it is launched again", async ({
  world,
}) => {
  const context = world.context();
  const runId = "pay-run/acme/forgotten/2026-01-05";
  expect(await beginRun(context, runId)).toMatchObject({ ended: false, planned: true });
  const now = await assessRun(context, runId);
  expect(now).toMatchObject({ phase: "planning", ended: false, needsAction: true });
  expect(now.waitingFor).toMatch(/launch it again/);
  expect(now.wakeInMs).toBeGreaterThanOrEqual(600_000);
  // A step that was under way when the store was lost ends, and leaves the rest to the next look.
  expect(await fundRun(context, runId)).toEqual({ funded: 0, short: 0 });
  expect(await followRun(context, runId)).toEqual({ changed: 0 });
});

test("a cancellation that the store has lost ends with exceptions", async ({ world }) => {
  const context = world.context();
  const id = cancelScheduledPaymentsId("acme", "forgotten");
  await chooseCancellation(context, id);
  const stop = new AbortController().signal;
  expect(await cancelLane(context, { id, by: "w", stop })).toEqual({ ended: 0 });
  expect(await followRefunds(context, id)).toEqual({ ended: 0 });
  expect(await assessCancellation(context, id)).toMatchObject({
    phase: "completed-with-exceptions",
    ended: true,
    business: "acme",
  });
});
