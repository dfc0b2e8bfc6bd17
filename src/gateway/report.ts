import type { LineState, RunPaymentStatus, RunPhase, RunStatus } from "../contracts/pay-run.ts";

/** Lines in these states need nobody's attention any more, or not yet. */
const REGULAR: readonly LineState[] = ["settled", "skipped"];

export interface RunReport {
  readonly id: string;
  readonly business: string;
  readonly playbook: string;
  readonly period: string;
  readonly phase: RunPhase;
  readonly bills: number;
  readonly totalCents: number;
  readonly settledBills: number;
  readonly settledCents: number;
  readonly byState: Readonly<Partial<Record<LineState, { count: number; cents: number }>>>;
  readonly exceptions: readonly Pick<
    RunPaymentStatus,
    "payableId" | "publicId" | "contactName" | "amountCents" | "state" | "reasonCode" | "reason"
  >[];
  readonly skipped: { readonly count: number; readonly byCode: Readonly<Record<string, number>> };
}

/** Sums a run up: every bill in one state, what has settled, and each exception with its reason. */
export function reportOf(status: RunStatus): RunReport {
  const byState: Partial<Record<LineState, { count: number; cents: number }>> = {};
  let totalCents = 0;
  for (const payment of status.payments) {
    const sum = byState[payment.state] ?? { count: 0, cents: 0 };
    byState[payment.state] = { count: sum.count + 1, cents: sum.cents + payment.amountCents };
    totalCents += payment.amountCents;
  }
  return {
    id: status.id,
    business: status.business,
    playbook: status.playbook,
    period: status.period,
    phase: status.phase,
    bills: status.payments.length,
    totalCents,
    settledBills: byState.settled?.count ?? 0,
    settledCents: byState.settled?.cents ?? 0,
    byState,
    exceptions: status.payments
      .filter((payment) => !REGULAR.includes(payment.state) && payment.reason !== null)
      .map((payment) => ({
        payableId: payment.payableId,
        publicId: payment.publicId,
        contactName: payment.contactName,
        amountCents: payment.amountCents,
        state: payment.state,
        reasonCode: payment.reasonCode,
        reason: payment.reason,
      })),
    skipped: {
      count: status.plan?.skippedCount ?? 0,
      byCode: status.plan?.skippedByCode ?? {},
    },
  };
}

const COLUMNS: readonly (readonly [string, (payment: RunPaymentStatus) => string])[] = [
  ["payable_id", (payment) => payment.payableId],
  ["public_id", (payment) => payment.publicId ?? ""],
  ["vendor", (payment) => payment.contactName ?? ""],
  ["amount_usd", (payment) => dollars(payment.amountCents)],
  ["state", (payment) => payment.state],
  ["reason_code", (payment) => payment.reasonCode ?? ""],
  ["reason", (payment) => payment.reason ?? ""],
  ["due_date", (payment) => payment.dueDate ?? ""],
  ["execution_date", (payment) => payment.executionDate ?? ""],
  ["arrival_date", (payment) => payment.arrivalDate ?? ""],
  ["payment_ids", (payment) => payment.paymentIds.join(" ")],
  ["attempts", (payment) => String(payment.attempts)],
  ["approved_by", (payment) => payment.approvedBy.join(" ")],
];

/** One row per line of the run, RFC 4180. */
export function reportCsv(status: RunStatus): string {
  const rows = [
    COLUMNS.map(([name]) => name),
    ...status.payments.map((payment) => COLUMNS.map(([, read]) => cell(read(payment)))),
  ];
  return rows.map((row) => `${row.join(",")}\r\n`).join("");
}

/**
 * A vendor's name or a memo comes from outside, and a spreadsheet runs a cell that begins like a
 * formula: such a text gets an apostrophe in front.
 */
function cell(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

function dollars(cents: number): string {
  const sign = cents < 0 ? "-" : "";
  const whole = Math.abs(cents);
  return `${sign}${Math.trunc(whole / 100)}.${String(whole % 100).padStart(2, "0")}`;
}
