import type { Transaction } from "kysely";
import type { ClockReading } from "../../src/business/clock.ts";
import { getRun } from "../../src/store/runs/runs.ts";
import type { Tables } from "../../src/store/schema/tables.ts";
import { topUpApproved } from "../../src/store/deposits/deposit-approvals.ts";
import type { TopUp } from "../../src/store/deposits/deposits.ts";
import type { ActivityContext } from "../shared/context.ts";
import { depositFrom } from "./account.ts";
import { holdingOf, type Needed } from "./demand.ts";
import { reviewTopUp } from "./review.ts";

/** Reads what the balance holds, and where a deposit would come from. */
export async function readNeeded(
  context: ActivityContext,
  asking: Pick<TopUp, "owner" | "business" | "policyRunId" | "sourceId">,
): Promise<Needed | { readonly closed: string }> {
  const { owner, business, policyRunId, sourceId } = asking;
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
  return { owner, policyRun, from, holding };
}

/**
 * Returns the request if exactly what is missing now has been approved.
 *
 * @returns null if people are asked
 */
export async function reviewNeeded(
  trx: Transaction<Tables>,
  before: TopUp,
  needed: Needed,
  clock: ClockReading,
): Promise<TopUp | null | { readonly closed: string }> {
  const { topUp, isUncertain } = await reviewTopUp(trx, needed, clock);
  // Another amount needs another approval, and may be another transaction in the list.
  const isSame = topUp?.subject === before.subject && topUp.hash === before.hash;
  if (!isSame || topUp.state !== "proposed") return null;
  if (isUncertain === true) return { closed: "what the balance holds is just changing" };
  return (await topUpApproved(trx, topUp, Math.floor(clock.businessMs))) ? topUp : null;
}
