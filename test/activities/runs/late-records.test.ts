import { describe, expect } from "vitest";
import { recordOutcome } from "../../../activities/pay/record.ts";
import { RUN_LINES } from "../../../activities/pay/run-lines.ts";
import type { ActivityContext } from "../../../activities/shared/context.ts";
import { recordPaidLines } from "../../../src/store/lines/line-leases.ts";
import { planLineOf } from "../../../src/store/lines/lines.ts";
import { getRun } from "../../../src/store/runs/runs.ts";
import type { MoneyWorld, PlannedBills } from "../money-world.ts";
import { dueRetry, test } from "../retry-world.ts";

/** Returns a context whose clock stops at its nth reading until `meanwhile` is done. */
function frozenAt(
  world: MoneyWorld,
  reading: number,
  meanwhile: () => Promise<void>,
): ActivityContext {
  const context = world.context();
  const clock = context.clockOf("acme");
  let readings = 0;
  const now = async () => {
    readings += 1;
    if (readings === reading) await meanwhile();
    return clock.now();
  };
  return Object.defineProperties(context, { clockOf: { value: () => ({ now }) } });
}

test("a worker that froze before recording a retry's result does not overwrite a newer send", async ({
  world,
}) => {
  const { runId, payableId } = await dueRetry(world);
  const { payables } = world.context().clientOf("acme");
  let reads = 0;
  // The read of the bill that precedes its payment finds it declined.
  world.override = {
    getPayable: async (id) => {
      reads += 1;
      return { ...(await payables.get(id)), status: reads === 2 ? "declined" : "approved" };
    },
  };
  const another = async () => {
    await world.store.db
      .updateTable("run_lines")
      .set({ lease_until_ms: 1 })
      .where("run_id", "=", runId)
      .execute();
    const lost = { kind: "no-answer", sent: true, code: "no_answer", reason: "cut off" } as const;
    world.override = { sendMoneyWrite: () => Promise.resolve(lost) };
    await world.retry(payableId);
    world.override = {};
  };
  // The worker freezes between the gate's answer and its record.
  await world.retry(payableId, "test/retry/frozen", frozenAt(world, 4, another));
  expect(await world.line(runId, payableId)).toMatchObject({ state: "retrying" });
  expect(await world.look(payableId)).toMatchObject({
    phase: "waiting",
    waitingFor: "backing off before the next lookup",
  });
});

describe("a late record of the first payment of a bill that was paid again", () => {
  async function paidAgain(world: MoneyWorld): Promise<PlannedBills> {
    const planned = await dueRetry(world);
    await world.retry(planned.payableId);
    const line = await world.line(planned.runId, planned.payableId);
    expect(line.paymentIds).toHaveLength(2);
    return planned;
  }

  test.for(["with its answer", "by a look"] as const)(
    "a record of the first payment %s leaves the line of a bill that was paid again alone",
    async (how, { world }) => {
      const { runId, payableId } = await paidAgain(world);
      const before = await world.line(runId, payableId);
      const paymentIds = before.paymentIds.slice(0, 1);
      const { businessId, store } = world;
      const run = await getRun(store.db, runId);
      if (run === undefined) throw new Error("no run");
      if (how === "with its answer") {
        const late = { runId, payableId, state: "scheduled", paymentIds } as const;
        const times = { pollAtMs: 0, nowMs: Date.now() };
        await store.transactionOf(businessId, (trx) => recordPaidLines(trx, [late], times));
      } else {
        const limits = () => run.policy.limits;
        const owner = {
          ...run,
          limits,
          lines: RUN_LINES,
          owner: runId,
          by: "test/frozen",
          plannedAtMs: 0,
        };
        const job = {
          line: { ...before, paymentIds: [] },
          plan: await planLineOf(store.db, before),
        };
        const found = {
          kind: "applied",
          payments: [],
          paymentIds,
          found: true,
          sent: null,
        } as const;
        await recordOutcome(world.context(), owner, job, found);
      }
      const { state, paymentIds: ids } = await world.line(runId, payableId);
      expect({ state, ids }).toEqual({ state: before.state, ids: before.paymentIds });
    },
  );
});
