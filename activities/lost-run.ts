import { ApplicationFailure } from "@temporalio/common";
import type { Assessment } from "../src/contracts/activities.ts";
import type { Run } from "../src/store/runs.ts";

/** Asked again soon: whoever launches it anew waits for its plan. */
export function unknownRun(runId: string): Error {
  return ApplicationFailure.create({
    message: `run ${runId} is not in the store: it was lost; launch it again with payrun launch`,
    type: "RunUnknown",
    nextRetryDelay: "3 seconds",
  });
}

/** A run that was launched anew after its row was lost: without a plan nothing could be open. */
export function unplanned(run: Run): Assessment {
  return {
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
    details: `**${run.playbook}** for ${run.business}, period ${run.period}: **planning**`,
    toPlan: true,
  };
}
