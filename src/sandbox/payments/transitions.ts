import { balanceFigures } from "../balance/figures.ts";
import { addDuration } from "../clock/duration.ts";
import type { SandboxContext } from "../context.ts";
import { bankAccountOf } from "../bank-accounts/bank-accounts.ts";
import { callersBusiness, isReadyToPay } from "../resources/businesses.ts";
import { contactById, isPayable } from "../resources/contacts.ts";
import { addPaid, payableById } from "../resources/payables.ts";
import { settlementInstant } from "./banking-days.ts";
import { moveMoney } from "./money.ts";
import { takeOutcome } from "./outcomes.ts";
import {
  changePayment,
  type DueStep,
  type PaymentRow,
  type PaymentState,
  refreshPaymentStatus,
} from "./payment-rows.ts";
import { failsAtPayer, failureText, parsePlanned, type PlannedOutcome } from "./planned-outcome.ts";

const insufficient = "Insufficient balance";

/** Takes a payment's next step as of its instant on the bank clock. Runs inside a transaction. */
export function takeDueStep(ctx: SandboxContext, payment: PaymentRow): void {
  const atMs = payment.due_at;
  if (atMs === null) return;
  switch (payment.due_step) {
    case "submit":
      return submit(ctx, payment, atMs);
    case "release":
      return releaseHold(ctx, payment, atMs);
    case "result":
      return applyResult(ctx, payment, atMs);
    case "return":
      return giveBack(ctx, payment, atMs);
    case "refund":
      return finishRefund(ctx, payment, atMs);
    case null:
      throw new Error(`payment ${payment.id} is due without a step`);
  }
}

interface Move {
  status: PaymentState;
  atMs: number;
  next?: { step: DueStep; atMs: number } | undefined;
}

function move(
  ctx: SandboxContext,
  payment: PaymentRow,
  { status, atMs, next }: Move,
  changes: Partial<
    Pick<PaymentRow, "processed_at" | "failure_reason" | "hold_by" | "planned">
  > = {},
): void {
  changePayment(ctx.db, payment.id, {
    ...changes,
    status,
    updated_at: atMs,
    due_at: next?.atMs ?? null,
    due_step: next?.step ?? null,
  });
  refreshPaymentStatus(ctx.db, payment.payable_id);
}

function tell(ctx: SandboxContext, payment: PaymentRow, type: string): void {
  ctx.emitEvent({
    type,
    businessId: payment.business_id,
    object: "payable",
    id: payment.payable_id,
  });
}

function submit(ctx: SandboxContext, payment: PaymentRow, atMs: number): void {
  const obstacle = obstacleOf(ctx, payment);
  if (obstacle !== undefined) return failUnmoved(ctx, payment, obstacle, atMs);
  const planned = takeOutcome(ctx.db, payment);
  if (planned?.outcome === "hold") return hold(ctx, payment, planned, atMs);
  beginProcessing(ctx, payment, planned, atMs);
}

/** Fails a payment that could not begin; no money has moved. */
function failUnmoved(
  ctx: SandboxContext,
  payment: PaymentRow,
  failure_reason: string,
  atMs: number,
): void {
  move(ctx, payment, { status: "failed", atMs }, { failure_reason, hold_by: null });
  tell(ctx, payment, "payable.payment.failed");
}

/**
 * Returns why a payment can't be executed now; undefined if it can. A scheduled payment has
 * reserved nothing until now.
 */
