import { z } from "zod";
import type { PlaybookSchedule } from "../../contracts/playbook.ts";
import { launchOf, whyMissed } from "../notices/missed-run-texts.ts";
import { fact, type Head, news, text, toOperators, whole, yes } from "./fact.ts";

export const playbookProposed = fact("playbook.proposed", { hash: text });
export const playbookApplied = fact("playbook.applied", {
  revision: whole,
  hash: text,
  compiled: text,
  confirmedBy: text.optional(),
  sandboxTime: text.optional(),
});

/** What was done to a playbook's schedule in Temporal itself, or what Temporal has lost. */
type ScheduleChange = keyof typeof CHANGES;

const CHANGES = {
  paused: {
    did: "paused in Temporal",
    now: "It begins no run by itself. To go on: payrun schedule resume PLAYBOOK",
  },
  resumed: {
    did: "resumed in Temporal",
    now: "It begins runs by itself again. To stop that: payrun schedule pause PLAYBOOK",
  },
  lost: {
    did: "deleted in Temporal, or lost there",
    now: "Payrun has made it again as its playbook says, paused if it was paused, and begins the runs that were missed within catchUp. To stop it: payrun schedule pause PLAYBOOK",
  },
  changed: {
    did: "changed in Temporal",
    now: "Payrun has written it again as its playbook says. To change it, change the playbook and apply it.",
  },
  made: {
    did: "in Temporal although it is deleted",
    now: "Payrun has deleted it there. To have it again, apply the playbook: payrun apply PLAYBOOK.yaml",
  },
};

interface Changed extends Head {
  readonly change: ScheduleChange;
}

const scheduleChanged = toOperators("schedule-changed", ({ change, ...of }: Changed) => {
  const { subject: playbook, nowMs, by } = of;
  // A person who acts through Payrun knows of it.
  if (typeof by === "string") return undefined;
  const { did, now } = CHANGES[change];
  return {
    factKey: `${playbook}/${change}/${nowMs}`,
    subject: `The schedule of ${playbook} was ${did}`,
    text: [
      now.replaceAll("PLAYBOOK", playbook),
      "If nobody of yours did that, find out who can write to Temporal.",
    ].join("\n"),
    data: { playbook, change },
  };
});

const acted = (change: ScheduleChange, { of, ...to } = scheduleChanged) =>
  fact(
    `schedule.${change}`,
    { note: text.optional() },
    { notifies: { ...to, of: (when, about: Head) => of(when, { ...about, change }) } },
  );

/** What a person has done with a schedule: through Payrun, or in Temporal itself. */
export const SCHEDULE_ACTS = { paused: acted("paused"), resumed: acted("resumed") };

export const scheduleDeleted = fact("schedule.deleted", {});

export const scheduleRestored = fact(
  "schedule.restored",
  { change: z.enum(["lost", "changed", "made"]), paused: yes },
  { notifies: scheduleChanged },
);

interface Missed {
  readonly playbook: string;
  readonly period: string;
  readonly schedule: PlaybookSchedule;
}

/** A run that no schedule begins any more. */
export const runMissed = news(
  toOperators("run-missed", (run: Missed) => {
    const { playbook, period, schedule } = run;
    return {
      factKey: `${playbook}/${period}`,
      subject: `${playbook} ${period}: the run was missed`,
      text: [
        `The run ${playbook}/${period} should have started, and has not: ${whyMissed(schedule)}. Nothing begins it by itself any more.`,
        `To make it all the same: ${launchOf(run)}`,
      ].join("\n"),
      data: { playbook, period },
    };
  }),
);
