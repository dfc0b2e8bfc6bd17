import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import { isLong } from "../support/long.ts";
import { payrunTest } from "../support/payrun-test.ts";
import type { TestPayrun } from "../support/payrun.ts";
import { plannedScene } from "../support/scene.ts";
import { approve } from "../support/stack.ts";

const test = payrunTest();

async function eventsOf(payrun: TestPayrun, workflowId: string): Promise<number> {
  const { historyLength } = await payrun.temporal.workflow.getHandle(workflowId).describe();
  return historyLength;
}

/** A sandbox's clock runs like a real one until a person moves it. */
test.runIf(isLong)(
  "a run that waits in a sandbox writes almost nothing, and notices at once that its clock was moved",
  async ({ payrun }) => {
    const waits = await plannedScene(payrun, "waits", [110_00]);
    const held = await plannedScene(payrun, "held", [120_00]);
    const reason = "The goods have not come.";
    const hold = { payableId: held.made[0]?.id, reason, until: "P2D" };
    const placed = await payrun.call("operator", "POST", "/v1/holds", hold);
    expect(placed.status).toBe(201);
    await approve(payrun, held.runId);
    await payrun.until(held.runId, "on hold", ({ counts }) => counts["on-hold"] === 1);
    await sleep(3_000);
    const runIds = [waits.runId, held.runId];
    const before = await Promise.all(runIds.map((runId) => eventsOf(payrun, runId)));
    await sleep(20_000);
    const after = await Promise.all(runIds.map((runId) => eventsOf(payrun, runId)));
    for (const [index, events] of after.entries()) {
      // Ten events a minute at most.
      expect(events - (before[index] ?? 0)).toBeLessThanOrEqual(3);
    }

    // The hold ends by itself.
    await payrun.sandbox.control.advance("P3D");
    await payrun.until(
      held.runId,
      "let go",
      ({ counts }) => counts["on-hold"] === undefined,
      3_000,
    );
    // No approval arrives in time.
    await payrun.sandbox.control.advance("P31D");
    await payrun.until(waits.runId, "expired", ({ phase }) => phase === "expired", 3_000);
  },
);
