import { activityInfo } from "@temporalio/activity";
import type { ActivityContext } from "../shared/context.ts";
import { notifyOfTrouble } from "./trouble.ts";

/**
 * Tries of a step after which people are notified that it fails: two minutes, at the pace of
 * retries.
 */
const TRIES = 8;

/** The same limit in time, for steps whose tries take long. */
const LASTS_MS = 120_000;

/**
 * After this many tries that ended without any answer, over this time, operators are notified: the
 * step may kill the workers that try it.
 */
const SILENT_TRIES = 3;
const SILENT_MS = 300_000;

/**
 * Wraps an activity so that operators are notified if it can't succeed: it is tried forever, and
 * would otherwise fail unnoticed. A process may die of a step before it can notify, so the next try
 * notifies first.
 */
export function notifying<Input, Output>(
  context: ActivityContext,
  activity: (input: Input) => Promise<Output>,
): (input: Input) => Promise<Output> {
  return async (input) => {
    const { attempt, scheduledTimestampMs } = activityInfo();
    const lastsMs = (): number => Date.now() - scheduledTimestampMs;
    if (attempt > TRIES || (attempt > SILENT_TRIES && lastsMs() > SILENT_MS)) {
      await notify(
        context,
        input,
        "its last tries ended without an answer: a worker died, or took too long",
      );
    }
    try {
      return await activity(input);
    } catch (error) {
      if (attempt >= TRIES || (attempt > 1 && lastsMs() > LASTS_MS)) {
        await notify(context, input, error instanceof Error ? error.message : String(error));
      }
      throw error;
    }
  };
}

/**
 * Notifies operators of a failing step. A failure to notify must not hide the step's own; the next
 * try notifies again.
 */
async function notify(context: ActivityContext, input: unknown, reason: string): Promise<void> {
  const { activityType: step, scheduledTimestampMs, workflowExecution } = activityInfo();
  const owner = workflowExecution?.workflowId ?? "";
  const business = businessIn(input);
  // One notice for each step that a workflow has requested, whatever its tries report.
  const factKey = `${owner}/${step}/${scheduledTimestampMs}`;
  const trouble = { owner, step, reason, business, factKey };
  await notifyOfTrouble(context, trouble).catch((error: unknown) => {
    const why = error instanceof Error ? error.message : String(error);
    context.log.warn("people could not be notified of a failing step", { ...trouble, why });
  });
}

function businessIn(input: unknown): string | undefined {
  if (typeof input !== "object" || input === null || !("business" in input)) return undefined;
  return typeof input.business === "string" ? input.business : undefined;
}
