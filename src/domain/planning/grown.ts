import type { PlanLine } from "../../contracts/pay-run.ts";
import { newYorkDate } from "../clock/new-york.ts";
import { formatUsd, sumCents } from "../money.ts";
import { isKnownUnpaid, isOnItsWay } from "../payments/payment-states.ts";
import type { BillFacts, PaymentFacts } from "./book.ts";

/** The line by which Payrun last sent a payment of a bill. */
export type LastSentLine = Pick<PlanLine, "bankLast4" | "totalCents">;

/**
 * Says what was paid of a bill, when, and by how much its total has grown since that was approved:
 * the rest is no part of what was approved. Null for a bill whose total hasn't grown, also if it is
 * paid in parts.
 */
export function grownText(
  { totalCents }: BillFacts,
  payments: readonly PaymentFacts[],
  sent: LastSentLine | undefined,
): string | null {
  const paid = payments.filter(({ status }) => !isKnownUnpaid(status));
  if (paid.length === 0 || sent === undefined || totalCents <= sent.totalCents) return null;
  const paidCents = sumCents(paid.map(({ amountCents }) => amountCents));
  const grownCents = totalCents - sent.totalCents;
  return `This bill was paid before: ${formatUsd(paidCents)}, ${whenText(paid)}, approved when its total was ${formatUsd(sent.totalCents)}. The total has grown by ${formatUsd(grownCents)} since, to ${formatUsd(totalCents)}.`;
}

function whenText(paid: readonly PaymentFacts[]): string {
  if (paid.some(({ status }) => isOnItsWay(status))) return "not all of it settled yet";
  const settled = paid.flatMap(({ settledMs }) => settledMs ?? []);
  if (settled.length === 0) return "on a day that the service doesn't say";
  const last = settled.reduce((latest, ms) => Math.max(latest, ms));
  return `settled on ${newYorkDate(last)}`;
}
