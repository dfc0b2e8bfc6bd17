import { readdirSync, readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { IllegalStateError } from "@temporalio/common";
import { historyFromJSON } from "@temporalio/common/lib/proto-utils.js";
import { DeterminismViolationError } from "@temporalio/workflow";
import {
  bundleWorkflowCode,
  DefaultLogger,
  makeTelemetryFilterString,
  Runtime,
  Worker,
} from "@temporalio/worker";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { WORKFLOW } from "../../src/contracts/workflow-kinds.ts";
import { WAYS } from "./ways.ts";

const folder = new URL("./histories/", import.meta.url);
const names = readdirSync(folder)
  .filter((name) => name.endsWith(".json"))
  .map((name) => name.replace(/\.json$/, ""));

// Errors that are provoked here would fill the screen with warnings.
const filter = makeTelemetryFilterString({ core: "ERROR", other: "ERROR" });
const logger = new DefaultLogger("ERROR");
try {
  Runtime.install({ logger, telemetryOptions: { logging: { filter } } });
} catch (error) {
  // One process runs several test files, and it can have only one runtime.
  if (!(error instanceof IllegalStateError)) throw error;
}

interface SavedEvent {
  readonly eventId: string;
  readonly eventType: string;
  readonly userMetadata?: { readonly summary?: { readonly data?: string } };
  readonly workflowTaskStartedEventAttributes?: object;
  readonly workflowExecutionStartedEventAttributes?: { workflowType: { name: string } };
  readonly activityTaskScheduledEventAttributes?: { activityType: { name: string } };
  readonly workflowExecutionCompletedEventAttributes?: {
    readonly result?: { readonly payloads?: readonly { readonly data?: string }[] };
  };
  readonly workflowExecutionFailedEventAttributes?: {
    readonly failure: { readonly message: string; readonly cause?: { readonly message: string } };
  };
}

interface SavedHistory {
  readonly events: readonly SavedEvent[];
}

async function replay(
  saved: unknown,
  codePath = inject("workflowBundlePath"),
): Promise<Error | undefined> {
  const options = { workflowBundle: { codePath } };
  const histories = [{ workflowId: "replayed", history: historyFromJSON(saved) }];
  for await (const result of Worker.runReplayHistories(options, histories)) return result.error;
  throw new Error("nothing was replayed");
}

function read(name: string): SavedHistory {
  return JSON.parse(readFileSync(new URL(`${name}.json`, folder), "utf8")) as SavedHistory;
}

function workflowOf({ events }: SavedHistory): string | undefined {
  return events[0]?.workflowExecutionStartedEventAttributes?.workflowType.name;
}

/** Returns what a workflow returned or failed with, or null if the history stops before its end. */
function endOf({ events }: SavedHistory): string | null {
  const last = events.at(-1);
  const failure = last?.workflowExecutionFailedEventAttributes?.failure;
  if (failure !== undefined) return `${failure.message}: ${failure.cause?.message ?? ""}`;
  const completed = last?.workflowExecutionCompletedEventAttributes;
  if (completed === undefined) return null;
  const data = completed.result?.payloads?.[0]?.data ?? "";
  const text = Buffer.from(data, "base64").toString("utf8");
  return text === "" ? "" : String(JSON.parse(text));
}

/**
 * Returns two activities of a history with different types: the first, and the first of another
 * type.
 */
function twoSteps({ events }: SavedHistory): { activityType: { name: string } }[] {
  const scheduled = events.flatMap((event) => event.activityTaskScheduledEventAttributes ?? []);
  const [first] = scheduled;
  const other = scheduled.find(
    ({ activityType }) => activityType.name !== first?.activityType.name,
  );
  return first === undefined || other === undefined ? [] : [first, other];
}

/** Returns the shortest history of each workflow. */
function oneOfEach(of: readonly string[]): string[] {
  const shortest = new Map<string | undefined, string>();
  for (const name of of.toSorted((one, other) => lengthOf(one) - lengthOf(other))) {
    const workflow = workflowOf(read(name));
    if (!shortest.has(workflow)) shortest.set(workflow, name);
  }
  return [...shortest.values()];
}

function lengthOf(name: string): number {
  return read(name).events.length;
}

/**
 * Returns the index of the first sleep with no activity under way, since a workflow waits for those
 * first; -1 if there is none.
 */
function firstRest(events: SavedHistory["events"]): number {
  const working = new Set<string>();
  return events.findIndex((event) => {
    const { eventId, eventType, ...attributes } = event;
    if (eventType === "EVENT_TYPE_ACTIVITY_TASK_SCHEDULED") working.add(String(eventId));
    const isOver = /^EVENT_TYPE_ACTIVITY_TASK_(COMPLETED|FAILED|TIMED_OUT|CANCELED)$/.test(
      eventType,
    );
    const [, begun] = /"scheduledEventId":"(\d+)"/.exec(JSON.stringify(attributes)) ?? [];
    if (isOver && begun !== undefined) working.delete(begun);
    return eventType === "EVENT_TYPE_TIMER_STARTED" && working.size === 0;
  });
}

/**
 * Returns the history as it would be if Temporal had found it long enough at the first sleep: it
 * stops there and continues as a new one.
 */
function continuedAtRest({ events }: SavedHistory): SavedHistory {
  const rest = firstRest(events);
  const told = events.findLastIndex(
    ({ workflowTaskStartedEventAttributes: task }, at) => at < rest && task !== undefined,
  );
  const timer = events[rest];
  if (timer === undefined || told < 0) throw new Error("it never sleeps");
  const kept = events.slice(0, rest).map((event, at) => {
    const { workflowTaskStartedEventAttributes: task } = event;
    if (at !== told) return event;
    const isLong = { ...task, suggestContinueAsNew: true };
    return { ...event, workflowTaskStartedEventAttributes: isLong };
  });
  const started = events[0]?.workflowExecutionStartedEventAttributes;
  const { eventId } = timer;
  const continued = {
    eventId,
    eventType: "EVENT_TYPE_WORKFLOW_EXECUTION_CONTINUED_AS_NEW",
    workflowExecutionContinuedAsNewEventAttributes: {
      ...started,
      newExecutionRunId: "the-next",
      workflowTaskCompletedEventId: kept.findLast(
        ({ eventType }) => eventType === "EVENT_TYPE_WORKFLOW_TASK_COMPLETED",
      )?.eventId,
    },
  };
  return { events: [...kept, continued] };
}

describe("histories of runs in flight replay on today's workflow code", () => {
  test.each(names)("the history %s replays on today's workflow code", async (name) => {
    expect(await replay(read(name))).toBeUndefined();
  });
});

describe("histories describe their steps", () => {
  test.each(names)(
    "every activity and timer of the history %s has a summary, without digits of a bank account",
    (name) => {
      const said = read(name).events.flatMap(({ eventType, userMetadata }) => {
        const isStep = eventType === "EVENT_TYPE_ACTIVITY_TASK_SCHEDULED";
        const isTimer = eventType === "EVENT_TYPE_TIMER_STARTED";
        if (!isStep && !isTimer) return [];
        const data = userMetadata?.summary?.data ?? "";
        return [
          data === "" ? "" : String(JSON.parse(Buffer.from(data, "base64").toString("utf8"))),
        ];
      });
      expect(said.filter((summary) => summary === "")).toEqual([]);
      // Only people who may read the bill may see digits of its bank account.
      expect(said.filter((summary) => /••\w/.test(summary))).toEqual([]);
    },
  );
});

describe("histories for every way in which a workflow can go", () => {
  test("there is a history for each way that a workflow can go, and no other", () => {
    expect(names.toSorted()).toEqual(Object.keys(WAYS).toSorted());
    const shown = new Set(Object.values(WAYS).map(({ workflow }) => workflow));
    expect([...shown].toSorted()).toEqual(Object.values(WORKFLOW).toSorted());
  });

  test.each(names)("the history %s is what its name says", (name) => {
    const history = read(name);
    const way = WAYS[name];
    expect(workflowOf(history)).toBe(way?.workflow);
    if (way?.ends === null) expect(endOf(history)).toBeNull();
    else expect(endOf(history)).toMatch(way?.ends ?? /unknown way/);
  });
});

describe("a long history", () => {
  const { scheduledPayRun, planDry, ...resting } = WORKFLOW;
  const shortest = Object.values(resting).map((workflow) => {
    const ways = names.filter((name) => WAYS[name]?.workflow === workflow);
    const isResting = (name: string): boolean => firstRest(read(name).events) >= 0;
    return oneOfEach(ways.filter(isResting))[0] ?? workflow;
  });

  test.each(shortest)(
    "the workflow of the history %s continues as new at its first sleep if its history is long",
    async (name) => {
      const continued = continuedAtRest(read(name));
      expect(await replay(continued)).toBeUndefined();
      // Without Temporal's suggestion the workflow would have slept.
      const told = JSON.stringify(continued).replaceAll(
        '"suggestContinueAsNew":true',
        '"attempt":1',
      );
      expect(await replay(JSON.parse(told))).toBeInstanceOf(DeterminismViolationError);
    },
  );

  test("workflows that don't continue as new never sleep", () => {
    for (const workflow of [scheduledPayRun, planDry]) {
      const ways = names.filter((name) => WAYS[name]?.workflow === workflow);
      const types = ways.flatMap((name) => read(name).events.map(({ eventType }) => eventType));
      expect(types).not.toContain("EVENT_TYPE_TIMER_STARTED");
    }
  });
});

describe("code that is not deterministic", () => {
  let careless = "";
  let bundleFolder = "";

  beforeAll(async () => {
    bundleFolder = await mkdtemp(join(tmpdir(), "payrun-careless-"));
    careless = join(bundleFolder, "workflow-bundle.js");
    const workflowsPath = fileURLToPath(new URL("./children/waits-first.ts", import.meta.url));
    const { code } = await bundleWorkflowCode({ workflowsPath, logger });
    await writeFile(careless, code);
  });
  afterAll(async () => {
    await rm(bundleFolder, { recursive: true, force: true });
  });

  test.each(oneOfEach(names))(
    "replay fails for %s if the code waits before its first step",
    async (name) => {
      expect(await replay(read(name), careless)).toBeInstanceOf(DeterminismViolationError);
    },
  );

  const exchangeable = oneOfEach(names.filter((name) => twoSteps(read(name)).length === 2));

  test("every workflow with two kinds of steps has a history in which they can change places", () => {
    const shown = exchangeable.map((name) => WAYS[name]?.workflow);
    // The other workflows have one kind of step only.
    const { scheduledPayRun: _, planDry: __, ...ofTwo } = WORKFLOW;
    expect(new Set(shown)).toEqual(new Set(Object.values(ofTwo)));
  });

  test.each(exchangeable)("replay fails for %s if two steps have changed places", async (name) => {
    const history = read(name);
    const [first, second] = twoSteps(history);
    if (first === undefined || second === undefined) throw new Error("too short a history");
    [first.activityType, second.activityType] = [second.activityType, first.activityType];
    expect(await replay(history)).toBeInstanceOf(DeterminismViolationError);
  });
});
