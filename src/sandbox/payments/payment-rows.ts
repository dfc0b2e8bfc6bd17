import type { DatabaseSync } from "node:sqlite";
import { allRows, getRow, insertRow, updateRow } from "../db.ts";
import { instantText, isoInstantOrNull } from "../ids.ts";
import { changePayable, payableById } from "../resources/payables.ts";

export const paymentStatuses = [
  "pending",
  "scheduled",
  "processing",
  "held",
  "completed",
  "failed",
  "returned",
  "cancelled",
  "refund_pending",
  "refunded",
] as const;
export type PaymentState = (typeof paymentStatuses)[number];

/** What the engine does next with a payment, at its `due_at`. */
export type DueStep = "submit" | "release" | "result" | "return" | "refund";

export interface PaymentRow {
  id: string;
  business_id: string;
  payable_id: string;
  contact_id: string | null;
  status: PaymentState;
  amount_cents: number;
  bank_account_id: string | null;
  /**
   * `SERVICE` is paid from the balance, `PROVIDER` from a bank account; null if paid outside the
   * service.
   */
  payment_rail: "SERVICE" | "PROVIDER" | null;
  clearing: "STANDARD" | "NEXT_AVAILABLE";
  scheduled_at: number;
  processed_at: number | null;
  failure_reason: string | null;
  cancel_reason: string | null;
  created_at: number;
  updated_at: number;
  /** 1 once the payer's money has been taken; `credited` is 1 once the payee got it. */
  debited: number;
  credited: number;
  hold_by: "service" | "provider" | null;
  /** JSON of the {@link PlannedOutcome} that the bank will give it. */
  planned: string | null;
  due_at: number | null;
  due_step: DueStep | null;
}

export function insertPayment(db: DatabaseSync, row: PaymentRow): void {
  insertRow(db, "payments", { ...row });
}

export function changePayment(
  db: DatabaseSync,
  id: string,
  changes: Partial<Omit<PaymentRow, "id" | "business_id" | "payable_id">>,
): void {
  updateRow(db, "payments", id, changes);
}

export function paymentById(db: DatabaseSync, id: string): PaymentRow | undefined {
  return getRow(db, "SELECT * FROM payments WHERE id = ?", id);
}

/**
 * Returns a business's own payment; a payment of another business is treated as if it didn't exist.
 */
export function paymentOf(
  db: DatabaseSync,
  businessId: string,
  id: string,
): PaymentRow | undefined {
  const row = paymentById(db, id);
  return row?.business_id === businessId ? row : undefined;
}

/** Returns all payments of a bill, splits and retries included, oldest first. */
export function paymentsOfPayable(db: DatabaseSync, payableId: string): PaymentRow[] {
  return allRows(db, "SELECT * FROM payments WHERE payable_id = ? ORDER BY seq", payableId);
}

/** Returns the payment whose next step comes first on the bank clock, if it is due by `untilMs`. */
export function nextDuePayment(db: DatabaseSync, untilMs: number): PaymentRow | undefined {
  return getRow(
    db,
    `SELECT * FROM payments WHERE due_at IS NOT NULL AND due_at <= ?
     ORDER BY due_at, seq LIMIT 1`,
    untilMs,
  );
}

/** Returns the instant of the bank clock at which the engine next has something to do, if any. */
export function nextDueInstant(db: DatabaseSync): number | undefined {
  const row = getRow<{ due: number | null }>(
    db,
    "SELECT min(due_at) AS due FROM payments WHERE due_at IS NOT NULL",
  );
  return row?.due ?? undefined;
}

const inFlight: readonly PaymentState[] = [
  "pending",
  "scheduled",
  "processing",
  "held",
  "refund_pending",
];

/**
 * Returns the cents of a bill that are taken up by payments that are neither settled nor known to
 * be unpaid.
 */
export function inFlightCents(payments: readonly PaymentRow[]): number {
  return payments
    .filter((payment) => inFlight.includes(payment.status))
    .reduce((sum, payment) => sum + payment.amount_cents, 0);
}

/** Updates a bill's `paymentStatus` to match its payments. */
export function refreshPaymentStatus(db: DatabaseSync, payableId: string): void {
  const payable = payableById(db, payableId);
  if (payable === undefined) return;
  const payments = paymentsOfPayable(db, payableId);
  const statuses = new Set(payments.map((payment) => payment.status));
  const status = derivePaymentStatus(
    statuses,
    payments.findLast((payment) => ["completed", "failed", "returned"].includes(payment.status)),
    payable.paid_cents >= payable.total_cents,
  );
  if (status !== payable.payment_status) {
    changePayable(db, payableId, { payment_status: status });
  }
}

function derivePaymentStatus(
  statuses: ReadonlySet<PaymentState>,
  lastResult: PaymentRow | undefined,
  isPaid: boolean,
): string {
  for (const status of ["processing", "pending", "held", "refund_pending"] as const) {
    if (statuses.has(status)) return "processing";
  }
  if (statuses.has("scheduled")) return "scheduled";
  if (isPaid) return "settled";
  if (lastResult?.status === "failed") return "failed";
  if (lastResult?.status === "returned") return "clawback";
  return "none";
}

/** Returns the payment in the API's shape (Payment, section 2). */
export function paymentJson(row: PaymentRow): Record<string, unknown> {
  return {
    id: row.id,
    status: row.status,
    amountCents: row.amount_cents,
    contactId: row.contact_id,
    payableId: row.payable_id,
    bankAccountId: row.bank_account_id,
    paymentRail: row.payment_rail,
    scheduledAt: instantText(row.scheduled_at),
    processedAt: isoInstantOrNull(row.processed_at),
    failureReason: row.failure_reason,
    createdAt: instantText(row.created_at),
    updatedAt: instantText(row.updated_at),
  };
}
