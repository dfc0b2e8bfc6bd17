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

/** Says why nobody knows whether a scheduled payment still goes to the approved account. */
export function vendorNotFoundText(executionDate: string): string {
  return `The service doesn't find the vendor any more, so its bank account can't be compared before the payment of ${executionDate}. The payment stays scheduled, and Payrun looks again.`;
}

/** Notifies that the vendor of a scheduled payment can't be found, with that text. */
export function notFoundVendor(vendor: string, reason: string): NoticeText {
  return {
    subject: `${vendor} has a scheduled payment and can't be found in the service`,
    text: [
      reason,
      "What to do: look the vendor up in the service. If the payment should not go out, cancel it (payrun cancel-scheduled) before 9:00 New York time on its day.",
    ].join("\n"),
  };
}

/** Notifies that more is paid on a bill than it comes to, with the reason of its hold. */
export function paidTooMuch(
  payableId: string,
  {
    amountPaidCents,
    totalCents,
  }: { readonly amountPaidCents: number; readonly totalCents: number },
): NoticeText & { readonly reason: string } {
  const reason = `The service shows ${formatUsd(amountPaidCents)} as paid on a bill of ${formatUsd(totalCents)}.`;
  return {
    reason,
    subject: `${payableId} is paid more than once, or by too much`,
    text: [
      reason,
      "The bill is on hold until a person releases it.",
      `What to do: compare its payments with the bank (payrun explain ${payableId}), and ask the vendor for what is too much.`,
    ].join("\n"),
  };
}

/** Notifies that something was to be paid for which the store and the trail have different facts. */
export function trailDiffers(subject: string, count: number, reason: string): NoticeText {
  const others = count > 1 ? ` The same goes for ${count - 1} more.` : "";
  return {
    subject: `The store was changed past Payrun: ${subject} is not paid`,
    text: [
      `${reason}. ${subject} was not sent, and is on hold.${others}`,
      "Payrun writes each decision and hold into the store and into the trail at once: somebody or something else has written to the store.",
      "What to do: find out who can write to the store, run payrun audit verify, and release the hold only when you know what has changed.",
    ].join("\n"),
  };
}

/** Notifies of a request that the gate stopped, because it was not what is approved. */
export function unapprovedRequest(subject: string, reason: string): NoticeText {
  return {
    subject: `A request about ${subject} was not the approved one, and was not sent`,
    text: [
      `${reason}.`,
      "This should be impossible: requests are made of what is approved alone. Nothing was sent, and nothing is sent for it while it is on hold.",
      `What to do: find out what changes requests, or what is stored (payrun audit verify, payrun explain ${subject}), then release the hold.`,
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
