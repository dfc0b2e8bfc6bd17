import { parseArgs } from "node:util";

export interface WorkerOptions {
  /** Stops when standard input ends: whoever started this process is gone. */
  readonly exitWithParent: boolean;
  /** A workflow bundle made before, instead of bundling at the start. */
  readonly workflowBundle: string | undefined;
  /** Real time between comparisons of the store with Temporal, for tests that can't wait. */
  readonly sweepEveryMs: number | undefined;
}

export function readOptions(args: readonly string[]): WorkerOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      "exit-with-parent": { type: "boolean", default: false },
      "workflow-bundle": { type: "string" },
      "sweep-every-ms": { type: "string" },
    },
  });
  return {
    exitWithParent: values["exit-with-parent"],
    workflowBundle: values["workflow-bundle"],
    sweepEveryMs:
      values["sweep-every-ms"] === undefined ? undefined : Number(values["sweep-every-ms"]),
  };
}
