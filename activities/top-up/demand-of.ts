import type { ClockReading } from "../../src/business/clock.ts";
import type { Run } from "../../src/store/runs.ts";
import type { Db } from "../../src/store/index.ts";
import { type Demand, type Holding, runDemand } from "./demand.ts";
import { incidentDemand } from "./incident-demand.ts";

/** What whoever asks for a deposit needs now: a run, or an incident of a funding source. */
export function demandOf(
  db: Db,
  asked: {
    readonly owner: string;
    readonly policyRun: Run;
    readonly holding: Holding;
    readonly clock: ClockReading;
  },
): Promise<Demand | undefined> {
  const { owner, policyRun, holding, clock } = asked;
  return owner === policyRun.runId
    ? runDemand(db, policyRun, holding, clock)
    : incidentDemand(db, owner, policyRun, holding, clock);
}
