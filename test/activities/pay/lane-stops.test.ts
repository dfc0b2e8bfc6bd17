import { expect, vi } from "vitest";
import type { MoneyWriteAnswer } from "../../../src/payments-api/index.ts";
import { listWaits } from "../../../src/store/runs/waits.ts";
import { PATIENCE_MS } from "../../support/waits.ts";
import { withoutPauses } from "../../support/without-pauses.ts";
import { type MoneyWorld, test } from "../money-world.ts";

/** Requests that a lane keeps under way. */
const IN_FLIGHT = 20;
/** The gate is asked about 20 at a time. */
const BILLS = 2 * IN_FLIGHT + 5;
const WAITING = { timeout: PATIENCE_MS, interval: 5 };

const lost: MoneyWriteAnswer = {
  kind: "no-answer",
  sent: true,
  code: "no_answer",
  reason: "connection reset",
};

/**
 * Runs a lane with more bills than it keeps requests under way. Every request waits until all of
 * them are under way and the gate has let more through, and then for its answer.
 *
 * @returns how many bills requests were sent for, and how many lines are in each state afterwards
 */
async function laneThat(
  world: MoneyWorld,
  answer: (isFirst: boolean) => Promise<MoneyWriteAnswer>,
  stop?: AbortSignal,
) {
  withoutPauses();
  const { runId } = await world.approvedRun(Array.from({ length: BILLS }, () => ({})));
  const written = async () => {
    const { count } = await world.store.db
      .selectFrom("sends")
      .select((eb) => eb.fn.countAll<number>().as("count"))
      .where("owner", "=", runId)
      .executeTakeFirstOrThrow();
    return Number(count);
  };
  const keys = new Set<string>();
  let moreWritten: Promise<unknown> | undefined;
  world.override = {
    sendMoneyWrite: async ({ idempotencyKey }) => {
      const isFirst = keys.size === 0;
      keys.add(idempotencyKey);
      moreWritten ??= vi.waitUntil(
        async () => keys.size >= IN_FLIGHT && (await written()) > IN_FLIGHT,
        WAITING,
      );
      await moreWritten;
      return answer(isFirst);
    },
  };
  await world.pay(runId, stop);
  const lines = await world.store.db
    .selectFrom("run_lines")
    .select("state")
    .where("run_id", "=", runId)
    .execute();
  const states = Map.groupBy(lines, ({ state }) => state);
  const byState = Object.fromEntries([...states].map(([state, of]) => [state, of.length]));
  return { sent: keys.size, byState };
}

test("a lane that has to stop sends nothing more, and gives back the lines that it has not sent", async ({
  world,
}) => {
  const stop = new AbortController();
  const stopAndLose = () => {
    stop.abort();
    return Promise.resolve(lost);
  };
  const { sent, byState } = await laneThat(world, stopAndLose, stop.signal);
  expect(sent).toBe(IN_FLIGHT);
  expect(byState).toEqual({ unknown: IN_FLIGHT, planned: BILLS - IN_FLIGHT });
});

test("once the service has asked the business to wait, a lane sends nothing more, whatever it has in hand", async ({
  world,
}) => {
  const body = { error: "rate_limited", message: "slow down" };
  const slowDown = {
    ...{ kind: "http", status: 429, body, bodyText: JSON.stringify(body) },
    retryAfterMs: 120_000,
  } as MoneyWriteAnswer;
  const waits = () => listWaits(world.store.db, world.businessId);
  const { sent, byState } = await laneThat(world, async (isFirst) => {
    if (isFirst) return slowDown;
    await vi.waitUntil(async () => (await waits()).length > 0, WAITING);
    return lost;
  });
  expect(sent).toBe(IN_FLIGHT);
  expect(byState).toMatchObject({ unknown: IN_FLIGHT - 1 });
  expect(await waits()).toMatchObject([{ code: "rate_limited" }]);
});
