import type { Stream } from "../world/random.ts";

export interface Contact {
  readonly id: string;
  readonly displayName: string;
  status: string;
  last4: string | null;
  updatedMs: number | null;
  /** Real instant since which it has its bank account. */
  movedMs: number;
  /** Real instant at which its record was last changed. */
  editedMs: number;
}

export interface Payable {
  readonly id: string;
  readonly contactId: string;
  status: string;
  totalCents: number;
  /** Its total amounts, in order. */
  readonly totals: { readonly fromMs: number; readonly cents: number }[];
  readonly dueDate: string;
  readonly issueDate: string;
}

export interface Payment {
  readonly id: string;
  readonly payableId: string;
  readonly contactId: string;
  readonly amountCents: number;
  readonly rail: string | null;
  readonly bankAccountId: string | null;
  readonly scheduledMs: number;
  /** Business clock. */
  readonly createdMs: number;
  /** Real instant from which lists show it. */
  readonly shownMs: number;
  /** Key of the request that made it; null for an external payment. */
  readonly key: string | null;
  status: string;
  updatedMs: number;
  processedMs: number | null;
  failureReason: string | null;
  /** Its earlier states, each until a real instant, in order. */
  past?: readonly Past[];
}

/** The state of a payment until a real instant. */
export type Past = Pick<Payment, "status" | "updatedMs" | "processedMs" | "failureReason"> & {
  readonly untilMs: number;
};

/** Returns a payment as it was at a real instant. */
export function asOf(payment: Payment, realMs: number): Payment {
  const then = payment.past?.find(({ untilMs }) => realMs < untilMs);
  return then === undefined ? payment : { ...payment, ...then };
}

export interface Transfer {
  readonly id: string;
  readonly key: string;
  readonly amountCents: number;
  readonly bankAccountId: string;
  readonly createdMs: number;
  readonly shownMs: number;
  status: string;
  updatedMs: number;
  failureReason: string | null;
}

/** States of payments that neither took nor will take the vendor's money. */
const NOT_STANDING: readonly string[] = [
  "failed",
  "returned",
  "cancelled",
  "refunded",
  "refund_pending",
];

/** States of payments that have left the balance, or are about to. */
const LEFT_BALANCE: readonly string[] = ["processing", "pending", "completed", "held"];

/** The rail of payments from the business's own bank account. */
export const BANK_RAIL = "PROVIDER";

export function stands({ status }: Payment): boolean {
  return !NOT_STANDING.includes(status);
}

/** The service's records: vendors, bills, payments, and its balance. */
export class Book {
  readonly contacts = new Map<string, Contact>();
  readonly payables = new Map<string, Payable>();
  /** Oldest first. */
  readonly payments: Payment[] = [];
  readonly transfers: Transfer[] = [];
  readonly #ids: Stream;
  /** All cents ever paid into the balance; what has left it is in the payments. */
  balanceCents = 0;

  constructor(ids: Stream) {
    this.#ids = ids;
  }

  /** Cents that can still be paid from the balance. */
  get availableCents(): number {
    const out = this.payments
      .filter(({ rail, status }) => rail !== BANK_RAIL && LEFT_BALANCE.includes(status))
      .reduce((sum, { amountCents }) => sum + amountCents, 0);
    return Math.max(0, this.balanceCents - out);
  }

  newId(prefix: string): string {
    return `${prefix}_${this.#ids.hex(10)}`;
  }

  paymentsOf(payableId: string): Payment[] {
    return this.payments.filter((payment) => payment.payableId === payableId);
  }

  standingCents(payableId: string): number {
    return this.paymentsOf(payableId)
      .filter(stands)
      .reduce((sum, { amountCents }) => sum + amountCents, 0);
  }

  paidCents(payableId: string): number {
    return this.paymentsOf(payableId)
      .filter(({ status }) => status === "completed")
      .reduce((sum, { amountCents }) => sum + amountCents, 0);
  }

  /** Returns the greatest total of a payable since an instant. */
  mostCents(payableId: string, sinceMs: number): number {
    const totals = this.payables.get(payableId)?.totals ?? [];
    const first = totals.findLastIndex(({ fromMs }) => fromMs <= sinceMs);
    return totals.slice(Math.max(0, first)).reduce((most, { cents }) => Math.max(most, cents), 0);
  }

  /** Returns the payable's own word for the state of its payments. */
  paymentStatus(payableId: string): string {
    const payments = this.paymentsOf(payableId);
    const last = payments.at(-1);
    if (last === undefined) return "none";
    if (payments.some(({ status }) => ["processing", "pending", "held"].includes(status))) {
      return "processing";
    }
    if (payments.some(({ status }) => status === "scheduled")) return "scheduled";
    if (last.status === "completed") return "settled";
    if (last.status === "returned") return "clawback";
    return last.status === "failed" ? "failed" : "none";
  }
}
