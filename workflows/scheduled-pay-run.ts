import { setCurrentDetails, workflowInfo } from "@temporalio/workflow";
import type { ScheduledPayRunInput } from "../src/contracts/activities.ts";
import { scheduledStartKey } from "../src/contracts/search-attributes.ts";
import { launches } from "./activities.ts";

/**
 * Launches the run of a playbook's schedule, where one begins on the day that has come, and ends
 * at once: a run that stands still never blocks the next.
 */
export async function scheduledPayRun(input: ScheduledPayRunInput): Promise<string> {
  const { typedSearchAttributes, startTime } = workflowInfo();
  // The nominal time, however late a busy server started this.
  const nominal = typedSearchAttributes.get(scheduledStartKey) ?? startTime;
  const { text } = await launches.launchRun.executeWithOptions(
    { summary: `Does a run of ${input.playbook} begin on ${nominal.toISOString()}?` },
    [{ ...input, nominalMs: nominal.getTime() }],
  );
  setCurrentDetails(text);
  return text;
}
