import { setCurrentDetails, workflowInfo } from "@temporalio/workflow";
import type { ScheduledPayRunInput } from "../src/contracts/activities.ts";
import { scheduledStartKey } from "../src/contracts/search-attributes.ts";
import { launches } from "./activities.ts";

/**
 * Launches a scheduled playbook's run if one begins today, and ends at once, so that an unfinished
 * run never blocks the next.
 */
export async function scheduledPayRun(input: ScheduledPayRunInput): Promise<string> {
  const { typedSearchAttributes, startTime } = workflowInfo();
  // The schedule's nominal time, however late a busy server started this workflow.
  const nominal = typedSearchAttributes.get(scheduledStartKey) ?? startTime;
  const { text } = await launches.launchRun.executeWithOptions(
    { summary: `Does a run of ${input.playbook} begin on ${nominal.toISOString()}?` },
    [{ ...input, nominalMs: nominal.getTime() }],
  );
  setCurrentDetails(text);
  return text;
}
