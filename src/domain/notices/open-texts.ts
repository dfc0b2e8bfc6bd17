import { formatUsd } from "../money.ts";
import type { NoticeText } from "./run-texts.ts";

interface ShownPayment {
  readonly id: string;
  readonly amountCents: number;
  readonly status: string;
}

/** Notifies of a payment that no request of Payrun explains, with the reason why it matters. */
export function unexplained(payableId: string, reason: string): NoticeText {
  return {
    subject: `A payment of ${payableId} needs an explanation`,
    text: [
      reason,
      "Payrun sends nothing for this bill until that is known. It is on hold until a person releases it.",
      `What to do: compare its payments with the bank (payrun explain ${payableId}), and ask who made the one that is not Payrun's.`,
    ].join("\n"),
  };
}

/**
 * Notifies that a scheduled payment may be wrong, with the reason; Payrun cancels it if the service
 * allows.
 */
export function inDoubt(payableId: string, reason: string): NoticeText {
  return {
    subject: `A scheduled payment of ${payableId} is in doubt`,
    text: [
      reason,
      "Payrun sends nothing more for it while it is on hold.",
      `What to do: compare its payments with the bank (payrun explain ${payableId}), and release the hold once it is right.`,
    ].join("\n"),
  };
}

/**
 * Notifies that a request without a response has paid after all, and that no run follows its bill
 * anymore.
 */
export function paidAfterAll(payableId: string, found: readonly ShownPayment[]): NoticeText {
  const listed = found.map(
    ({ id, amountCents, status }) => `- ${id}, ${formatUsd(amountCents)}, ${status}`,
  );
  return {
    subject: `${payableId} was paid after all`,
    text: [
      "A request without a response has paid the bill, and no run follows it any more. The bill is on hold until a person releases it. The payments:",
      ...listed,
      `What to do: if it must not be paid, cancel the payment; otherwise payrun resolve ${payableId} --paid-elsewhere.`,
    ].join("\n"),
  };
}