function obstacleOf(ctx: SandboxContext, payment: PaymentRow): string | undefined {
  const business = callersBusiness(ctx.db, payment.business_id);
  const contact = payment.contact_id === null ? undefined : contactById(ctx.db, payment.contact_id);
  if (payableById(ctx.db, payment.payable_id)?.status !== "approved") return "Bill is not approved";
  if (contact === undefined || !isPayable(contact)) return "Contact is not payable";
  if (business.payments_locked === 1) return "Payments are locked";
  if (!isReadyToPay(business)) return "Business set-up is incomplete";
  if (payment.payment_rail === "SERVICE") {
    const { availableCents, cashCents } = balanceFigures(ctx.db, payment.business_id);
    // A payment that was not scheduled has its money reserved already.
    const ownCents = payment.status === "scheduled" ? availableCents : cashCents;
    return ownCents < payment.amount_cents ? insufficient : undefined;
  }
  const accountId = payment.bank_account_id ?? "";
  const account = bankAccountOf(ctx.db, payment.business_id, accountId);
  return account?.status === "verified" ? undefined : "Bank account is not verified";
}

function beginProcessing(
  ctx: SandboxContext,
  payment: PaymentRow,
  planned: PlannedOutcome | undefined,
  atMs: number,
): void {
  if (payment.debited === 0) moveMoney(ctx.db, payment, "debit", atMs);
  move(
    ctx,
    payment,
    { status: "processing", atMs, next: resultAfter(payment, planned, atMs) },
    { planned: planned === undefined ? null : JSON.stringify(planned), hold_by: null },
  );
}

function resultAfter(
  payment: PaymentRow,
  planned: PlannedOutcome | undefined,
  fromMs: number,
): { step: DueStep; atMs: number } {
  const isEarly = planned?.outcome === "fail" || payment.clearing === "NEXT_AVAILABLE";
  const isDelayedReturn = planned?.outcome === "return";
  const own = isDelayedReturn ? undefined : afterOf(planned, fromMs);
  return { step: "result", atMs: own ?? settlementInstant(fromMs, isEarly ? 1 : 2) };
}

function afterOf(planned: PlannedOutcome | undefined, fromMs: number): number | undefined {
  return planned?.after === undefined ? undefined : addDuration(fromMs, planned.after);
}

/**
 * Flags a payment for review. The service holds a payment before it takes the balance's money; an
 * external provider holds it when the bank has already been debited.
 */
function hold(
  ctx: SandboxContext,
  payment: PaymentRow,
  planned: PlannedOutcome,
  atMs: number,
): void {
  const by = payment.payment_rail === "PROVIDER" ? "provider" : "service";
  if (by === "provider" && payment.debited === 0) moveMoney(ctx.db, payment, "debit", atMs);
  const releaseAtMs = afterOf(planned, atMs);
  const next =
    releaseAtMs === undefined ? undefined : { step: "release" as const, atMs: releaseAtMs };
  move(ctx, payment, { status: "held", atMs, next }, { hold_by: by, planned: null });
}

function releaseHold(
  ctx: SandboxContext,
  payment: PaymentRow,
  atMs: number,
  planned?: PlannedOutcome,
): void {
  if (payment.payment_rail === "SERVICE" && payment.debited === 0) {
    const { cashCents } = balanceFigures(ctx.db, payment.business_id);
    if (cashCents < payment.amount_cents) return failUnmoved(ctx, payment, insufficient, atMs);
  }
  beginProcessing(ctx, payment, planned, atMs);
}

function applyResult(ctx: SandboxContext, payment: PaymentRow, atMs: number): void {
  const planned = parsePlanned(payment.planned);
  if (planned?.outcome === "fail") fail(ctx, payment, planned, atMs);
  else complete(ctx, payment, planned, atMs);
}

function fail(
  ctx: SandboxContext,
  payment: PaymentRow,
  planned: PlannedOutcome,
  atMs: number,
): void {
  if (failsAtPayer(planned)) {
    moveMoney(ctx.db, payment, "return", atMs);
  } else {
    moveMoney(ctx.db, payment, "credit", atMs);
    moveMoney(ctx.db, payment, "return", atMs);
    moveMoney(ctx.db, payment, "refund", atMs);
  }
  move(
    ctx,
    payment,
    { status: "failed", atMs },
    { processed_at: atMs, failure_reason: failureText(planned) },
  );
  tell(ctx, payment, "payable.payment.failed");
}

