import { z } from "zod";
import { filteredPage } from "../db.ts";
import { defineOperation, type ServiceOperation } from "../http/operation.ts";
import { listShape, pageShape } from "../http/shapes.ts";
import { amountUpTo, instantMs, pagingQuery } from "../http/validation.ts";
import { balanceShape, fundingSourceShape } from "../payments/funding-shapes.ts";
import { fundingSourcesJson } from "../payments/funding.ts";
import { callersBusiness } from "../resources/businesses.ts";
import { balanceJson, requireBalance } from "./balance.ts";
import {
  transferJson,
  type TransferRow,
  transferStatuses,
  transferTypes,
} from "./transfer-rows.ts";
import { transferShape } from "./transfer-shapes.ts";
import { createDeposit, createWithdrawal } from "./transfers.ts";

/** The largest amount that one transfer may move: $100,000,000.00. */
const largestTransferCents = 10_000_000_000;

const transferRequest = z.object({
  amountCents: amountUpTo(largestTransferCents),
  bankAccountId: z.string().min(1),
});

const listFundingSources = defineOperation({
  name: "listFundingSources",
  summary: "Lists where payments can be funded from.",
  method: "GET",
  path: "/v1/funding-sources",
  scopes: ["payments:initiate", "bank-accounts:read", "bank-accounts:write"],
  idempotency: "none",
  answer: { status: 200, body: listShape(fundingSourceShape) },
  handler: ({ ctx, caller }) => {
    const maySeeBalance = caller.scopes.has("payments:read") || caller.scopes.has("balance:read");
    const business = callersBusiness(ctx.db, caller.businessId);
    return { status: 200, body: { items: fundingSourcesJson(ctx.db, business, maySeeBalance) } };
  },
});

const getBalance = defineOperation({
  name: "getBalance",
  summary: "Reads the balance.",
  method: "GET",
  path: "/v1/balance",
  scopes: ["balance:read"],
  idempotency: "none",
  errors: ["feature_unavailable", "setup_required"],
  answer: { status: 200, body: balanceShape },
  handler: ({ ctx, caller }) => {
    const business = callersBusiness(ctx.db, caller.businessId);
    requireBalance(business);
    return { status: 200, body: balanceJson(ctx.db, business) };
  },
});

const createDepositOperation = defineOperation({
  name: "createDeposit",
  summary: "Moves money from a verified bank account into the balance.",
  method: "POST",
  path: "/v1/balance/deposits",
  scopes: ["balance:write"],
  idempotency: "required",
  money: true,
  errors: ["feature_unavailable", "setup_required", "setup_incomplete", "not_found"],
  answer: { status: 201, body: transferShape },
  body: transferRequest,
  handler: ({ ctx, caller, body }) => ({
    status: 201,
    body: createDeposit(ctx, caller.businessId, body),
  }),
});

const createWithdrawalOperation = defineOperation({
  name: "createWithdrawal",
  summary: "Moves money of the balance to a verified bank account.",
  method: "POST",
  path: "/v1/balance/withdrawals",
  scopes: ["balance:write"],
  idempotency: "required",
  money: true,
  errors: [
    "insufficient_balance",
    "feature_unavailable",
    "setup_required",
    "setup_incomplete",
    "payments_locked",
    "not_found",
  ],
  answer: { status: 201, body: transferShape },
  body: transferRequest,
  handler: ({ ctx, caller, body }) => ({
    status: 201,
    body: createWithdrawal(ctx, caller.businessId, body),
  }),
});

const listBalanceTransactions = defineOperation({
  name: "listBalanceTransactions",
  summary: "Lists deposits and withdrawals, newest first.",
  method: "GET",
  path: "/v1/balance/transactions",
  scopes: ["balance:read"],
  idempotency: "none",
  errors: ["feature_unavailable", "setup_required"],
  answer: { status: 200, body: pageShape(transferShape) },
  query: z.object({
    ...pagingQuery,
    type: z.enum(transferTypes).optional(),
    status: z.enum(transferStatuses).optional(),
    bankAccountId: z.string().optional(),
    createdAfter: instantMs.optional(),
    createdBefore: instantMs.optional(),
  }),
  handler: ({ ctx, caller, query }) => {
    requireBalance(callersBusiness(ctx.db, caller.businessId));
    const { rows, totalCount } = filteredPage<TransferRow>(
      ctx.db,
      {
        table: "transfers",
        filters: [
          ["business_id = ?", caller.businessId],
          ["type = ?", query.type],
          ["status = ?", query.status],
          ["bank_account_id = ?", query.bankAccountId],
          ["created_at >= ?", query.createdAfter],
          ["created_at < ?", query.createdBefore],
        ],
        orderBy: "created_at DESC, seq DESC",
      },
      query,
    );
    return { status: 200, body: { items: rows.map(transferJson), totalCount } };
  },
});

/** Balance, deposits, withdrawals and funding sources (API specification, section 4). */
export const balanceOperations: readonly ServiceOperation[] = [
  listFundingSources,
  getBalance,
  createDepositOperation,
  createWithdrawalOperation,
  listBalanceTransactions,
];
