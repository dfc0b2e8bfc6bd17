import { formatUsd, sumCents } from "../money.ts";

/** A payment as texts name it. */
interface NamedPayment {
  readonly id: string;
  readonly amountCents: number;
}

/** A payment that no request of the store's ledger has made. */
interface OthersPayment extends NamedPayment {
  /** True if Payrun may have made it before its store was restored. */
  readonly mayBeOurs?: boolean | undefined;
}

/** A restored store can't know who made it. */
const NOT_ON_RECORD =
  "a payment that this store has no record of (made by someone else, or by Payrun after the backup that was restored)";

/** Why a bill is left alone if nothing is owed on it any more. */
export const NOTHING_OWED =
  "Nothing is owed any more: a payment that no run here made has paid it, or is paying it now.";

export const mayBeOurs = ({ mayBeOurs: isPossible }: OthersPayment): boolean => isPossible === true;

/** Says who made these payments, as far as the store can know. */
export function byOthers(others: readonly OthersPayment[]): string {
  return others.some(mayBeOurs) ? NOT_ON_RECORD : "someone else";
}

/**
 * Says where these payments are: `outside Payrun`, or `not on record here` if Payrun may have made
 * some.
 */
export function whereOthers(others: readonly OthersPayment[]): string {
  return others.some(mayBeOurs) ? "not on record here" : "outside Payrun";
}

/**
 * Begins a sentence that says that these payments have paid a bill, or are about to. The text about
 * what Payrun itself sent follows.
 */
export function foundPaid(
  others: readonly (OthersPayment & { readonly status: string })[],
): string {
  const isDone = others.every(({ status }) => status === "completed");
  return others.some(mayBeOurs)
    ? `${isDone ? "Paid" : "On its way"} by ${byOthers(others)}`
    : `Not paid by Payrun, which found it ${isDone ? "paid" : "being paid"} by ${byOthers(others)}`;
}

/** Returns a separate sentence about these payments; empty if there are none. */
export function besideText(
  beside: readonly (OthersPayment & { readonly status: string })[],
): string {
  if (beside.length === 0) return "";
  const moving = beside.some(({ status }) => status === "completed") ? "" : ", on its way";
  const what = `${paymentNames(beside)} of ${formatUsd(centsOf(beside))}${moving}`;
  return beside.some(mayBeOurs)
    ? ` Not on record here: ${what}.`
    : ` Outside Payrun it has ${what}.`;
}

/**
 * Returns the title of a list of these payments. If a request has no final response, it may have
 * made them.
 */
export function othersTitle({
  attempts,
  externalPayments,
}: {
  readonly attempts: readonly { readonly seq: number; readonly state: string }[];
  readonly externalPayments: readonly OthersPayment[];
}): string {
  const open = attempts.find(({ state }) => state === "open");
  if (open !== undefined) return `Perhaps made by request ${open.seq}`;
  return externalPayments.some(mayBeOurs) ? "Not on this store's record" : "Not made by Payrun";
}

export function centsOf(payments: readonly { readonly amountCents: number }[]): number {
  return sumCents(payments.map(({ amountCents }) => amountCents));
}

export function paymentNames(payments: readonly NamedPayment[]): string {
  const ids = payments.map(({ id }) => id).join(", ");
  return payments.length === 1 ? `payment ${ids}` : `${payments.length} payments (${ids})`;
}
