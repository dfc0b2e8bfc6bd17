import type { SQLInputValue } from "node:sqlite";
import type { z } from "zod";
import { applyNewTransferOutcome } from "../balance/transfer-steps.ts";
import type { TransferRow } from "../balance/transfer-rows.ts";
import type { SandboxContext } from "../context.ts";
import { allRows } from "../db.ts";
import { insertOutcome } from "../payments/outcomes.ts";
import type { PaymentRow } from "../payments/payment-rows.ts";
import { applyNewOutcome } from "../payments/transitions.ts";
import { contactById } from "../resources/contacts.ts";
import type { outcomeRule } from "./outcome-rule.ts";

type OutcomeRule = z.infer<typeof outcomeRule>;

/** Records what the bank does from now on, also with payments that it already has. */
export function setOutcome(ctx: SandboxContext, rule: OutcomeRule): object {
  const { match, times, ...planned } = rule;
  insertOutcome(ctx.db, match, planned, times);
  const nowMs = ctx.clock.bankNow();
  for (const payment of reachedPayments(ctx, rule)) applyNewOutcome(ctx, payment, nowMs);
  for (const transfer of reachedTransfers(ctx, rule)) applyNewTransferOutcome(ctx, transfer, nowMs);
  return rule;
}

/** Returns the payments at the bank on which a new outcome still has an effect. */
function reachedPayments(
  ctx: SandboxContext,
  { match, outcome, times }: OutcomeRule,
): PaymentRow[] {
  const states = ["status IN ('processing', 'held')"];
  // A return of settled payments needs the name of a payment or bill; it never reaches a vendor's
  // whole past.
  const isNamed = match.paymentId !== undefined || match.payableId !== undefined;
  if (outcome === "return" && isNamed) states.push("status = 'completed'");
  if (outcome === "settle") states.push("due_step = 'return'");
  if (match.transactionId !== undefined) return [];
  const where = ["payment_rail IS NOT NULL", `(${states.join(" OR ")})`];
  const values: SQLInputValue[] = [];
  const add = (condition: string, ...added: SQLInputValue[]): void => {
    where.push(condition);
    values.push(...added);
  };
  if (match.paymentId !== undefined) add("id = ?", match.paymentId);
  if (match.payableId !== undefined) add("payable_id = ?", match.payableId);
  if (match.bankAccountId !== undefined) add("bank_account_id = ?", match.bankAccountId);
  if (match.contactId !== undefined) {
    const businessId = contactById(ctx.db, match.contactId)?.business_id ?? null;
    add("business_id = ? AND contact_id = ?", businessId, match.contactId);
  }
  return allRows(
    ctx.db,
    `SELECT * FROM payments WHERE ${where.join(" AND ")} ORDER BY seq LIMIT ?`,
    ...values,
    times ?? -1,
  );
}

/** Returns the deposits and withdrawals at the bank on which a new outcome still has an effect. */
function reachedTransfers(ctx: SandboxContext, { match, outcome }: OutcomeRule): TransferRow[] {
  const { transactionId, bankAccountId } = match;
  const rest = [match.payableId, match.contactId, match.paymentId];
  const isTransfer = transactionId !== undefined || bankAccountId !== undefined;
  if (!isTransfer || rest.some((id) => id !== undefined)) return [];
  const isReturn = outcome === "return" && transactionId !== undefined;
  const statuses = isReturn ? "('processing', 'completed')" : "('processing')";
  return allRows(
    ctx.db,
    `SELECT * FROM transfers WHERE status IN ${statuses}
       AND (? IS NULL OR id = ?) AND (? IS NULL OR bank_account_id = ?) ORDER BY seq`,
    transactionId ?? null,
    transactionId ?? null,
    bankAccountId ?? null,
    bankAccountId ?? null,
  );
}
