import { describe, expect, test } from "vitest";
import { QueueWatch, startQueueWatch } from "../../src/gateway/unserved-queues.ts";
import { listNotices } from "../../src/store/notices/notices.ts";
import { unservedQueues } from "../../src/temporal/unserved-queues.ts";
import { testStore } from "../store/support.ts";

const NOW_MS = Date.UTC(2026, 10, 24, 15);
const MINUTE_MS = 60_000;

interface Asked {
  readonly taskQueue?: { readonly name?: string | null } | null;
  readonly taskQueueType?: number | null;
}

/** Stands in for Temporal: each queue was last polled at the instant that `polledMs` returns. */
function pollersAt(polledMs: (queue: string, type: number) => number | undefined) {
  return {
    describeTaskQueue: ({ taskQueue, taskQueueType }: Asked) => {
      const atMs = polledMs(taskQueue?.name ?? "", taskQueueType ?? 0);
      const pollers = atMs === undefined ? [] : [{ lastAccessTime: { seconds: atMs / 1_000 } }];
      return Promise.resolve({ pollers });
    },
  } as never;
}

describe("whether a task queue has a worker", () => {
  test.each([
    ["that was polled a minute ago has a worker", () => NOW_MS - MINUTE_MS, []],
    ["that was polled five minutes ago has none any more", () => NOW_MS - 5 * MINUTE_MS, ALL()],
    ["that nobody has ever polled has none", () => undefined, ALL()],
    [
      "has none where nobody takes the tasks of its workflows",
      (_: string, type: number) => (type === 1 ? undefined : NOW_MS),
      ["steps", "retries"],
    ],
  ])("a task queue %s", async (_, polledMs, unserved) => {
    const found = await unservedQueues(pollersAt(polledMs), "default", NOW_MS);
    expect(found.map(({ serve }) => serve)).toEqual(unserved);
  });
});

function ALL(): string[] {
  return ["steps", "money", "retries", "reading"];
}

test("a queue without a worker for minutes causes one notice a day, and a restart causes none", async () => {
  const { store } = await testStore();
  let nowMs = NOW_MS;
  let isThere = true;
  const polledMs = (queue: string) => (queue === "payrun-money" && !isThere ? undefined : nowMs);
  const watch = new QueueWatch({
    store,
    profiles: { all: () => [{ businessId: "biz_1" }] } as never,
    temporal: {
      withDeadline: (_: unknown, call: () => unknown) => call(),
      connection: { workflowService: pollersAt(polledMs) },
      options: { namespace: "default" },
    } as never,
    log: { info: () => undefined, warn: () => undefined } as never,
    nowMs: () => nowMs,
  });
  const minutes = async (count: number): Promise<string[]> => {
    for (let minute = 0; minute < count; minute += 1) {
      await watch.look();
      nowMs += MINUTE_MS;
    }
    const told = await listNotices(store.db, { kind: "no-worker", limit: 9 });
    return told.map(({ text }) => text);
  };
  isThere = false;
  expect(await minutes(2)).toEqual([]);
  isThere = true;
  expect(await minutes(5)).toEqual([]);
  isThere = false;
  expect(await minutes(9)).toEqual([
    expect.stringMatching(/^Nothing is paid or deposited until one does.*--serve money/s),
  ]);
});

test("the start of Temporal's silence is remembered until it answers again", async () => {
  let isThere = false;
  const answer = () => (isThere ? Promise.resolve({}) : Promise.reject(new Error("refused")));
  const pollers: object = pollersAt(() => NOW_MS);
  const workflowService = { describeNamespace: answer, ...pollers };
  const temporal = {
    withDeadline: (_: unknown, call: () => unknown) => call(),
    ...{ workflowService, connection: { workflowService }, options: { namespace: "default" } },
  };
  const { store } = await testStore();
  const temporalSilence: { sinceMs: number | undefined } = { sinceMs: undefined };
  const context = {
    ...{ store, temporal: temporal as never, temporalSilence, nowMs: () => NOW_MS },
    profiles: { all: () => [] } as never,
    log: { info: () => undefined, warn: () => undefined } as never,
  };
  const lookedOnce = async () => {
    const watch = startQueueWatch(context);
    await expect.poll(() => temporalSilence.sinceMs).toBe(isThere ? undefined : NOW_MS);
    await watch.stop();
  };
  await lookedOnce();
  isThere = true;
  await lookedOnce();
});
