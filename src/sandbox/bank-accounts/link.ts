import type { SandboxContext } from "../context.ts";
import { ApiError } from "../http/api-error.ts";
import { newId } from "../ids.ts";
import { rememberAccountNumber } from "../payments/magic.ts";
import { tellBankAccount } from "./events.ts";
import { type BankAccountRow, insertBankAccount } from "./bank-accounts.ts";
import { linkedAccount, numberHashOf, sendMicroDeposits } from "./micro-deposits.ts";

/** The details of an account that a caller sends. */
export interface AccountDetails {
  accountNumber: string;
  routingNumber: string;
  type: "checking" | "savings";
  name?: string | undefined;
  institutionName?: string | undefined;
}

/**
 * Links an account by its numbers and starts its verification.
 *
 * @throws {ApiError} 409 `bank_account_exists` if the business has already linked it.
 */
export function linkBankAccount(
  ctx: SandboxContext,
  businessId: string,
  given: AccountDetails,
): BankAccountRow {
  const { accountNumber, routingNumber } = given;
  const numberHash = numberHashOf(businessId, routingNumber, accountNumber);
  const twin = linkedAccount(ctx.db, numberHash);
  if (twin !== undefined) {
    throw new ApiError(409, "bank_account_exists", "The business has linked this account already", {
      bankAccountId: twin.id,
    });
  }
  const nowMs = ctx.clock.bankNow();
  const account: BankAccountRow = {
    id: newId("ba"),
    business_id: businessId,
    status: "pending_verification",
    type: given.type,
    connection_type: "manual",
    name: given.name ?? null,
    institution_name: given.institutionName ?? null,
    account_last4: accountNumber.slice(-4),
    routing_last4: routingNumber.slice(-4),
    is_default: 0,
    micro_deposits_initiated_at: nowMs,
    micro_deposits_completed_at: null,
    verification_attempts: 0,
    needs_reauth: 0,
  };
  insertBankAccount(ctx.db, account);
  rememberAccountNumber(ctx.db, account.id, accountNumber);
  sendMicroDeposits(ctx, account, numberHash, nowMs);
  tellBankAccount(ctx, account, "created");
  return account;
}
