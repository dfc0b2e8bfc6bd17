import type { MoveKind } from "../bank/moves.ts";
import type { SandboxContext } from "../context.ts";
import type { FixturePayment } from "../fixtures/fixture-object.ts";
import { newId } from "../ids.ts";
import { settlementInstant } from "../payments/banking-days.ts";
import { moveMoney } from "../payments/money.ts";
import {
  type DueStep,
  insertPayment,
  type PaymentRow,
  type PaymentState,
} from "../payments/payment-rows.ts";
import { failsAtPayer } from "../payments/planned-outcome.ts";
import { addPaid } from "../resources/payables.ts";

interface Target {
  id: string;
  businessId: string;
  contactId: string | null;
  totalCents: number;
  createdAt: number;
}

const hasResult: ReadonlySet<PaymentState> = new Set(["completed", "failed", "returned"]);

/**
 * Inserts a payment that a bill already has, with the money that it has moved at the bank, so that
 * the ledger agrees with it. A payment that is still on its way goes on from where it stands.
 */
export function insertPastPayment(
  ctx: SandboxContext,
  target: Target,
  payment: FixturePayment,
): string {
  const createdAt = parse(payment.createdAt) ?? target.createdAt;
  const scheduledAt = parse(payment.scheduledAt) ?? createdAt;
  const processedAt = hasResult.has(payment.status)
    ? (parse(payment.processedAt) ?? scheduledAt)
    : null;
  const rail = payment.paymentRail === undefined ? "SERVICE" : payment.paymentRail;
  const row: PaymentRow = {
    id: newId("pay"),
    business_id: target.businessId,
    payable_id: target.id,
    contact_id: target.contactId,
    status: payment.status,
    amount_cents: payment.amountCents ?? target.totalCents,
    bank_account_id: payment.bankAccountId ?? null,
    payment_rail: rail,
    clearing: payment.clearing ?? "STANDARD",
    scheduled_at: scheduledAt,
    processed_at: processedAt,
    failure_reason: payment.failureReason ?? null,
    cancel_reason: null,
    created_at: createdAt,
    updated_at: parse(payment.updatedAt) ?? processedAt ?? createdAt,
    debited: 0,
    credited: 0,
    hold_by: payment.status === "held" ? (rail === "PROVIDER" ? "provider" : "service") : null,
    planned: null,
    due_at: null,
    due_step: null,
  };
  const next = rail === null ? undefined : nextStep(row);
  insertPayment(ctx.db, { ...row, due_at: next?.atMs ?? null, due_step: next?.step ?? null });
  if (rail !== null) {
    for (const kind of movesOf(row)) {
      moveMoney(ctx.db, row, kind, kind === "debit" ? scheduledAt : (processedAt ?? scheduledAt));
    }
  }
  if (row.status === "completed") addPaid(ctx.db, target.id, row.amount_cents);
  return row.id;
}

function movesOf(row: PaymentRow): MoveKind[] {
  switch (row.status) {
    case "processing":
    case "refund_pending":
      return ["debit"];
    case "completed":
      return ["debit", "credit"];
    case "returned":
      return ["debit", "credit", "return", "refund"];
    case "failed":
      return failsAtPayer({ reason: row.failure_reason ?? undefined })
        ? ["debit", "return"]
        : ["debit", "credit", "return", "refund"];
    case "held":
      return row.hold_by === "provider" ? ["debit"] : [];
    default:
      return [];
  }
}

function nextStep(row: PaymentRow): { step: DueStep; atMs: number } | undefined {
  switch (row.status) {
    case "pending":
    case "scheduled":
      return { step: "submit", atMs: row.scheduled_at };
    case "processing":
      return { step: "result", atMs: settlementInstant(row.updated_at, daysToSettle(row)) };
    case "refund_pending":
      return { step: "refund", atMs: settlementInstant(row.updated_at, 2) };
    default:
      return undefined;
  }
}

function daysToSettle(row: PaymentRow): number {
  return row.clearing === "NEXT_AVAILABLE" ? 1 : 2;
}

function parse(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Date.parse(text);
}
