import { expect, test } from "vitest";
import { LastingTrouble } from "../../src/process/lasting-trouble.ts";
import { listNotices } from "../../src/store/notices/notices.ts";
import { testStore } from "../store/support.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

test("a failure that lasts for minutes is notified once a day, and one that ends in between is not", async () => {
  const { store } = await testStore();
  let nowMs = Date.UTC(2026, 10, 24, 12);
  const trouble = new LastingTrouble({ store, log: { warn: () => {} }, nowMs: () => nowMs });
  const repeating = { businessId: "biz_1", step: "Looking around" };
  const fails = () =>
    trouble.watch(repeating, () => Promise.reject(new Error("it is dark in here")));
  const told = () => listNotices(store.db, { kind: "step-failed", limit: 9 });
  await fails();
  nowMs += 2 * MINUTE_MS;
  expect(await fails()).toBeUndefined();
  expect(await trouble.watch(repeating, () => Promise.resolve("seen"))).toBe("seen");
  nowMs += 2 * MINUTE_MS;
  await fails();
  expect(await told()).toEqual([]);
  for (let minutes = 0; minutes < 30; minutes += 5) {
    nowMs += 5 * MINUTE_MS;
    await fails();
  }
  expect(await told()).toMatchObject([
    { businessId: "biz_1", roles: ["operator"], text: expect.stringContaining("dark in here") },
  ]);
  nowMs += DAY_MS;
  await fails();
  expect(await told()).toHaveLength(2);
});
