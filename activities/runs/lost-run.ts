import { HOUR_MS } from "../../src/contracts/durations.ts";
import type { Assessment, BegunRun } from "../../src/contracts/activities.ts";
import type { Run } from "../../src/store/runs/runs.ts";

/** A launch wakes the run at once; this interval is for a store that is restored by hand. */
const LOST_LOOK_MS = HOUR_MS;

/** The first look says what the run waits for. */
export const LOST_RUN: BegunRun = { ended: false, phase: "planning", planned: true };

const PLANNING: Assessment = {
  phase: "planning",
  ended: false,
  waitingFor: null,
  toFund: 0,
  toPay: 0,
  toFollow: 0,
  wakeInMs: 0,
  needsAction: false,
  exceptions: 0,
  totalCents: 0,
  payDate: null,
  details: "",
};

/**
 * Assesses a run that the store has lost, with all that was planned in it: only a person can go on.
 */
export function lostRun(runId: string): Assessment {
  const waitingFor = "The store has lost this run: launch it again with payrun launch";
  return {
    ...PLANNING,
    waitingFor,
    wakeInMs: LOST_LOOK_MS,
    needsAction: true,
    details: `**${runId}**: ${waitingFor}.`,
  };
}

/**
 * Assesses a run without a plan: a new one, or one that was launched anew after its row was lost.
 * The end of its planning wakes it.
 */
export function unplanned(run: Run): Assessment {
  const { waitingFor } = run;
  const why = waitingFor === null ? "" : `, waiting for ${waitingFor}`;
  return {
    ...PLANNING,
    waitingFor,
    wakeInMs: LOST_LOOK_MS,
    details: `**${run.playbook}** for ${run.business}, period ${run.period}: **planning**${why}`,
    toPlan: true,
  };
}
