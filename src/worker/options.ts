import { parseArgs } from "node:util";

export interface WorkerOptions {
  /** Stops when standard input ends: whoever started this process is gone. */
  readonly exitWithParent: boolean;
  /** A workflow bundle made before, instead of bundling at the start. */
  readonly workflowBundle: string | undefined;
}

export function readOptions(args: readonly string[]): WorkerOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      "exit-with-parent": { type: "boolean", default: false },
      "workflow-bundle": { type: "string" },
    },
  });
  return {
    exitWithParent: values["exit-with-parent"],
    workflowBundle: values["workflow-bundle"],
  };
}
