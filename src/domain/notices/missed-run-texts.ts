import type { PlaybookSchedule } from "../../contracts/playbook.ts";
import { catchUpText } from "../clock/schedule-period.ts";
import type { NoticeText } from "./run-texts.ts";

interface Missed {
  readonly playbook: string;
  readonly period: string;
  readonly schedule: PlaybookSchedule;
}

/** Notifies of a run that no schedule begins any more. */
export function missedRun(run: Missed): NoticeText {
  const { playbook, period, schedule } = run;
  return {
    subject: `${playbook} ${period}: the run was missed`,
    text: [
      `The run ${playbook}/${period} should have started, and has not: ${whyMissed(schedule)}. Nothing begins it by itself any more.`,
      `To make it all the same: ${launchOf(run)}`,
    ].join("\n"),
  };
}

/** Says, as part of a sentence, why a schedule doesn't begin a run any more. */
export function whyMissed(schedule: PlaybookSchedule): string {
  return `nothing launched it in time, and it was missed by more than ${catchUpText(schedule)} allows`;
}

/** Returns the command that makes a missed run, with a sandbox too. */
export function launchOf({ playbook, period }: Pick<Missed, "playbook" | "period">): string {
  return `payrun launch ${playbook} --period ${period}`;
}
