import { formatUsd } from "../money.ts";
import type { NoticeText } from "./run-texts.ts";

/** A settled payment and the bill that it covers, as its vendor knows them. */
export interface AdvisedPayment {
  /** The payer's name as vendors know it. */
  readonly payer: string;
  readonly paymentId: string;
  readonly amountCents: number;
  /** Number of parts into which the service split the bill's amount; 1 if it didn't. */
  readonly parts: number;
  readonly bill: {
    readonly number: string;
    readonly description: string | null;
    readonly totalCents: number;
    readonly dueDate: string | null;
  };
  /** `YYYY-MM-DD` in New York. */
  readonly sentOn: string;
  readonly isAnswered: boolean;
}

/** Writes remittance advice: which bill a payment covers, for the vendor's own books. */
export function remittanceAdvice(payment: AdvisedPayment): NoticeText {
  const { bill, payer } = payment;
  const paid = formatUsd(payment.amountCents);
  return {
    subject: `Payment of ${paid} from ${payer} for ${bill.number}`,
    text: [
      `${payer} has paid you ${paid} by bank transfer.`,
      "",
      `Bill:           ${bill.number}`,
      ...(bill.description === null ? [] : [`For:            ${bill.description}`]),
      `Bill total:     ${formatUsd(bill.totalCents)}`,
      ...(bill.dueDate === null ? [] : [`Due:            ${bill.dueDate}`]),
      `This payment:   ${paid}`,
      ...(payment.parts > 1
        ? [`It is one of ${payment.parts} payments that together cover the bill.`]
        : []),
      `Sent on:        ${payment.sentOn}`,
      `Payment id:     ${payment.paymentId}`,
      "",
      payment.isAnswered
        ? "Questions? Reply to this mail."
        : "This mail was sent automatically; replies are not read.",
    ].join("\n"),
  };
}
