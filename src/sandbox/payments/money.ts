import type { DatabaseSync } from "node:sqlite";
import type { MoveKind } from "../bank/moves.ts";
import { enqueueBankMove } from "../bank/outbox.ts";
import { execute, getRow } from "../db.ts";
import { isoInstant } from "../ids.ts";
import { changePayment, type PaymentRow } from "./payment-rows.ts";

/**
 * Moves a payment's money at the bank and, where the balance pays, in the balance: both in the
 * caller's transaction, so that the balance and the ledger always add up.
 *
 * A `return` takes back the credit where there was one (R02, or a late return), else the debit
 * (R01), so a payment's net credit is its credit less its return, and nothing without a credit.
 * Each kind comes at most once a payment, which is what the move's id says.
 */
export function moveMoney(
  db: DatabaseSync,
  payment: PaymentRow,
  kind: MoveKind,
  atMs: number,
): void {
  enqueueBankMove(db, {
    id: `${payment.id}:${kind}`,
    at: isoInstant(atMs),
    kind,
    paymentId: payment.id,
    transactionId: null,
    payableId: payment.payable_id,
    businessId: payment.business_id,
    amountCents: payment.amount_cents,
  });
  const toPayer = payerCents(payment, kind);
  if (payment.payment_rail === "SERVICE" && toPayer !== 0) {
    execute(
      db,
      "UPDATE businesses SET cash_cents = cash_cents + ? WHERE id = ?",
      toPayer,
      payment.business_id,
    );
  }
  if (kind === "debit") setFlag(db, payment, "debited");
  if (kind === "credit") setFlag(db, payment, "credited");
}

function setFlag(db: DatabaseSync, payment: PaymentRow, flag: "debited" | "credited"): void {
  changePayment(db, payment.id, { [flag]: 1 });
  payment[flag] = 1;
}

function payerCents(payment: PaymentRow, kind: MoveKind): number {
  if (kind === "debit") return -payment.amount_cents;
  if (kind === "refund") return payment.amount_cents;
  return kind === "return" && payment.credited === 0 ? payment.amount_cents : 0;
}

/** The parts of a business's balance, in cents; `cashCents` includes what is reserved. */
export interface BalanceFigures {
  cashCents: number;
  reservedCents: number;
  availableCents: number;
  pendingOutboundCents: number;
}

/**
 * The balance as its payments leave it: money is reserved from a payment's creation until its
 * debit, and on its way out from then until it is settled. Scheduled payments reserve nothing.
 */
export function balanceFigures(db: DatabaseSync, businessId: string): BalanceFigures {
  const row = getRow<{ cash_cents: number; reserved_cents: number; outbound_cents: number }>(
    db,
    "SELECT cash_cents, reserved_cents, outbound_cents FROM businesses WHERE id = ?",
    businessId,
  );
  if (row === undefined) throw new Error(`there is no business ${businessId}`);
  return {
    cashCents: row.cash_cents,
    reservedCents: row.reserved_cents,
    availableCents: row.cash_cents - row.reserved_cents,
    pendingOutboundCents: row.outbound_cents,
  };
}
