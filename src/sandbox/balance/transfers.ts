import type { SandboxContext } from "../context.ts";
import { invalid, objectNotFound, stateRefusal } from "../http/api-error.ts";
import { newId } from "../ids.ts";
import { bankAccountOf } from "../bank-accounts/bank-accounts.ts";
import { callersBusiness, isReadyToPay } from "../resources/businesses.ts";
import { scheduleStep } from "../schedule/scheduled-steps.ts";
import { goesSameDay, requireAvailable, requireOpenBalance } from "./balance.ts";
import { insertTransfer, transferJson, type TransferRow } from "./transfer-rows.ts";

/** How long a transfer stays `pending` before it is submitted, on the bank clock. */
const submitAfterMs = 2_000;

/** The body of `POST /v1/balance/deposits` and `/withdrawals`. */
export interface TransferRequest {
  amountCents: number;
  bankAccountId: string;
}

/**
 * Starts pulling money from a verified bank account into the balance.
 *
 * @returns the balance transaction as the API shows it.
 * @throws {ApiError} `feature_unavailable`, `setup_required`, `setup_incomplete`; 404 for an
 * unknown bank account, 422 for one that is not verified.
 */
export function createDeposit(
  ctx: SandboxContext,
  businessId: string,
  request: TransferRequest,
): Record<string, unknown> {
  return createTransfer(ctx, businessId, "deposit", request);
}

/**
 * Starts sending money of the balance to a verified bank account; the amount is reserved from now
 * on.
 *
 * @returns the balance transaction as the API shows it.
 * @throws {ApiError} the errors of a deposit, `payments_locked` and `insufficient_balance`.
 */
export function createWithdrawal(
  ctx: SandboxContext,
  businessId: string,
  request: TransferRequest,
): Record<string, unknown> {
  return createTransfer(ctx, businessId, "withdrawal", request);
}

function createTransfer(
  ctx: SandboxContext,
  businessId: string,
  type: TransferRow["type"],
  { amountCents, bankAccountId }: TransferRequest,
): Record<string, unknown> {
  const business = callersBusiness(ctx.db, businessId);
  const account = bankAccountOf(ctx.db, businessId, bankAccountId);
  if (account === undefined) throw objectNotFound("Bank account");
  requireOpenBalance(business);
  if (!isReadyToPay(business)) {
    throw stateRefusal(
      "setup_incomplete",
      "The business has not finished its verification and set-up",
      {
        status: business.verification,
      },
    );
  }
  if (type === "withdrawal" && business.payments_locked === 1) {
    throw stateRefusal("payments_locked", "Payments of this business are locked");
  }
  if (account.status !== "verified") {
    throw invalid("bankAccountId", `Bank account ${account.id} is ${account.status}, not verified`);
  }
  if (type === "withdrawal") requireAvailable(ctx.db, business, amountCents);
  const nowMs = ctx.clock.bankNow();
  const row: TransferRow = {
    id: newId("txn"),
    business_id: businessId,
    type,
    status: "pending",
    amount_cents: amountCents,
    bank_account_id: account.id,
    same_day: goesSameDay(business, amountCents) ? 1 : 0,
    debited: 0,
    credited: 0,
    failure_reason: null,
    planned: null,
    processed_at: null,
    created_at: nowMs,
    updated_at: nowMs,
  };
  insertTransfer(ctx.db, row);
  scheduleStep(ctx.db, "transfer-submits", row.id, nowMs + submitAfterMs);
  return transferJson(row);
}
