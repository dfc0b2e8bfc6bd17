import { fileURLToPath } from "node:url";
import { hostname } from "node:os";
import { Client, type Connection } from "@temporalio/client";
import type { DataConverter } from "@temporalio/common";
import {
  bundleWorkflowCode,
  NativeConnection,
  Worker,
  type WorkerOptions,
  type WorkflowBundleOption,
} from "@temporalio/worker";
import { definedOnly } from "../contracts/defined-only.ts";
import { createActivities } from "../../activities/index.ts";
import type { Config } from "../config.ts";
import { SEARCH_ATTRIBUTES } from "../contracts/search-attributes.ts";
import { startLateChanges } from "../janitor/late-changes.ts";
import { startJanitor } from "../janitor/janitor.ts";
import { howToStart } from "../temporal/how-to-start.ts";
import { registerSearchAttributes } from "../temporal/search-attributes.ts";
import { dataConverterOf } from "../temporal/codec.ts";
import { lazyConnection, nativeOptions } from "../temporal/connection.ts";
import {
  complainAs,
  EXIT_UNREACHABLE,
  EXIT_USAGE,
  openPart,
  stopSignal,
  unlessWrong,
} from "../process/part.ts";
import type { Repeated } from "../process/repeat.ts";
import { createLog } from "../process/log.ts";
import { watchProfiles } from "../process/profile-watch.ts";
import { watchStore } from "../process/store-watch.ts";
import { Keyring } from "../vault/keyring.ts";
import { Vault } from "../vault/vault.ts";
import { startClockWatch } from "./clock-watch.ts";
import { createContext } from "./context.ts";
import { startPresence } from "./presence.ts";
import { readOptions, type WorkerProcessOptions } from "./options.ts";
import { ACTIVITIES_IN_HAND, QUEUES } from "./queues.ts";
import { decisionCounter, installRuntime } from "./runtime.ts";

const complain = complainAs("worker");

/**
 * Requests in flight get their answers within their time-out; what remains then is left to lookups.
 */
const SHUTDOWN_FORCE_AFTER = "25 seconds";

/**
 * Runs the worker as a process of its own: `node src/worker/main.ts`, `payrun worker`.
 *
 * Prints one line of JSON, `{ ready: true, pid }`, once it polls. SIGTERM and SIGINT drain it:
 * nothing new is leased, and what was sent gets its answer and is recorded.
 *
 * @returns exit code: 0 after a signal, 2 for arguments or settings that can't be used, 4 if
 * Temporal or the store can't be reached, or if the store's file has been deleted or replaced
 */
async function main(): Promise<number> {
  const options = unlessWrong(complain, () => readOptions(process.argv.slice(2)));
  if (options === undefined) return EXIT_USAGE;
  const part = await openPart(complain, { ownThread: true });
  if (typeof part === "number") return part;
  const { config, store } = part;
  const log = createLog("worker");
  const runtime = unlessWrong(complain, () => installRuntime(log, config.workerMetrics));
  if (runtime === undefined) {
    await store.close();
    return EXIT_USAGE;
  }
  const connections = await connect(config);
  if (typeof connections === "number") {
    await store.close();
    return connections;
  }
  const { connectionOptions, namespace } = config.temporal;
  const dataConverter = dataConverterOf(config);
  const draining = new AbortController();
  const temporal = new Client({ connection: connections.client, namespace, dataConverter });
  const workerId = `${hostname()}:${process.pid}`;
  const context = createContext({
    store,
    temporal,
    profiles: config.profiles,
    vault: new Vault(new Keyring(config.encryptionKeys)),
    log,
    publicUrl: config.publicUrl,
    workerId,
    draining: draining.signal,
    countDecision: decisionCounter(runtime),
  });
  let storeWatch: Repeated | undefined;
  const repeated: Repeated[] = [];
  /** Set once the store's file is gone: nothing that this process does is recorded any more. */
  let gone: string | undefined;
  try {
    const workers = await createWorkers({
      connection: connections.native,
      namespace,
      dataConverter,
      context,
      options,
    });
    storeWatch = watchStore(part, (why) => {
      if (gone === undefined) complain(why);
      gone = why;
      draining.abort();
      stopAll(workers);
    });
    // Before anything is polled: what was lost must be on hold first.
    const janitorContext = { ...context.activities, profiles: config.profiles };
    repeated.push(await startJanitor(janitorContext, { everyMs: options.janitorEveryMs }));
    repeated.push(startLateChanges(janitorContext, options.janitorEveryMs));
    repeated.push(startClockWatch(janitorContext));
    repeated.push(watchProfiles({ store, profiles: config.profiles, log }));
    repeated.push(await startPresence({ store, workerId, encryption: config, log }));
    void stopSignal(options.exitWithParent).then(() => {
      draining.abort();
      stopAll(workers);
    });
    process.stdout.write(`${JSON.stringify({ ready: true, pid: process.pid })}\n`);
    log.info(`polling ${connectionOptions.address}, namespace ${namespace}`);
    await runAll(workers);
    return gone === undefined ? 0 : EXIT_UNREACHABLE;
  } finally {
    await storeWatch?.stop();
    for (const each of repeated) await each.stop();
    await context.close();
    await connections.client.close();
    // Closing is refused if a worker could not be made beside another: that error is the one to
    // show.
    await connections.native.close().catch(() => undefined);
    await store.close();
    // An open standard input would keep the process alive.
    process.stdin.destroy();
  }
}

