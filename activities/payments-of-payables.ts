import type { Payment, PaymentsClient } from "../src/payments-api/index.ts";
import { PATIENT } from "./patient.ts";
import { unlessMissing } from "./unless-missing.ts";

/** What following a line needs of a payment: a run of many bills keeps no more in memory. */
export type FollowedPayment = Pick<
  Payment,
  "id" | "status" | "amountCents" | "failureReason" | "createdAt" | "updatedAt"
>;

/** Up to this many payables are asked for one by one; more are read from the whole list's pages. */
const ONE_BY_ONE = 25;

/**
 * All payments of the given payables, without status or time filter.
 *
 * One request a payable while they are few; for many, the pages of all payments cost less.
 */
export async function paymentsOfPayables(
  client: PaymentsClient,
  payableIds: readonly string[],
): Promise<Map<string, FollowedPayment[]>> {
  const wanted = new Set(payableIds);
  const found = new Map<string, FollowedPayment[]>();
  if (wanted.size <= ONE_BY_ONE) {
    await Promise.all(
      [...wanted].map(async (payableId) => {
        // A bill that is gone must not keep the others from being followed.
        const listed = () => client.payments.listAll({ payableId }, PATIENT);
        found.set(payableId, (await unlessMissing(listed)) ?? []);
      }),
    );
    return found;
  }
  // While lanes pay, the whole list never stands still; what was in it all the time is read.
  for await (const page of client.payments.iteratePages({}, PATIENT)) {
    for (const payment of page) {
      const { payableId, id, status, amountCents, failureReason, createdAt, updatedAt } = payment;
      if (payableId === null || !wanted.has(payableId)) continue;
      const kept = { id, status, amountCents, failureReason, createdAt, updatedAt };
      const list = found.get(payableId);
      if (list === undefined) found.set(payableId, [kept]);
      else list.push(kept);
    }
  }
  return found;
}
