import { activityInfo } from "@temporalio/activity";
import { stepTrouble, NO_ANSWER } from "../../src/domain/step-trouble.ts";
import { showTrouble } from "../../src/store/janitor/show-trouble.ts";
import type { ActivityContext } from "../shared/context.ts";
import { notifyOfTrouble, type Trouble } from "./trouble.ts";

/**
 * Tries of a step after which people are notified that it fails: two minutes, at the pace of
 * retries.
 */
const TRIES = 8;

/** The same limit in time, for steps whose tries take long. */
const LASTS_MS = 120_000;

/** Tries, or time, after which the run or the retry says that its step fails: half a minute. */
const SHOWN_TRIES = 6;
const SHOWN_MS = 25_000;

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
      await notify(context, input, NO_ANSWER);
    }
    try {
      return await activity(input);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      if (attempt >= TRIES || (attempt > 1 && lastsMs() > LASTS_MS)) {
        await notify(context, input, reason);
      } else if (attempt >= SHOWN_TRIES || lastsMs() > SHOWN_MS) await show(context, reason);
      throw error;
    }
  };
}

/** A failure to show it must not hide the step's own; the next try shows it again. */
async function show({ store }: ActivityContext, reason: string): Promise<void> {
  const { activityType: step, workflowExecution } = activityInfo();
  const owner = workflowExecution?.workflowId ?? "";
  await showTrouble(store.db, owner, stepTrouble(step, reason)).catch(() => undefined);
}

/**
 * Notifies operators of a failing step. A failure to notify must not hide the step's own; the next
 * try notifies again.
 */
async function notify(context: ActivityContext, input: unknown, reason: string): Promise<void> {
  const { activityType: step, scheduledTimestampMs: askedAtMs, workflowExecution } = activityInfo();
  const owner = workflowExecution?.workflowId ?? "";
  const trouble = { owner, step, reason, input: Object(input) as Trouble["input"], askedAtMs };
  await notifyOfTrouble(context, trouble).catch((error: unknown) => {
    const why = error instanceof Error ? error.message : String(error);
    context.log.warn("people could not be notified of a failing step", { ...trouble, why });
  });
}
