import type { Transaction } from "kysely";
import {
  insertTopUp,
  type NewTopUp,
  noteTopUp,
  type TopUp,
} from "../../src/store/deposits/deposits.ts";
import type { Tables } from "../../src/store/schema/tables.ts";

/** Asks for a deposit as a review of an account does, with its entry in the trail. */
export async function proposedDeposit(trx: Transaction<Tables>, asked: NewTopUp): Promise<TopUp> {
  const topUp = await insertTopUp(trx, asked);
  const { amountCents, hash, planHash, quorum, approvers } = topUp;
  const terms = { amountCents, hash, planHash, quorum, approvers };
  await noteTopUp(trx, topUp, { action: "proposed", ...terms }, asked.nowMs);
  return topUp;
}
