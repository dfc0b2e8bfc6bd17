import type { Transaction } from "kysely";
import type { ClockReading } from "../../src/business/clock.ts";
import { getRun, type Run } from "../../src/store/runs.ts";
import type { Tables } from "../../src/store/tables.ts";
import { topUpApproved } from "../../src/store/top-up-approvals.ts";
import type { TopUp } from "../../src/store/top-ups.ts";
import type { ActivityContext } from "../context.ts";
import { type DepositFrom, depositFrom } from "./account.ts";
import { demandOf } from "./demand-of.ts";
import { type Holding, holdingOf } from "./demand.ts";
import { reviewTopUp } from "./review.ts";

/** What was read to say how much is missing. */
export interface Needed {
  readonly policyRun: Run;
  readonly from: DepositFrom;
  readonly holding: Holding;
}

/** Reads what the balance holds, and where a deposit would come from. */
export async function readNeeded(
  context: ActivityContext,
  { business, policyRunId, sourceId }: TopUp,
): Promise<Needed | { readonly closed: string }> {
  const client = context.clientOf(business);
  const policyRun = await getRun(context.store.db, policyRunId);
  const rule = policyRun?.policy.pay.topUp;
  if (policyRun === undefined || rule === undefined) return { closed: "its run is gone" };
  const from = await depositFrom(client, context.profileOf(business), rule);
  const readAtMs = Date.now();
  const sources = await client.fundingSources.list();
  const holding = holdingOf(
    sources.find(({ id }) => id === sourceId),
    readAtMs,
  );
  if (holding === undefined) return { closed: "the balance can't be read, or doesn't pay now" };
  return { policyRun, from, holding };
}

/**
 * The request, where exactly what is missing now has been approved.
 *
 * @returns null where people are asked
 */
export async function reviewNeeded(
  trx: Transaction<Tables>,
  before: TopUp,
  { policyRun, from, holding }: Needed,
  clock: ClockReading,
): Promise<TopUp | null | { readonly closed: string }> {
  const { owner } = before;
  const demand = await demandOf(trx, { owner, policyRun, holding, clock });
  if (demand === undefined) return { closed: "its run is gone" };
  const { topUp } = await reviewTopUp(trx, demand, from, clock);
  // Another amount asks for another approval, and may be another transaction in the list.
  const isSame = topUp?.subject === before.subject && topUp.hash === before.hash;
  if (!isSame || topUp.state !== "proposed") return null;
  if (!demand.certain) return { closed: "what the balance holds is just changing" };
  return (await topUpApproved(trx, topUp, Math.floor(clock.businessMs))) ? topUp : null;
}
