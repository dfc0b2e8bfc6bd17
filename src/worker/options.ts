import { parseArgs } from "node:util";
import { QUEUE_NAMES, type QueueName } from "./queues.ts";

export interface WorkerProcessOptions {
  /** Stops when standard input ends: whoever started this process is gone. */
  readonly exitWithParent: boolean;
  /** A workflow bundle made before, instead of bundling at the start. */
  readonly workflowBundle: string | undefined;
  /** Real time between comparisons of the store with Temporal, for tests that can't wait. */
  readonly sweepEveryMs: number | undefined;
  /** What this process works on. */
  readonly serve: readonly QueueName[];
}

export function readOptions(args: readonly string[]): WorkerProcessOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      "exit-with-parent": { type: "boolean", default: false },
      "workflow-bundle": { type: "string" },
      "sweep-every-ms": { type: "string" },
      serve: { type: "string", multiple: true },
    },
  });
  return {
    exitWithParent: values["exit-with-parent"],
    workflowBundle: values["workflow-bundle"],
    sweepEveryMs:
      values["sweep-every-ms"] === undefined ? undefined : Number(values["sweep-every-ms"]),
    serve: QUEUE_NAMES.filter((name) => values.serve?.includes(name) ?? true),
  };
}
