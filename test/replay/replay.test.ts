import { readdirSync, readFileSync } from "node:fs";
import { historyFromJSON } from "@temporalio/common/lib/proto-utils.js";
import { DeterminismViolationError } from "@temporalio/workflow";
import { Worker } from "@temporalio/worker";
import { describe, expect, inject, test } from "vitest";

const folder = new URL("./histories/", import.meta.url);
const names = readdirSync(folder).filter((name) => name.endsWith(".json"));

interface SavedHistory {
  readonly events: { activityTaskScheduledEventAttributes?: { activityType: { name: string } } }[];
}

async function replay(saved: unknown): Promise<Error | undefined> {
  const options = { workflowBundle: { codePath: inject("workflowBundlePath") } };
  const histories = [{ workflowId: "replayed", history: historyFromJSON(saved) }];
  for await (const result of Worker.runReplayHistories(options, histories)) return result.error;
  throw new Error("nothing was replayed");
}

function read(name: string): SavedHistory {
  return JSON.parse(readFileSync(new URL(name, folder), "utf8")) as SavedHistory;
}

describe("histories of runs in flight replay on today's workflow code", () => {
  test.each(names)("%s", async (name) => {
    expect(await replay(read(name))).toBeUndefined();
  });

  test("a history whose steps come in another order is caught", async () => {
    const history = read("pay-run-settles.json");
    const scheduled = history.events.filter(
      (event) => event.activityTaskScheduledEventAttributes !== undefined,
    );
    const [first, second] = scheduled.map((event) => event.activityTaskScheduledEventAttributes);
    if (first === undefined || second === undefined) throw new Error("too short a history");
    [first.activityType, second.activityType] = [second.activityType, first.activityType];
    expect(await replay(history)).toBeInstanceOf(DeterminismViolationError);
  });
});
