import type { MoveKind } from "../bank/moves.ts";
import { addDuration } from "../clock/duration.ts";
import type { SandboxContext } from "../context.ts";
import { instantText } from "../ids.ts";
import { sameDaySettlementInstant, settlementInstant } from "../payments/banking-days.ts";
import { takeTransferOutcome } from "../payments/outcomes.ts";
import { failureText, parsePlanned, type PlannedOutcome } from "../payments/planned-outcome.ts";
import { bankAccountOf } from "../bank-accounts/bank-accounts.ts";
import { removeStepsOf, scheduleStep } from "../schedule/scheduled-steps.ts";
import { orderMove } from "./cash.ts";
import { balanceFigures } from "./figures.ts";
import { changeTransfer, transferById, type TransferRow } from "./transfer-rows.ts";

/** Submits a pending transfer to the network: its money leaves its account. */
export function submitTransfer(ctx: SandboxContext, id: string, atMs: number): void {
  const transfer = transferById(ctx.db, id);
  const account = bankAccountOf(ctx.db, transfer.business_id, transfer.bank_account_id);
  const isVerified = account?.status === "verified";
  if (!isVerified || isShort(ctx, transfer)) {
    const failure_reason = isVerified ? "Insufficient balance" : "Bank account is not verified";
    changeTransfer(ctx.db, id, { status: "failed", failure_reason, updated_at: atMs });
    return;
  }
  const planned = takeTransferOutcome(ctx.db, transfer);
  move(ctx, transfer, "debit", atMs);
  changeTransfer(ctx.db, id, {
    status: "processing",
    debited: 1,
    planned: planned === undefined ? null : JSON.stringify(planned),
    updated_at: atMs,
  });
  scheduleStep(ctx.db, "transfer-settles", id, resultInstant(transfer, planned, atMs));
}

/**
 * True if the balance lacks the money of a withdrawal. That money was reserved, but a person who
 * set the balance by hand may have taken it all the same.
 */
function isShort(ctx: SandboxContext, { type, business_id, amount_cents }: TransferRow): boolean {
  return type === "withdrawal" && balanceFigures(ctx.db, business_id).cashCents < amount_cents;
}

function resultInstant(
  transfer: TransferRow,
  planned: PlannedOutcome | undefined,
  fromMs: number,
): number {
  const own = planned?.outcome === "return" ? undefined : afterOf(planned, fromMs);
  if (own !== undefined) return own;
  if (planned?.outcome === "fail") return settlementInstant(fromMs, 1);
  return transfer.same_day === 1 ? sameDaySettlementInstant(fromMs) : settlementInstant(fromMs, 2);
}

function afterOf(planned: PlannedOutcome | undefined, fromMs: number): number | undefined {
  return planned?.after === undefined ? undefined : addDuration(fromMs, planned.after);
}

/** Settles a transfer, or fails it if that is planned; a late return may follow. */
export function settleTransfer(ctx: SandboxContext, id: string, atMs: number): void {
  const transfer = transferById(ctx.db, id);
  const planned = parsePlanned(transfer.planned);
  if (planned?.outcome === "fail") return fail(ctx, transfer, planned, atMs);
  move(ctx, transfer, "credit", atMs);
  changeTransfer(ctx.db, id, {
    status: "completed",
    credited: 1,
    processed_at: atMs,
    updated_at: atMs,
  });
  if (planned?.outcome !== "return") return;
  const returnAtMs = afterOf(planned, atMs) ?? settlementInstant(atMs, 1);
  scheduleStep(ctx.db, "transfer-returns", id, returnAtMs);
}

/**
 * Fails a transfer: a deposit's pull bounces; a withdrawal's push reaches the account and is sent
 * back.
 */
function fail(
  ctx: SandboxContext,
  transfer: TransferRow,
  planned: PlannedOutcome,
  atMs: number,
): void {
  if (transfer.type === "deposit") {
    move(ctx, transfer, "return", atMs);
  } else {
    move(ctx, transfer, "credit", atMs);
    move(ctx, { ...transfer, credited: 1 }, "return", atMs);
    move(ctx, transfer, "refund", atMs);
  }
  changeTransfer(ctx.db, transfer.id, {
    status: "failed",
    failure_reason: failureText({ code: transfer.type === "deposit" ? "R01" : "R03", ...planned }),
    processed_at: atMs,
    updated_at: atMs,
  });
}

/**
 * Gives a completed transfer back. A deposit's return needs its money to be there: if it has been
 * spent, the return is tried again each banking day, because the bank lets no balance be negative.
 */
export function returnTransfer(ctx: SandboxContext, id: string, atMs: number): void {
  const transfer = transferById(ctx.db, id);
  if (transfer.type === "deposit") {
    const { availableCents } = balanceFigures(ctx.db, transfer.business_id);
    if (availableCents < transfer.amount_cents) {
      scheduleStep(ctx.db, "transfer-returns", id, settlementInstant(atMs, 1));
      return;
    }
  }
  const planned = parsePlanned(transfer.planned) ?? { outcome: "return" };
  move(ctx, transfer, "return", atMs);
  move(ctx, transfer, "refund", atMs);
  changeTransfer(ctx.db, id, {
    status: "returned",
    failure_reason: failureText({ code: transfer.type === "deposit" ? "R10" : "R03", ...planned }),
    updated_at: atMs,
  });
}

/** Applies a newly set outcome to a transfer that the bank already has. */
export function applyNewTransferOutcome(
  ctx: SandboxContext,
  transfer: TransferRow,
  atMs: number,
): void {
  const planned = takeTransferOutcome(ctx.db, transfer);
  if (planned === undefined) return;
  removeStepsOf(ctx.db, transfer.id);
  changeTransfer(ctx.db, transfer.id, { planned: JSON.stringify(planned) });
  if (transfer.status === "processing") {
    const dueAtMs = Math.max(atMs, resultInstant(transfer, planned, transfer.updated_at));
    scheduleStep(ctx.db, "transfer-settles", transfer.id, dueAtMs);
  } else if (planned.outcome === "return") {
    scheduleStep(ctx.db, "transfer-returns", transfer.id, afterOf(planned, atMs) ?? atMs);
  }
}

function move(ctx: SandboxContext, transfer: TransferRow, kind: MoveKind, atMs: number): void {
  orderMove(
    ctx.db,
    {
      id: `${transfer.id}:${kind}`,
      at: instantText(atMs),
      kind,
      paymentId: null,
      transactionId: transfer.id,
      payableId: null,
      businessId: transfer.business_id,
      amountCents: transfer.amount_cents,
    },
    toBalanceCents(transfer, kind),
  );
}

/**
 * Returns the cents that the balance gains by a move. A deposit adds to the balance with its credit
 * and takes back with a return after it; a withdrawal takes with its debit and gives back with a
 * refund.
 */
function toBalanceCents(transfer: TransferRow, kind: MoveKind): number {
  const { amount_cents: cents, credited } = transfer;
  if (transfer.type === "deposit") {
    if (kind === "credit") return cents;
    return kind === "return" && credited === 1 ? -cents : 0;
  }
  if (kind === "debit") return -cents;
  return kind === "refund" ? cents : 0;
}
