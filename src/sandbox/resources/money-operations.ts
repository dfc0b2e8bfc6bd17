import { defineOperation, type Operation } from "../http/operation.ts";
import { balanceJson, fundingSourcesJson, requireBalance } from "../payments/funding.ts";
import { callersBusiness } from "./businesses.ts";
import { listShape } from "../http/shapes.ts";
import { balanceShape, fundingSourceShape } from "../payments/funding-shapes.ts";

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

export const moneyOperations: readonly Operation[] = [listFundingSources, getBalance];