/**
 * Creates one worker for each queue that is served; they share a connection and the workflows'
 * code.
 */
async function createWorkers({
  connection,
  namespace,
  dataConverter,
  context,
  options,
}: {
  readonly connection: NativeConnection;
  readonly namespace: string;
  readonly dataConverter: DataConverter;
  readonly context: ReturnType<typeof createContext>;
  readonly options: WorkerProcessOptions;
}): Promise<Worker[]> {
  const activities = { ...createActivities(context.activities) };
  const limits = options.serve.map((name) => QUEUES[name]);
  let bundle: Promise<WorkflowBundleOption> | undefined;
  const created = limits.map(async (queue) =>
    Worker.create({
      connection,
      namespace,
      dataConverter,
      activities,
      taskQueue: queue.taskQueue,
      ...(queue.workflowTasks === null
        ? {}
        : workflows(
            await (bundle ??= workflowBundle(options.workflowBundle, dataConverter)),
            queue.workflowTasks,
          )),
      maxConcurrentActivityTaskExecutions: ACTIVITIES_IN_HAND,
      ...definedOnly({ maxTaskQueueActivitiesPerSecond: queue.aSecond ?? undefined }),
      activityTaskPollerBehavior: { type: "autoscaling" },
      maxHeartbeatThrottleInterval: "2 seconds",
      shutdownGraceTime: "20 seconds",
      shutdownForceTime: SHUTDOWN_FORCE_AFTER,
    }),
  );
  return Promise.all(created);
}

/** Runs the workers. One that fails stops all: the supervisor of the process starts another. */
async function runAll(workers: readonly Worker[]): Promise<void> {
  const running = workers.map((worker) => worker.run().finally(() => stopAll(workers)));
  for (const ended of await Promise.allSettled(running)) {
    if (ended.status === "rejected") throw ended.reason;
  }
}

function stopAll(workers: readonly Worker[]): void {
  for (const worker of workers) if (worker.getState() === "RUNNING") worker.shutdown();
}

/**
 * Returns the workflows' code. An existing bundle was made for the same settings: `up` sees to
 * that.
 */
async function workflowBundle(
  codePath: string | undefined,
  { failureConverterPath }: DataConverter,
): Promise<WorkflowBundleOption> {
  if (codePath !== undefined) return { codePath };
  const workflowsPath = fileURLToPath(new URL("../../workflows/index.ts", import.meta.url));
  return bundleWorkflowCode({
    workflowsPath,
    ...definedOnly({ failureConverterPath }),
  });
}

function workflows(workflowBundle: WorkflowBundleOption, atOnce: number): Partial<WorkerOptions> {
  return {
    workflowBundle,
    maxCachedWorkflows: 200,
    maxConcurrentWorkflowTaskExecutions: atOnce,
    workflowTaskPollerBehavior: { type: "autoscaling", initial: 2, maximum: atOnce },
  };
}

async function connect(
  config: Config,
): Promise<{ client: Connection; native: NativeConnection } | typeof EXIT_UNREACHABLE> {
  const { connectionOptions, isExternal } = config.temporal;
  try {
    const native = await NativeConnection.connect(nativeOptions(connectionOptions));
    const client = lazyConnection(connectionOptions);
    await prepareNamespace(client, config);
    return { client, native };
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    const why = /refused/i.test(text) ? "nothing listens there" : text;
    complain(
      `can't reach Temporal at ${connectionOptions.address}: ${why}. ${howToStart(isExternal)}`,
    );
    return EXIT_UNREACHABLE;
  }
}

async function prepareNamespace(client: Connection, { temporal }: Config): Promise<void> {
  try {
    await registerSearchAttributes(client, temporal.namespace);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    const flags = Object.entries(SEARCH_ATTRIBUTES).map(
      ([name, type]) => `--name ${name} --type ${type}`,
    );
    complain(
      `can't register the search attributes in namespace ${temporal.namespace}: ${why}. If they are missing, an administrator adds them: temporal operator search-attribute create ${flags.join(" ")}`,
    );
  }
}

process.exitCode = await main();
