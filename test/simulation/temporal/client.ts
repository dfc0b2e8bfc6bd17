import {
  type Client,
  ScheduleAlreadyRunning,
  ScheduleNotFoundError,
  ServiceError,
  WorkflowNotFoundError,
} from "@temporalio/client";
import { defaultPayloadConverter } from "@temporalio/common";
import type { Stream } from "../world/random.ts";
import type { Execution, ExecutionState } from "./execution.ts";
import type { ScheduleState, TemporalServer } from "./server.ts";

const STATUS: Readonly<Record<ExecutionState, string>> = {
  running: "RUNNING",
  completed: "COMPLETED",
  failed: "FAILED",
  continued: "CONTINUED_AS_NEW",
  terminated: "TERMINATED",
};

interface StartOptions {
  readonly workflowId: string;
  readonly args?: readonly unknown[];
  readonly signal?: string;
}

/** Returns a process's client of Temporal, over a network that may be away. */
export function clientOf(server: TemporalServer, stream: Stream): Client {
  const { world } = server;
  const call = async <T>(what: string, work: () => T): Promise<T> => {
    await world.boundary(`temporal ${what}`, stream.between(1, 15));
    if (!server.isUp) {
      // A request may have been received before the connection broke.
      if (stream.chance(0.2)) work();
      throw unavailable();
    }
    const answer = work();
    await world.boundary(`temporal answers ${what}`, stream.between(1, 5));
    return answer;
  };
  const signal = (workflowId: string, name: string, input: readonly unknown[]): void => {
    if (server.signal(workflowId, name, input)) return;
    throw new WorkflowNotFoundError("workflow not found", workflowId, undefined);
  };
  const handleOf = (workflowId: string) => ({
    workflowId,
    signal: (name: string, ...input: readonly unknown[]) =>
      call("signal", () => signal(workflowId, name, input)),
    describe: () =>
      call("describe", () => {
        const execution = server.latest.get(workflowId);
        if (execution === undefined) {
          throw new WorkflowNotFoundError("workflow not found", workflowId, undefined);
        }
        return describe(execution);
      }),
    query: (name: string) =>
      call("query", () => server.latest.get(workflowId)?.queries.get(name)?.()),
    terminate: () => call("terminate", () => server.terminate(workflowId)),
  });
  const workflow = {
    getHandle: handleOf,
    start: (type: string, { workflowId, args = [] }: StartOptions) =>
      call("start", () => {
        server.start(type, workflowId, args);
        return handleOf(workflowId);
      }),
    signalWithStart: (type: string, { workflowId, args = [], signal: name }: StartOptions) =>
      call("signalWithStart", () => {
        server.start(type, workflowId, args);
        if (name !== undefined) signal(workflowId, name, []);
        return handleOf(workflowId);
      }),
    list: ({ query }: { readonly query: string }) => listed(server, query, call),
  };
  const client = {
    workflow,
    schedule: schedules(server, call),
    withDeadline: <T>(_: number, work: () => Promise<T>) => work(),
    options: {
      namespace: "default",
      loadedDataConverter: { payloadConverter: defaultPayloadConverter, payloadCodecs: [] },
    },
    workflowService: {
      getWorkflowExecutionHistoryReverse: ({ execution }: { execution: { workflowId: string } }) =>
        call("history", () => historyOf(server.latest.get(execution.workflowId))),
    },
  };
  return client as unknown as Client;
}

/** Returns the results of activities in a history, and the workflow's input, the last first. */
function historyOf(execution: Execution | undefined): object {
  const payloads = (value: unknown) => ({ payloads: [defaultPayloadConverter.toPayload(value)] });
  const done = (execution?.heard ?? []).flatMap((job) =>
    job.kind === "activity" && job.result !== undefined ? [payloads(job.result)] : [],
  );
  const events = done.map((result) => ({ activityTaskCompletedEventAttributes: { result } }));
  const input = payloads(execution?.input[0] ?? null);
  const started = { workflowExecutionStartedEventAttributes: { input } };
  return { history: { events: [...events.toReversed(), started] } };
}

type Call = <T>(what: string, work: () => T) => Promise<T>;

async function* listed(server: TemporalServer, query: string, call: Call): AsyncIterable<unknown> {
  const types = [...query.matchAll(/"(\w+)"/g)].map(([, name]) => name);
  const onlyRunning = query.includes('ExecutionStatus = "Running"');
  const found = await call("list", () =>
    server.all.filter(
      ({ type, state }) => types.includes(type) && (!onlyRunning || state === "running"),
    ),
  );
  for (const execution of found) yield describe(execution);
}

function describe(execution: Execution): object {
  const { workflowId, type, state, startedMs, closedMs } = execution;
  return {
    workflowId,
    type,
    status: { name: STATUS[state] },
    startTime: new Date(startedMs),
    closeTime: closedMs === 0 ? undefined : new Date(closedMs),
  };
}

/** Schedules are kept but launch nothing: their launchers have tests of their own. */
function schedules(server: TemporalServer, call: Call): object {
  const kept = server.schedules;
  return {
    create: ({ scheduleId, state }: { scheduleId: string; state?: ScheduleState }) =>
      call("create schedule", () => {
        if (kept.has(scheduleId)) throw new ScheduleAlreadyRunning("it runs already", scheduleId);
        kept.set(scheduleId, { paused: state?.paused ?? false, note: state?.note ?? "" });
      }),
    list: async function* list(): AsyncIterable<unknown> {
      const found = await call("list schedules", () => [...kept]);
      for (const [scheduleId, state] of found) yield { scheduleId, state };
    },
    getHandle: (scheduleId: string) => ({
      describe: () =>
        call("describe schedule", () => {
          const state = kept.get(scheduleId);
          if (state === undefined) throw new ScheduleNotFoundError("there is none", scheduleId);
          return { scheduleId, state };
        }),
      backfill: () => call("backfill schedule", () => undefined),
    }),
  };
}

function unavailable(): Error {
  const error = new ServiceError("14 UNAVAILABLE: the simulation's server is away");
  return Object.assign(error, { code: 14, details: "away", metadata: {} });
}
