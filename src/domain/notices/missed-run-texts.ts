import type { PlaybookSchedule } from "../../contracts/playbook.ts";
import { catchUpText } from "../clock/schedule-period.ts";

/** Says, as part of a sentence, why a schedule doesn't begin a run any more. */
export function whyMissed(schedule: PlaybookSchedule): string {
  return `nothing launched it in time, and it was missed by more than ${catchUpText(schedule)} allows`;
}

/** Returns the command that makes a missed run, with a sandbox too. */
export function launchOf({
  playbook,
  period,
}: {
  readonly playbook: string;
  readonly period: string;
}): string {
  return `payrun launch ${playbook} --period ${period}`;
}