function complete(
  ctx: SandboxContext,
  payment: PaymentRow,
  planned: PlannedOutcome | undefined,
  atMs: number,
): void {
  moveMoney(ctx.db, payment, "credit", atMs);
  addPaid(ctx.db, payment.payable_id, payment.amount_cents);
  const next =
    planned?.outcome === "return"
      ? { step: "return" as const, atMs: afterOf(planned, atMs) ?? settlementInstant(atMs, 1) }
      : undefined;
  move(ctx, payment, { status: "completed", atMs, next }, { processed_at: atMs });
  const payable = payableById(ctx.db, payment.payable_id);
  const isPaid = payable !== undefined && payable.paid_cents >= payable.total_cents;
  tell(ctx, payment, isPaid ? "payable.paid" : "payable.payment.partially_paid");
}

/** Returns a settled payment late: the payee's money comes back, and the payer gets it. */
function giveBack(ctx: SandboxContext, payment: PaymentRow, atMs: number): void {
  const planned = parsePlanned(payment.planned) ?? { outcome: "return" };
  moveMoney(ctx.db, payment, "return", atMs);
  moveMoney(ctx.db, payment, "refund", atMs);
  addPaid(ctx.db, payment.payable_id, -payment.amount_cents);
  const failure_reason = failureText({ code: "R03", ...planned });
  move(ctx, payment, { status: "returned", atMs }, { failure_reason });
  tell(ctx, payment, "payable.payment.reversed");
}

function finishRefund(ctx: SandboxContext, payment: PaymentRow, atMs: number): void {
  moveMoney(ctx.db, payment, "refund", atMs);
  move(ctx, payment, { status: "refunded", atMs });
}

/**
 * Cancels a scheduled or held payment.
 *
 * @returns where the money went, as a sentence.
 */
export function cancelAtService(
  ctx: SandboxContext,
  payment: PaymentRow,
  reason: string | undefined,
  atMs: number,
): string {
  changePayment(ctx.db, payment.id, { cancel_reason: reason ?? null });
  if (payment.status === "scheduled") {
    move(ctx, payment, { status: "cancelled", atMs });
    return "The scheduled payment was cancelled. No money moved.";
  }
  if (payment.hold_by === "provider") {
    const next = { step: "refund" as const, atMs: settlementInstant(atMs, 2) };
    move(ctx, payment, { status: "refund_pending", atMs, next });
    return "The payment was cancelled. The money returns to the bank account in 1 to 3 business days.";
  }
  if (payment.debited === 0) {
    move(ctx, payment, { status: "refunded", atMs });
    return "The payment was cancelled before any money moved; the amount stays in the balance.";
  }
  moveMoney(ctx.db, payment, "refund", atMs);
  move(ctx, payment, { status: "refunded", atMs });
  return "The payment was cancelled and the money is back in the balance.";
}

/** Applies a newly set outcome to a payment that the bank already has. */
export function applyNewOutcome(ctx: SandboxContext, payment: PaymentRow, atMs: number): void {
  const planned = takeOutcome(ctx.db, payment);
  if (planned === undefined) return;
  if (payment.status === "completed") {
    const isReturn = planned.outcome === "return";
    const dueAtMs = afterOf(planned, atMs) ?? atMs;
    changePayment(ctx.db, payment.id, {
      planned: JSON.stringify(planned),
      due_at: isReturn ? dueAtMs : null,
      due_step: isReturn ? "return" : null,
    });
    return;
  }
  if (planned.outcome === "hold") return hold(ctx, payment, planned, atMs);
  if (payment.status === "held") return releaseHold(ctx, payment, atMs, planned);
  const { atMs: dueAtMs } = resultAfter(payment, planned, payment.updated_at);
  changePayment(ctx.db, payment.id, {
    planned: JSON.stringify(planned),
    due_at: Math.max(dueAtMs, atMs),
    due_step: "result",
  });
}
