import { expect, test } from "vitest";
import { sleepOfRun } from "../../../src/domain/runs/turns.ts";

const NOTHING_YET = { followedAtMs: 0, payingSinceMs: 0, isPaying: false, hasReadAllPaid: false };

test.each([
  ["awaiting-approval", 0],
  ["funding", 0],
  ["paying", 5_000],
  ["settling", 5_000],
] as const)(
  "a large run gathers signals only in the phases whose payments cause them: %s, %d ms",
  (phase, gatherMs) => {
    const now = { phase, toFollow: 0, wakeInMs: 60_000, followEveryMs: 20_000 };
    expect(sleepOfRun(now, NOTHING_YET, 1_000_000)).toEqual({ wakeInMs: 60_000, gatherMs });
  },
);

test("a large run that puts off reading its payments still wakes for anything due before that", () => {
  const nowMs = 1_000_000;
  const pace = { ...NOTHING_YET, followedAtMs: nowMs - 1_000 };
  const now = { phase: "settling", toFollow: 900, followEveryMs: 60_000 } as const;
  const hasRead = { ...pace, hasReadAllPaid: true };
  expect(sleepOfRun({ ...now, wakeInMs: 7_000 }, hasRead, nowMs).wakeInMs).toBe(7_000);
  expect(sleepOfRun({ ...now, wakeInMs: 3_600_000 }, hasRead, nowMs).wakeInMs).toBe(59_000);
});
