import type { DatabaseSync } from "node:sqlite";
import { invalid, malformed, objectNotFound, stateRefusal } from "../http/api-error.ts";
import {
  bankAccountOf,
  bankAccountsOf,
  type BankAccountRow,
} from "../bank-accounts/bank-accounts.ts";
import { type BusinessRow, isReadyToPay } from "../resources/businesses.ts";
import { balanceCanPay } from "../balance/balance.ts";
import { balanceFigures } from "../balance/figures.ts";
import type { PaymentRow } from "./payment-rows.ts";

/** Where a payment's money comes from. */
export type PaymentSource = Pick<PaymentRow, "payment_rail" | "bank_account_id">;

/** The fields of a request that name a source. */
export interface SourceRequest {
  paymentRail?: "SERVICE" | "PROVIDER" | undefined;
  fundingSource?: string | undefined;
  bankAccountId?: string | undefined;
  achAuthorizationAccepted?: boolean | undefined;
}

/**
 * Returns the source that a request names. If both `fundingSource` and `bankAccountId` are sent,
 * `fundingSource` decides, because the balance's `pay` fields may come along with the default bank
 * account's id; that account still has to exist.
 *
 * @throws {ApiError} 400 if no source is named or the fields contradict each other; 404 for an
 * unknown bank account; 422 without the ACH debit authorization, if it is needed.
 */
export function chooseSource(
  db: DatabaseSync,
  business: BusinessRow,
  request: SourceRequest,
): PaymentSource {
  const { paymentRail, fundingSource, bankAccountId } = request;
  if (fundingSource === undefined && bankAccountId === undefined && paymentRail !== "SERVICE") {
    throw malformed("bankAccountId", "bankAccountId or fundingSource is required");
  }
  const isBalance =
    fundingSource === "balance" || (fundingSource === undefined && paymentRail === "SERVICE");
  if (isBalance && paymentRail === "PROVIDER") {
    throw malformed("fundingSource", "The balance is on the SERVICE rail");
  }
  if (bankAccountId !== undefined && bankAccountOf(db, business.id, bankAccountId) === undefined) {
    throw objectNotFound("Bank account");
  }
  if (isBalance) {
    return { payment_rail: "SERVICE", bank_account_id: null };
  }
  if (fundingSource === "linked_bank") {
    throw stateRefusal("feature_unavailable", "Paying from the linked bank is unavailable");
  }
  if (paymentRail === "SERVICE") {
    throw malformed("fundingSource", "A bank account is on the PROVIDER rail");
  }
  const account = requestedAccount(db, business, fundingSource, bankAccountId);
  if (account.status !== "verified") {
    throw invalid("bankAccountId", `Bank account ${account.id} is ${account.status}, not verified`);
  }
  if (account.needs_reauth === 1) {
    throw stateRefusal(
      "setup_required",
      `The bank of ${account.id} wants its owner to sign in again`,
      {
        actionUrl: reauthUrl(account),
      },
    );
  }
  if (!acceptsAchDebit(request)) {
    throw invalid(
      "achAuthorizationAccepted",
      "achAuthorizationAccepted must be true: the payer accepts the ACH debit authorization first",
    );
  }
  return { payment_rail: "PROVIDER", bank_account_id: account.id };
}

/**
 * True if the request accepts the ACH debit authorization, which every source but the balance
 * needs. A request with only the documented `bankAccountId` may leave the field out, because the
 * specification's table doesn't list it.
 */
function acceptsAchDebit(request: SourceRequest): boolean {
  const { paymentRail, fundingSource, achAuthorizationAccepted } = request;
  const isBare = paymentRail === undefined && fundingSource === undefined;
  return achAuthorizationAccepted ?? isBare;
}

function requestedAccount(
  db: DatabaseSync,
  business: BusinessRow,
  fundingSource: string | undefined,
  bankAccountId: string | undefined,
): BankAccountRow {
  if (
    fundingSource !== undefined &&
    bankAccountId !== undefined &&
    fundingSource !== bankAccountId
  ) {
    throw malformed("fundingSource", "fundingSource and bankAccountId name different accounts");
  }
  const account = bankAccountOf(db, business.id, fundingSource ?? bankAccountId ?? "");
  if (account !== undefined) return account;
  throw invalid("fundingSource", "fundingSource must be one that GET /v1/funding-sources lists");
}

/**
 * Returns the sources that a business can see, those of its default rail first (Funding source,
 * section 2).
 */
export function fundingSourcesJson(
  db: DatabaseSync,
  business: BusinessRow,
  maySeeBalance: boolean,
): Record<string, unknown>[] {
  const accounts = bankAccountsOf(db, business.id);
  const banks = accounts.filter((account) => account.status === "verified");
  const hasServiceAccount = business.balance_feature === 1 && business.balance_status !== null;
  const actionUrl = `https://app.payments.example/businesses/${business.id}/setup`;
  const bankSources = banks.map((account) => ({
    id: account.id,
    rail: "PROVIDER",
    kind: "bank",
    name: account.institution_name ?? account.name,
    last4: account.account_last4,
    availableCents: null,
    isDefault: !hasServiceAccount && account.is_default === 1,
    ...standing(business, account, actionUrl),
    pay: { paymentRail: "PROVIDER", bankAccountId: account.id },
  }));
  if (!hasServiceAccount) return bankSources;
  const canPay = balanceCanPay(business);
  const linked = banks.find((account) => account.is_default === 1) ?? banks[0];
  return [
    {
      id: "balance",
      rail: "SERVICE",
      kind: "balance",
      name: "Balance",
      last4: null,
      availableCents: maySeeBalance ? balanceFigures(db, business.id).availableCents : null,
      isDefault: true,
      canPay,
      unavailableReason: canPay ? null : "cleo_pay_not_ready",
      actionUrl: canPay ? null : actionUrl,
      pay: { paymentRail: "SERVICE", fundingSource: "balance" },
    },
    {
      id: "linked_bank",
      rail: "SERVICE",
      kind: "linked_bank",
      name: linked?.institution_name ?? linked?.name ?? null,
      last4: linked?.account_last4 ?? null,
      availableCents: null,
      isDefault: false,
      canPay: false,
      unavailableReason: linked === undefined ? "no_linked_bank" : "bank_funding_unavailable",
      actionUrl: linked === undefined ? actionUrl : null,
      pay: { paymentRail: "SERVICE", fundingSource: "linked_bank" },
    },
    ...bankSources,
  ];
}

/**
 * Returns whether payments can be made from a bank account now; if not, also why and where that is
 * fixed.
 */
function standing(business: BusinessRow, account: BankAccountRow, setupUrl: string) {
  if (!isReadyToPay(business)) {
    return { canPay: false, unavailableReason: "rail_not_ready", actionUrl: setupUrl };
  }
  return account.needs_reauth === 1
    ? { canPay: false, unavailableReason: "bank_reauth", actionUrl: reauthUrl(account) }
    : { canPay: true, unavailableReason: null, actionUrl: null };
}

function reauthUrl({ business_id: businessId, id }: BankAccountRow): string {
  return `https://app.payments.example/businesses/${businessId}/bank-accounts/${id}/sign-in`;
}
