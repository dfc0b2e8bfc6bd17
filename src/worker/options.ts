import { parseArgs } from "node:util";
import { ConfigError } from "../config/config-error.ts";
import { nearest } from "../config/nearest.ts";
import { QUEUE_NAMES, type QueueName } from "./queues.ts";

export interface WorkerProcessOptions {
  /** Stops when standard input ends: the process that started this one is gone. */
  readonly exitWithParent: boolean;
  /** A workflow bundle that was made before; otherwise the worker bundles at its start. */
  readonly workflowBundle: string | undefined;
  /**
   * Real milliseconds between comparisons of the store with Temporal, for tests that can't wait.
   */
  readonly janitorEveryMs: number | undefined;
  /** The queues that this process works on. */
  readonly serve: readonly QueueName[];
}

/** @throws ConfigError for arguments that can't be read, or that name a queue that doesn't exist */
export function readOptions(args: readonly string[]): WorkerProcessOptions {
  const values = parsed(args);
  const known: readonly string[] = QUEUE_NAMES;
  const unknown = (values.serve ?? []).filter((name) => !known.includes(name));
  if (unknown.length > 0) throw new ConfigError(unknown.map(noSuchQueue));
  return {
    exitWithParent: values["exit-with-parent"],
    workflowBundle: values["workflow-bundle"],
    janitorEveryMs:
      values["janitor-every-ms"] === undefined ? undefined : Number(values["janitor-every-ms"]),
    serve: QUEUE_NAMES.filter((name) => values.serve?.includes(name) ?? true),
  };
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: OPTIONS }).values;
  } catch (error) {
    throw new ConfigError([error instanceof Error ? error.message : String(error)]);
  }
}

const OPTIONS = {
  "exit-with-parent": { type: "boolean", default: false },
  "workflow-bundle": { type: "string" },
  "janitor-every-ms": { type: "string" },
  serve: { type: "string", multiple: true },
} as const;

function noSuchQueue(name: string): string {
  const meant = nearest(name, QUEUE_NAMES);
  const hint = meant === undefined ? "" : ` Did you mean “${meant}”?`;
  return `--serve ${name}: there is no such queue; there are ${QUEUE_NAMES.join(", ")}.${hint}`;
}
