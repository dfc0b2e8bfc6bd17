import { z } from "zod";
import { balanceJson, requireBalance } from "../balance/balance.ts";
import { transferShape } from "../balance/transfer-shapes.ts";
import { createWithdrawal } from "../balance/transfers.ts";
import { bankAccountOf, bankAccountsOf } from "../bank-accounts/bank-accounts.ts";
import type { SandboxContext } from "../context.ts";
import { invalid, objectNotFound } from "../http/api-error.ts";
import { defineOperation, type ServiceOperation } from "../http/operation.ts";
import { balanceShape } from "../payments/funding-shapes.ts";
import type { BusinessRow } from "../resources/businesses.ts";
import { ownBusiness } from "./own-business.ts";

/** The largest amount that one withdrawal may move. */
const largestDollars = 100_000_000;

const dollars = z
  .number()
  .min(0.01)
  .max(largestDollars)
  // Whole cents, divided, give exactly the number that was written; a finer amount gives another.
  .refine((amount) => centsOf(amount) / 100 === amount, {
    error: "may have at most two decimals",
  });

function centsOf(amount: number): number {
  return Math.round(amount * 100);
}

const getBusinessBalance = defineOperation({
  name: "getBusinessBalance",
  summary: "Reads the balance of a business, in cents like GET /v1/balance.",
  method: "GET",
  path: "/api/businesses/{businessId}/balance",
  scopes: ["balance:read"],
  idempotency: "none",
  errors: ["feature_unavailable", "setup_required", "not_found"],
  answer: { status: 200, body: balanceShape },
  handler: ({ ctx, caller, params }) => {
    const business = ownBusiness(ctx, caller, params);
    requireBalance(business);
    return { status: 200, body: balanceJson(ctx.db, business) };
  },
});

const withdrawBalance = defineOperation({
  name: "withdrawBusinessBalance",
  summary: "Withdraws dollars of the balance to a bank account of the business.",
  description:
    "amount is in dollars, with two decimals at most. fundingSourceId is linked_bank or the id of a verified bank account. There is no Idempotency-Key here: after a lost answer look at GET /v1/balance/transactions first.",
  method: "POST",
  path: "/api/businesses/{businessId}/withdraw-balance",
  scopes: ["balance:write"],
  idempotency: "refused",
  errors: [
    "insufficient_balance",
    "feature_unavailable",
    "setup_required",
    "setup_incomplete",
    "payments_locked",
    "validation_error",
    "not_found",
  ],
  answer: { status: 201, body: transferShape },
  body: z.object({ amount: dollars, fundingSourceId: z.string().min(1) }),
  handler: ({ ctx, caller, params, body }) => {
    const business = ownBusiness(ctx, caller, params);
    requireBalance(business);
    const bankAccountId = destinationOf(ctx, business, body.fundingSourceId);
    const amountCents = centsOf(body.amount);
    return {
      status: 201,
      body: createWithdrawal(ctx, business.id, { amountCents, bankAccountId }),
    };
  },
});

function destinationOf(
  ctx: SandboxContext,
  business: BusinessRow,
  fundingSourceId: string,
): string {
  if (fundingSourceId === "balance") {
    throw invalid(
      "fundingSourceId",
      "The balance can't be withdrawn to itself; name a bank account",
    );
  }
  const account =
    fundingSourceId === "linked_bank"
      ? bankAccountsOf(ctx.db, business.id).find(
          ({ status, is_default: isDefault }) => status === "verified" && isDefault === 1,
        )
      : bankAccountOf(ctx.db, business.id, fundingSourceId);
  if (account === undefined) throw objectNotFound("Funding source");
  if (account.status !== "verified") {
    throw invalid(
      "fundingSourceId",
      `Bank account ${account.id} is ${account.status}, not verified`,
    );
  }
  return account.id;
}

/** The operations of a business's balance in the `/api` family (API specification, section 4). */
export const businessBalanceOperations: readonly ServiceOperation[] = [
  getBusinessBalance,
  withdrawBalance,
];
