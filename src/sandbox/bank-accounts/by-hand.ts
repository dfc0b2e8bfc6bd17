import { z } from "zod";
import type { SandboxContext } from "../context.ts";
import { invalid, objectNotFound } from "../http/api-error.ts";
import {
  bankAccountById,
  bankAccountJson,
  type BankAccountRow,
  bankAccountStatuses,
  changeBankAccount,
  makeDefault,
} from "./bank-accounts.ts";
import { microDepositAmounts } from "./micro-deposits.ts";
import { setBankAccountStatus } from "./verification.ts";

/** What people do with a bank account in the web app, and what its bank and aggregator report. */
export const bankAccountChange = z.strictObject({
  status: z.enum(bankAccountStatuses).optional(),
  /** Only true: another account has to become the default, because there is no way to have none. */
  isDefault: z.literal(true).optional(),
  /**
   * True if its bank requires the owner to sign in again; until then nothing can be paid from it.
   */
  needsReauth: z.boolean().optional(),
});

/** Verifies, fails or removes a bank account, or makes it the default. */
export function changeBankAccountByHand(
  ctx: SandboxContext,
  id: string,
  body: z.infer<typeof bankAccountChange>,
): Record<string, unknown> {
  let account = existing(ctx, id);
  if (body.status !== undefined) account = setBankAccountStatus(ctx, account, body.status);
  if (body.needsReauth !== undefined) {
    changeBankAccount(ctx.db, id, { needs_reauth: body.needsReauth ? 1 : 0 });
  }
  if (body.isDefault === true) {
    if (account.status !== "verified") {
      throw invalid("isDefault", `Bank account ${id} is ${account.status}, not verified`);
    }
    makeDefault(ctx.db, account);
  }
  return bankAccountJson(existing(ctx, id));
}

/** Returns what the account's statement shows once the micro-deposits have arrived. */
export function microDepositsByHand(ctx: SandboxContext, id: string): Record<string, unknown> {
  existing(ctx, id);
  const amountsCents = microDepositAmounts(ctx.db, id);
  if (amountsCents === undefined) throw objectNotFound("Micro-deposits of this bank account");
  return { amountsCents };
}

function existing(ctx: SandboxContext, id: string): BankAccountRow {
  const account = bankAccountById(ctx.db, id);
  if (account === undefined) throw objectNotFound("Bank account");
  return account;
}
