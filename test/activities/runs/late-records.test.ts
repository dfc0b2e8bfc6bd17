import { describe, expect } from "vitest";
import { recordOutcome } from "../../../activities/pay/record.ts";
import type { ActivityContext } from "../../../activities/shared/context.ts";
import { recordPaidLines } from "../../../src/store/lines/line-leases.ts";
import { planLineOf } from "../../../src/store/lines/lines.ts";
import { getRun } from "../../../src/store/runs/runs.ts";
import type { MoneyWorld, PlannedBills } from "../money-world.ts";
import { dueRetry, test } from "../retry-world.ts";

/** A context whose clock stands still at its nth reading, until something has been done. */
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

test("a worker that was frozen over what a retry came to says nothing of what another has sent since", async ({
  world,
}) => {
  const { runId, payableId } = await dueRetry(world);
  const { payables } = world.context().clientOf("acme");
  let reads = 0;
  // Whoever reads the bill to pay it finds it declined.
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
  // Between the gate and the record of what it said.
  await world.retry(payableId, "test/retry/frozen", frozenAt(world, 4, another));
  expect(await world.line(runId, payableId)).toMatchObject({ state: "retrying" });
  expect(await world.look(payableId)).toMatchObject({
    phase: "waiting",
    waitingFor: "resting before the next lookup",
  });
});

describe("a record of the first payment that comes after the bill was paid again", () => {
  async function paidAgain(world: MoneyWorld): Promise<PlannedBills> {
    const planned = await dueRetry(world);
    await world.retry(planned.payableId);
    const line = await world.line(planned.runId, planned.payableId);
    expect(line.paymentIds).toHaveLength(2);
    return planned;
  }

  test.for(["with its answer", "by a look"] as const)(
    "%s leaves the line alone",
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
        const owner = { ...run, owner: runId, by: "test/frozen", plannedAtMs: 0 };
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
