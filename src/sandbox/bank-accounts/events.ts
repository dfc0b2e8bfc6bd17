import type { SandboxContext } from "../context.ts";
import type { BankAccountRow } from "./bank-accounts.ts";

/** Emits the webhook event of what happened to a bank account (API specification, section 6). */
export function tellBankAccount(
  ctx: SandboxContext,
  account: Pick<BankAccountRow, "id" | "business_id">,
  what: "created" | "verified" | "verification_failed" | "removed",
): void {
  ctx.emitEvent({
    type: `bank_account.${what}`,
    businessId: account.business_id,
    object: "bank_account",
    id: account.id,
  });
}
