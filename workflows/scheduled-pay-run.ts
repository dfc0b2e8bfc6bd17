import { setCurrentDetails } from "@temporalio/workflow";
import type { ScheduledPayRunInput } from "../src/contracts/activities.ts";
import { launches } from "./activities.ts";

/**
 * Launches a scheduled playbook's run if one is due, and ends at once, so that an unfinished run
 * never blocks the next. Whoever starts it only makes it look: the stored schedule says what is due.
 */
export async function scheduledPayRun({
  business,
  playbook,
}: ScheduledPayRunInput): Promise<string> {
  const { text } = await launches.launchRun.executeWithOptions(
    { summary: `Is a run of ${playbook} due?` },
    [{ business, playbook }],
  );
  setCurrentDetails(text);
  return text;
}
