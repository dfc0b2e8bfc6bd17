import { activityInfo } from "@temporalio/activity";
import type { ActivityContext } from "../shared/context.ts";
import { notifyOfTrouble } from "./trouble.ts";

/** Tries of a step after which people hear that it fails: two minutes, as steps are tried. */
const TRIES = 8;

/** The same in time, for steps whose tries take long. */
const LASTS_MS = 120_000;

/** So many tries that ended without any answer, and for so long: whoever makes them dies of them. */
const SILENT_TRIES = 3;
const SILENT_MS = 300_000;

/**
 * Wraps an activity, so that operators hear where it can't succeed: it is tried for ever, and nobody
 * would know. A process may die of a step before it can tell, so the next try tells first.
 */
export function telling<Input, Output>(
  context: ActivityContext,
  activity: (input: Input) => Promise<Output>,
): (input: Input) => Promise<Output> {
  return async (input) => {
    const { attempt, scheduledTimestampMs } = activityInfo();
    const lastsMs = (): number => Date.now() - scheduledTimestampMs;
    if (attempt > TRIES || (attempt > SILENT_TRIES && lastsMs() > SILENT_MS)) {
      await tell(
        context,
        input,
        "its last tries ended without an answer: a worker died, or took too long",
      );
    }
    try {
      return await activity(input);
    } catch (error) {
      if (attempt >= TRIES || (attempt > 1 && lastsMs() > LASTS_MS)) {
        await tell(context, input, error instanceof Error ? error.message : String(error));
      }
      throw error;
    }
  };
}

/** What can't be told must not hide what it is about; the next try tells it. */
async function tell(context: ActivityContext, input: unknown, reason: string): Promise<void> {
  const { activityType: step, scheduledTimestampMs, workflowExecution } = activityInfo();
  const owner = workflowExecution?.workflowId ?? "";
  const business = businessIn(input);
  // Once for each step that a workflow has asked for, whatever its tries say.
  const factKey = `${owner}/${step}/${scheduledTimestampMs}`;
  const trouble = { owner, step, reason, business, factKey };
  await notifyOfTrouble(context, trouble).catch((error: unknown) => {
    const why = error instanceof Error ? error.message : String(error);
    context.log.warn("a failing step could not be told of", { ...trouble, why });
  });
}

function businessIn(input: unknown): string | undefined {
  if (typeof input !== "object" || input === null || !("business" in input)) return undefined;
  return typeof input.business === "string" ? input.business : undefined;
}
