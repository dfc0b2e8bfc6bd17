import type { SandboxContext } from "../context.ts";
import { ApiError } from "../http/api-error.ts";
import type { OperationAnswer } from "../http/operation.ts";
import {
  bankAccountById,
  bankAccountJson,
  type BankAccountRow,
  type BankAccountStatus,
  changeBankAccount,
  settleDefault,
} from "./bank-accounts.ts";
import { tellBankAccount } from "./events.ts";
import { microDepositAmounts } from "./micro-deposits.ts";

/** Number of wrong attempts that may be made (API specification, section 8). */
const wrongAttemptsLimit = 3;

/**
 * Checks the amounts that a caller has seen on the account's statement.
 *
 * A wrong attempt is answered with 422 and the fourth with 409. Both are returned and not thrown,
 * because what they change must stay.
 *
 * @throws {ApiError} 409 `bank_account_not_verifiable` if the account is not pending, or the
 * deposits have not arrived.
 */
export function verifyMicroDeposits(
  ctx: SandboxContext,
  account: BankAccountRow,
  amountsCents: readonly [number, number],
): OperationAnswer {
  const sent = microDepositAmounts(ctx.db, account.id);
  if (account.status !== "pending_verification") throw notVerifiable(account);
  if (sent === undefined || account.micro_deposits_completed_at === null) {
    throw notVerifiable(account, "Its micro-deposits have not arrived yet");
  }
  if (account.verification_attempts >= wrongAttemptsLimit) {
    const failed = setBankAccountStatus(ctx, account, "unverified");
    const told = `Its ${wrongAttemptsLimit} attempts have been used up`;
    return refused(notVerifiable(failed, told));
  }
  const [low, high] = amountsCents.toSorted((a, b) => a - b);
  if (low === sent[0] && high === sent[1]) {
    return { status: 200, body: bankAccountJson(setBankAccountStatus(ctx, account, "verified")) };
  }
  const verificationAttempts = account.verification_attempts + 1;
  changeBankAccount(ctx.db, account.id, { verification_attempts: verificationAttempts });
  const message = "These are not the amounts of the two micro-deposits";
  return refused(
    new ApiError(422, "validation_error", message, {
      field: "amountsCents",
      verificationAttempts,
      attemptsLeft: wrongAttemptsLimit - verificationAttempts,
    }),
  );
}

function notVerifiable(account: BankAccountRow, why?: string): ApiError {
  const message = why ?? `Bank account ${account.id} is ${account.status}`;
  return new ApiError(409, "bank_account_not_verifiable", message, { status: account.status });
}

function refused({ status, code, message, details }: ApiError): OperationAnswer {
  return { status, body: { error: code, message, details } };
}

/** Moves an account to a status, emits its event, and settles which account is the default. */
export function setBankAccountStatus(
  ctx: SandboxContext,
  account: BankAccountRow,
  status: BankAccountStatus,
): BankAccountRow {
  if (status === account.status) return account;
  changeBankAccount(ctx.db, account.id, {
    status,
    ...(status === "removed" && { is_default: 0 }),
  });
  if (status === "verified") tellBankAccount(ctx, account, "verified");
  if (status === "unverified") tellBankAccount(ctx, account, "verification_failed");
  if (status === "removed") tellBankAccount(ctx, account, "removed");
  settleDefault(ctx.db, account.business_id);
  return bankAccountById(ctx.db, account.id) ?? account;
}
