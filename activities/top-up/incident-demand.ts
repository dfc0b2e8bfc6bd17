import type { ClockReading } from "../../src/business/clock.ts";
import { nextBankingDay } from "../../src/domain/clock/bank-calendar.ts";
import { newYorkDate } from "../../src/domain/clock/new-york.ts";
import { waitingForIncident } from "../../src/store/retry-cases.ts";
import type { Run } from "../../src/store/runs.ts";
import type { Db } from "../../src/store/index.ts";
import { type Demand, type Holding, leftCents } from "./demand.ts";

/**
 * What the bills need that wait for an incident of a funding source. They are promised their money
 * already, so they are taken out of what is left first.
 */
export async function incidentDemand(
  db: Db,
  owner: string,
  policyRun: Run,
  holding: Holding,
  clock: ClockReading,
): Promise<Demand | undefined> {
  const rule = policyRun.policy.pay.topUp;
  if (rule === undefined || policyRun.planHash === null) return undefined;
  const { business, businessId } = policyRun;
  const { sourceId } = holding;
  const bills = await waitingForIncident(db, { businessId, sourceId });
  const cents = bills.reduce((sum, { amountCents }) => sum + amountCents, 0);
  const left = await leftCents(db, { businessId, owner, holding, clock });
  const date = nextBankingDay(newYorkDate(clock.businessMs));
  return {
    owner,
    business,
    businessId,
    sourceId,
    policyRunId: policyRun.runId,
    rule,
    planHash: policyRun.planHash,
    needs: cents === 0 ? [] : [{ date, cents }],
    leftCents: left.cents + cents,
    certain: left.certain,
  };
}
