import { z } from "zod";
import { invalid, malformed, objectNotFound } from "../http/api-error.ts";
import { defineOperation, type ServiceOperation } from "../http/operation.ts";
import { listShape, instantShape } from "../http/shapes.ts";
import { optional } from "../http/validation.ts";
import {
  bankAccountJson,
  bankAccountOf,
  type BankAccountRow,
  bankAccountsOf,
} from "./bank-accounts.ts";
import { linkBankAccount } from "./link.ts";
import { largestMicroDepositCents } from "./micro-deposits.ts";
import { isRoutingNumber } from "./routing-number.ts";
import { verifyMicroDeposits } from "./verification.ts";
import type { SandboxContext } from "../context.ts";

/** Bank account of a business, section 2. */
const bankAccountShape = z
  .object({
    id: z.string(),
    status: z.enum(["pending_verification", "verified", "unverified", "removed"]),
    type: z.enum(["checking", "savings"]),
    connectionType: z.enum(["manual", "aggregator"]),
    name: z.string().nullable(),
    institutionName: z.string().nullable(),
    accountNumberLast4: z.string().nullable(),
    routingNumberLast4: z.string().nullable(),
    isDefault: z.boolean(),
    microDepositsInitiatedAt: instantShape.nullable(),
    microDepositsCompletedAt: instantShape.nullable(),
    verificationAttempts: z.int().min(0),
  })
  .meta({ id: "BankAccount" });

const accountType = z.enum(["checking", "savings"]);

const newBankAccount = z.object({
  accountNumber: z.string().regex(/^\d{4,17}$/, { error: "must have 4 to 17 digits" }),
  routingNumber: z
    .string()
    .regex(/^\d{9}$/, { error: "must be a nine-digit ABA number", abort: true })
    .refine(isRoutingNumber, { error: "must be an ABA number in use, with its check digit" }),
  type: optional(accountType),
  accountType: optional(accountType),
  name: optional(z.string().trim().min(1).max(200)),
  institutionName: optional(z.string().trim().min(1).max(200)),
});

const microDeposit = z.int().min(1).max(largestMicroDepositCents);

const listBankAccounts = defineOperation({
  name: "listBankAccounts",
  summary: "Lists all bank accounts of the business.",
  description: "Removed accounts are in the list, with their status.",
  method: "GET",
  path: "/v1/bank-accounts",
  scopes: ["bank-accounts:read", "bank-accounts:write"],
  idempotency: "none",
  answer: { status: 200, body: listShape(bankAccountShape) },
  handler: ({ ctx, caller }) => ({
    status: 200,
    body: { items: bankAccountsOf(ctx.db, caller.businessId).map(bankAccountJson) },
  }),
});

const createBankAccount = defineOperation({
  name: "createBankAccount",
  summary: "Links a bank account by its numbers and sends it two micro-deposits.",
  description:
    "The two credits under $1 arrive on the next banking day; then their amounts verify the " +
    "account. Full numbers are never returned. `accountType` is the same as `type`, " +
    "which defaults to `checking`.",
  deprecated: true,
  method: "POST",
  path: "/v1/bank-accounts",
  scopes: ["bank-accounts:write"],
  idempotency: "optional",
  errors: ["bank_account_exists"],
  body: newBankAccount,
  answer: { status: 201, body: bankAccountShape },
  handler: ({ ctx, caller, body }) => {
    if (body.type !== undefined && body.accountType !== undefined) {
      if (body.type !== body.accountType) {
        throw malformed("accountType", "type and accountType say different things");
      }
    }
    const account = linkBankAccount(ctx, caller.businessId, {
      ...body,
      type: body.type ?? body.accountType ?? "checking",
    });
    return { status: 201, body: bankAccountJson(account) };
  },
});

const getBankAccount = defineOperation({
  name: "getBankAccount",
  summary: "Reads one bank account.",
  method: "GET",
  path: "/v1/bank-accounts/{bankAccountId}",
  scopes: ["bank-accounts:read", "bank-accounts:write"],
  idempotency: "none",
  answer: { status: 200, body: bankAccountShape },
  handler: ({ ctx, caller, params }) => ({
    status: 200,
    body: bankAccountJson(ownBankAccount(ctx, caller.businessId, params)),
  }),
});

const verifyBankAccount = defineOperation({
  name: "verifyMicroDeposits",
  summary: "Verifies a bank account by the amounts of its two micro-deposits.",
  description:
    "In either order, once `microDepositsCompletedAt` is set. Three wrong attempts may be made; " +
    "a fourth attempt is refused, whatever it says, and sets the account to `unverified`. Until " +
    "the deposits have arrived, and once the account is no longer pending, the answer is 409 " +
    "`bank_account_not_verifiable` with `details.status`.",
  method: "POST",
  path: "/v1/bank-accounts/{bankAccountId}/verify-micro-deposits",
  scopes: ["bank-accounts:write"],
  idempotency: "optional",
  errors: ["bank_account_not_verifiable"],
  body: z.object({
    amountsCents: z.array(microDeposit).length(2, { error: "must be the two amounts" }),
  }),
  answer: { status: 200, body: bankAccountShape },
  handler: ({ ctx, caller, params, body }) => {
    const account = ownBankAccount(ctx, caller.businessId, params);
    const [first, second] = body.amountsCents;
    if (first === undefined || second === undefined) {
      throw invalid("amountsCents", "amountsCents: must be the two amounts");
    }
    return verifyMicroDeposits(ctx, account, [first, second]);
  },
});

function ownBankAccount(
  ctx: SandboxContext,
  businessId: string,
  params: Readonly<Record<string, string>>,
): BankAccountRow {
  const account = bankAccountOf(ctx.db, businessId, params["bankAccountId"] ?? "");
  if (account === undefined) throw objectNotFound("Bank account");
  return account;
}

export const bankAccountOperations: readonly ServiceOperation[] = [
  listBankAccounts,
  createBankAccount,
  getBankAccount,
  verifyBankAccount,
];
