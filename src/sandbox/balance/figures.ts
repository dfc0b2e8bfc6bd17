import type { DatabaseSync } from "node:sqlite";
import { allRows, getRow } from "../db.ts";
import { receiptsOnTheWayCents } from "../invoices/tables.ts";
import type { TransferRow } from "./transfer-rows.ts";

/** The parts of a business's balance, in cents; `cashCents` includes what is reserved. */
export interface BalanceFigures {
  cashCents: number;
  reservedCents: number;
  availableCents: number;
  pendingInboundCents: number;
  pendingOutboundCents: number;
}

/**
 * Returns the balance that a business's payments and transfers leave.
 *
 * Money is reserved from the creation of a payment or withdrawal until its debit, and on its way
 * out from then until it is settled. A deposit, and what a customer pays on an invoice, is on its
 * way in until it is settled. Scheduled payments reserve nothing.
 */
export function balanceFigures(db: DatabaseSync, businessId: string): BalanceFigures {
  const row = getRow<{ cash_cents: number; reserved_cents: number; outbound_cents: number }>(
    db,
    "SELECT cash_cents, reserved_cents, outbound_cents FROM businesses WHERE id = ?",
    businessId,
  );
  if (row === undefined) throw new Error(`there is no business ${businessId}`);
  const moving = allRows<Pick<TransferRow, "type" | "debited" | "amount_cents">>(
    db,
    `SELECT type, debited, amount_cents FROM transfers
     WHERE business_id = ? AND status IN ('pending', 'processing')`,
    businessId,
  );
  const sum = (holds: (transfer: (typeof moving)[number]) => boolean): number =>
    moving.filter(holds).reduce((cents, { amount_cents }) => cents + amount_cents, 0);
  const reservedCents =
    row.reserved_cents + sum(({ type, debited }) => type === "withdrawal" && debited === 0);
  return {
    cashCents: row.cash_cents,
    reservedCents,
    availableCents: row.cash_cents - reservedCents,
    pendingInboundCents:
      sum(({ type }) => type === "deposit") + receiptsOnTheWayCents(db, businessId),
    pendingOutboundCents:
      row.outbound_cents + sum(({ type, debited }) => type === "withdrawal" && debited === 1),
  };
}
