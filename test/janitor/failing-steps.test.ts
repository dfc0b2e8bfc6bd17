import type { Client } from "@temporalio/client";
import { afterEach, expect, vi } from "vitest";
import { createHold, getHold } from "../../src/store/holds/holds.ts";
import { listNotices } from "../../src/store/notices/notices.ts";
import { startJanitor } from "../../src/janitor/janitor.ts";
import { test } from "../activities/money-world.ts";

afterEach(() => {
  vi.useRealTimers();
});

/** A server that knows no workflow, and fails if one is described. */
const temporal = {
  withDeadline: (_: unknown, work: () => Promise<unknown>) => work(),
  workflow: {
    list: async function* () {},
    getHandle: () => ({ describe: () => Promise.reject(new Error("a broken row")) }),
  },
} as unknown as Client;

test("a step that fails for one business doesn't stop the others, and is notified after some minutes", async ({
  world,
}) => {
  const { store, businessId } = world;
  await world.plannedRun([{}]);
  const other = "biz_other";
  const ended = { scope: "run", value: "x", reason: "until then", author: "otto" } as const;
  const hold = await store.transaction((trx) =>
    createHold(trx, { ...ended, businessId: other, nowMs: 1, untilMs: 2 }),
  );
  await store.db.updateTable("runs").set({ launched_at_ms: 1 }).execute();
  const context = world.context();
  const { profile } = world.world;
  const janitor = await startJanitor(
    {
      ...{ store, temporal, log: context.log },
      profiles: { all: () => [profile, { ...profile, name: "other", businessId: other }] },
      clientOf: (business) => context.clientOf(business),
      clockOf: (business) => context.clockOf(business),
    },
    { everyMs: 20 },
  );
  try {
    await expect
      .poll(async () => (await getHold(store.db, hold.holdId))?.releasedAtMs)
      .not.toBeNull();
    const told = () => listNotices(store.db, { kind: "step-failed", limit: 20 });
    expect(await told()).toEqual([]);
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 4 * 60_000 });
    await expect
      .poll(told)
      .toMatchObject([
        { businessId, roles: ["operator"], text: expect.stringContaining("a broken row") },
      ]);
    expect((await told())[0]?.subject).toMatch(/^Following runs without a workflow has been/);
  } finally {
    await janitor.stop();
  }
});
