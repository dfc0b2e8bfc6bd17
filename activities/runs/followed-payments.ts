import { isKnownUnpaid } from "../../src/domain/payments/payment-states.ts";
import { ofBill } from "../../src/domain/payments/whose.ts";
import { PAGE_SIZE_MAX, type Payment, type PaymentsClient } from "../../src/payments-api/index.ts";
import { inGroups } from "../shared/in-groups.ts";
import { unlessUnread } from "../shared/one-read.ts";
import { PATIENT } from "../shared/patience.ts";
import { unlessMissing } from "../shared/unless-missing.ts";

/** What following a line needs of a payment; a run of many bills keeps no more in memory. */
export type FollowedPayment = Pick<
  Payment,
  "id" | "status" | "amountCents" | "failureReason" | "createdAt" | "updatedAt" | "unreadable"
>;

/** A bill whose payments are known by their ids. */
export interface FollowedBill {
  readonly payableId: string;
  readonly paymentIds: readonly string[];
}

/** Up to this many bills are always read one by one, all at the same time. */
const ONE_BY_ONE = 25;

/**
 * Reads the payments of followed bills: those that are known, and any that were made since then.
 *
 * Makes one request a bill, or reads the pages of all payments since then, whichever takes fewer
 * requests; payments of earlier years are never read again. A bill whose pages leave something out,
 * or show a payment that the engine doesn't know, is read by itself, without status or time filter.
 * A bill that can't be read is missing from the result, as long as anything can be read.
 *
 * Must not be used to decide whether something was paid: that takes all payments of the bill.
 *
 * @param since ISO instant before the first of the known payments was made
 */
export async function followedPayments(
  client: PaymentsClient,
  bills: readonly FollowedBill[],
  since: string,
): Promise<Map<string, FollowedPayment[]>> {
  const found = new Map<string, FollowedPayment[]>();
  let toRead: readonly FollowedBill[] = bills;
  if (bills.length > ONE_BY_ONE && (await pagesSince(client, since)) < bills.length) {
    await readPages(client, bills, since, found);
    toRead = bills.filter((bill) => !isWhole(bill, found.get(bill.payableId) ?? []));
  }
  await inGroups(toRead, ONE_BY_ONE, async ({ payableId, paymentIds }) => {
    // A bill that is gone, or can't be read, must not keep the others from being followed.
    const listed = () => client.payments.listAll({ payableId }, PATIENT);
    const read = await unlessUnread(
      client,
      () => unlessMissing(listed),
      () => undefined,
    );
    if (read === undefined) found.delete(payableId);
    else found.set(payableId, ofBill(payableId, read ?? [], paymentIds).map(followed));
  });
  return found;
}

/** Returns the number of pages that show everything that was paid since then. */
async function pagesSince(client: PaymentsClient, since: string): Promise<number> {
  const query = { createdAfter: since, pageSize: PAGE_SIZE_MAX };
  const { items, totalCount } = await client.payments.list(query, PATIENT);
  return Math.ceil(totalCount / Math.max(1, items.length));
}

async function readPages(
  client: PaymentsClient,
  bills: readonly FollowedBill[],
  since: string,
  found: Map<string, FollowedPayment[]>,
): Promise<void> {
  const wanted = new Set(bills.map(({ payableId }) => payableId));
  // While lanes pay, the list never stands still; this reads what was in it all the time.
  for await (const page of client.payments.iteratePages({ createdAfter: since }, PATIENT)) {
    for (const payment of page) {
      const { payableId } = payment;
      if (payableId === null || !wanted.has(payableId)) continue;
      const list = found.get(payableId);
      if (list === undefined) found.set(payableId, [followed(payment)]);
      else list.push(followed(payment));
    }
  }
}

/** True if all known payments show, and no other that may be the bill's money as well. */
function isWhole({ paymentIds }: FollowedBill, shown: readonly FollowedPayment[]): boolean {
  const ids = new Set(shown.map(({ id }) => id));
  return (
    paymentIds.length > 0 &&
    paymentIds.every((id) => ids.has(id)) &&
    shown.every(({ id, status }) => paymentIds.includes(id) || isKnownUnpaid(status))
  );
}

function followed(payment: Payment): FollowedPayment {
  const { id, status, amountCents, failureReason, createdAt, updatedAt, unreadable } = payment;
  const followed = { id, status, amountCents, failureReason, createdAt, updatedAt };
  return unreadable === undefined ? followed : { ...followed, unreadable };
}
