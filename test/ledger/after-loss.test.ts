import { expect, test } from "vitest";
import { ClockReading } from "../../src/business/clock.ts";
import { isBehind } from "../../src/ledger/after-loss.ts";
import { noticeLoss } from "../support/lost-store.ts";
import { testStore } from "../store/support.ts";

const HOUR_MS = 3_600_000;

function clockIn(ms: number): ClockReading {
  return new ClockReading({ businessMs: Date.now() + ms, serviceHeard: true });
}

test("a restored store is behind until its hold is released and everything that it may have forgotten shows at the service", async () => {
  const { store } = await testStore();
  const behind = (clock: ClockReading | undefined) => isBehind(store.db, "biz_acme", clock);
  expect([await behind(clockIn(0)), await behind(undefined)]).toEqual([false, false]);
  await noticeLoss(store);
  expect([await behind(clockIn(HOUR_MS)), await behind(undefined)]).toEqual([true, true]);
  const lifted = { released_at_ms: Date.now(), released_by: "oli" };
  await store.db.updateTable("holds").set(lifted).execute();
  expect(await behind(clockIn(0))).toBe(true);
  expect(await behind(clockIn(HOUR_MS))).toBe(false);
});
