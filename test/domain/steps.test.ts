import { expect, test } from "vitest";
import { inTurns } from "../../activities/shared/in-turns.ts";
import type { Steps } from "../../src/domain/steps.ts";
import { atOnce } from "../support/at-once.ts";

function* sum(count: number): Steps<number> {
  let total = 0;
  for (let n = 1; n <= count; n += 1) {
    total += n;
    yield;
  }
  return total;
}

test("work in steps has the same result with and without pauses", async () => {
  expect(atOnce(sum(10_000))).toBe(50_005_000);
  expect(await inTurns(sum(10_000))).toBe(50_005_000);
});

test("other timers fire between the steps of long work", async () => {
  let beats = 0;
  const timer = setInterval(() => {
    beats += 1;
  }, 1);
  function* slow(): Steps<string> {
    for (let step = 0; step < 20; step += 1) {
      const until = performance.now() + 3;
      while (performance.now() < until);
      yield;
    }
    return "done";
  }
  expect(await inTurns(slow())).toBe("done");
  clearInterval(timer);
  expect(beats).toBeGreaterThan(3);
});
