import { expect, test, vi } from "vitest";
import { everySoOften } from "../../../src/cli/show/conditions.ts";
import { pollUntil } from "../../../src/cli/show/wait-for-run.ts";

test("watching a run that stands still reports that its last worker is gone", async () => {
  let reads = 0;
  const heard: string[] = [];
  await pollUntil(
    () => Promise.resolve({ phase: "paying", waitingFor: null, read: (reads += 1) }),
    {
      until: ({ read }) => read === 3,
      notes: () => Promise.resolve(reads === 1 ? [] : ["no worker"]),
      changed: ({ phase }, notes) => heard.push([phase, ...notes].join(": ")),
    },
  );
  expect(heard).toEqual(["paying", "paying: no worker"]);
});

test("an expensive check is repeated only after its interval", async () => {
  vi.useFakeTimers();
  try {
    let looks = 0;
    const look = everySoOften(() => Promise.resolve((looks += 1)), 0, 10_000);
    expect(await look()).toBe(0);
    vi.advanceTimersByTime(10_000);
    expect([await look(), await look()]).toEqual([1, 1]);
  } finally {
    vi.useRealTimers();
  }
});
