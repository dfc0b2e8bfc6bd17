import { expect, test } from "vitest";
import { repeat } from "../../src/process/repeat.ts";

test("work is repeated after each pause, even after a failure, and never runs twice at once", async () => {
  const times: string[] = [];
  let atWork = 0;
  const enough = Promise.withResolvers<void>();
  const repeated = repeat(
    async () => {
      atWork += 1;
      expect(atWork).toBe(1);
      times.push("work");
      await Promise.resolve();
      atWork -= 1;
      if (times.length > 6) enough.resolve();
      if (times.length % 2 === 1 && times.length > 2) return 1;
      throw new Error("no");
    },
    (error) => {
      times.push(error instanceof Error ? error.message : "");
      return 1;
    },
  );
  await enough.promise;
  await repeated.stop();
  const done = times.length;
  expect(times).toContain("no");
  expect(times.slice(0, 3)).toEqual(["work", "no", "work"]);
  await new Promise((resolve) => setTimeout(resolve, 5));
  expect(times).toHaveLength(done);
});

test("stopping cuts a pause short, signals the work, and waits for its end", async () => {
  const begun = Promise.withResolvers<void>();
  let ended = false;
  const repeated = repeat(
    async (signal) => {
      begun.resolve();
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      ended = true;
      return 3_600_000;
    },
    () => 0,
  );
  await begun.promise;
  await repeated.stop();
  expect(ended).toBe(true);
});
