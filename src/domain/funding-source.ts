import { PAY_FIELDS, type PayFields } from "../contracts/pay-run.ts";

/** The fields of a funding source that say whether it can pay (API specification, section 2). */
export interface SourceStanding {
  readonly id: string;
  readonly canPay: boolean;
  readonly unavailableReason: string | null;
  readonly actionUrl: string | null;
}

/** The most characters of an id or a word of the service that a request repeats. */
const WORD_MAX = 200;

/** Why a source's fields can't be used; Payrun's own reasons for not paying from it. */
type Unusable = "unusable_fields" | "foreign_account" | "accounts_unreadable";

/**
 * Returns what a payment from a source sends, or why there can be none. If the source names no
 * account, the business's default account is added.
 *
 * @param given the source's `pay`, as the service wrote it
 * @param accounts the business's own accounts; undefined if the token may not read them
 */
export function payFields(
  given: Readonly<Record<string, unknown>> | null,
  accounts:
    | readonly { readonly id: string; readonly status: string; readonly isDefault: boolean }[]
    | undefined,
): PayFields | Unusable {
  const named = PAY_FIELDS.map((name) => [name, given?.[name] ?? undefined] as const);
  const isWord = (value: unknown): boolean =>
    typeof value === "string" && value !== "" && value.length <= WORD_MAX;
  if (named.some(([, value]) => value !== undefined && !isWord(value))) return "unusable_fields";
  const fields = Object.fromEntries(named.filter(([, value]) => value !== undefined)) as PayFields;
  const own = accounts?.filter(({ status }) => status === "verified");
  if (fields.bankAccountId === undefined) {
    const account = own?.find(({ isDefault }) => isDefault);
    return account === undefined ? fields : { ...fields, bankAccountId: account.id };
  }
  if (own === undefined) return "accounts_unreadable";
  return own.some(({ id }) => id === fields.bankAccountId) ? fields : "foreign_account";
}

/** The reasons that the specification names, and Payrun's own; the service may add others. */
const REASONS: Readonly<Record<string, string>> = {
  ...({
    unusable_fields: "what the service says to send for a payment from it can't be used",
    foreign_account: "it names a bank account that is not a verified one of the business's own",
    accounts_unreadable: "the token may not read the bank accounts, and it names one",
  } satisfies Record<Unusable, string>),
  cleo_pay_not_ready: "the balance is not set up to pay yet",
  no_linked_bank: "no bank account is linked",
  bank_funding_unavailable: "the service takes no payments from the linked bank over its API",
  bank_reauth: "its bank wants the owner to sign in again",
  unreadable: "the service shows it in a way that can't be read; have it corrected there",
  rail_not_ready: "the business is not set up to pay from bank accounts yet",
};

/** Says whether a source can pay, in a few words. */
export function sourceStandingText({
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
