import type { DatabaseSync } from "node:sqlite";
import { orderMove } from "../balance/cash.ts";
import type { MoveKind } from "../bank/moves.ts";
import { instantText } from "../ids.ts";
import { changePayment, type PaymentRow } from "./payment-rows.ts";

/**
 * Moves a payment's money at the bank and, if the balance pays, in the balance. Both happen in the
 * caller's transaction, so that the balance and the ledger always add up.
 *
 * A `return` takes back the credit if there was one (R02, or a late return), otherwise the debit
 * (R01). A payment's net credit is therefore its credit less its return, and zero without a credit.
 * Each kind of move happens at most once per payment; the move's id ensures that.
 */
export function moveMoney(
  db: DatabaseSync,
  payment: PaymentRow,
  kind: MoveKind,
  atMs: number,
): void {
  const move = {
    id: `${payment.id}:${kind}`,
    at: instantText(atMs),
    kind,
    paymentId: payment.id,
    transactionId: null,
    payableId: payment.payable_id,
    businessId: payment.business_id,
    amountCents: payment.amount_cents,
  };
  orderMove(db, move, payment.payment_rail === "SERVICE" ? payerCents(payment, kind) : 0);
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
