import { AsyncLocalStorage } from "node:async_hooks";

/** Stands in for `@temporalio/activity`, with only what the activities here use. */
export interface RunningActivity {
  readonly info: {
    readonly activityId: string;
    readonly activityType: string;
    readonly attempt: number;
    readonly scheduledTimestampMs: number;
    readonly workflowExecution: { readonly workflowId: string };
  };
  readonly cancellationSignal: AbortSignal;
  readonly heartbeat: () => void;
}

const here = new AsyncLocalStorage<RunningActivity>();

/** Runs code as this activity. */
export function asActivity<T>(activity: RunningActivity, work: () => T): T {
  return here.run(activity, work);
}

function current(): RunningActivity {
  const activity = here.getStore();
  if (activity === undefined) throw new Error("this is not called by an activity");
  return activity;
}

export const Context = { current };

export function activityInfo(): RunningActivity["info"] {
  return current().info;
}

export function heartbeat(): void {
  current().heartbeat();
}

export function cancellationSignal(): AbortSignal {
  return current().cancellationSignal;
}
