/** The fields of a funding source that say whether it can pay (API specification, section 2). */
export interface SourceStanding {
  readonly id: string;
  readonly canPay: boolean;
  readonly unavailableReason: string | null;
  readonly actionUrl: string | null;
}

/** The reasons that the specification names; the service may add others. */
const REASONS: Readonly<Record<string, string>> = {
  cleo_pay_not_ready: "the balance is not set up to pay yet",
  no_linked_bank: "no bank account is linked",
  bank_funding_unavailable: "the service takes no payments from the linked bank over its API",
  bank_reauth: "its bank wants the owner to sign in again",
  rail_not_ready: "the business is not set up to pay from bank accounts yet",
};

/** Says whether a source can pay, in a few words. */
export function standingText({
  canPay,
  unavailableReason: code,
}: Pick<SourceStanding, "canPay" | "unavailableReason">): string {
  if (canPay) return "can pay";
  return code === null ? "can't pay" : `can't pay: ${REASONS[code] ?? `the service says ${code}`}`;
}

/** True for a text that says why a source can't pay. */
export function isNoPayment(text: string): boolean {
  return /^Funding source “[^”]*” can't pay/.test(text);
}

/**
 * Returns why a source can't pay now, and where people can fix that; null if it can pay.
 *
 * @param source undefined if the service doesn't list it
 */
export function whyNoPayment(sourceId: string, source: SourceStanding | undefined): string | null {
  if (source === undefined) {
    return `Funding source “${sourceId}” can't pay: the service doesn't list it any more. It was removed, or is not verified now.`;
  }
  if (source.canPay) return null;
  const { unavailableReason: code, actionUrl } = source;
  const known = code === null ? undefined : REASONS[code];
  const why =
    code === null
      ? "the service doesn't say why"
      : known === undefined
        ? `the service says ${code}`
        : `${known} (${code})`;
  const mend = actionUrl === null ? "" : ` Fix it at ${actionUrl}`;
  return `Funding source “${sourceId}” can't pay now: ${why}.${mend}`;
}
