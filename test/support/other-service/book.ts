import { randomBytes } from "node:crypto";
import type { OtherServiceOptions } from "./options.ts";

export interface OtherPayable {
  readonly id: string;
  status: string;
  totalAmountCents: number;
  readonly dueDate: string;
  readonly contactId: string;
}

export interface OtherPayment {
  readonly id: string;
  readonly payableId: string;
  readonly contactId: string;
  readonly amountCents: number;
  readonly bankAccountId: string | null;
  readonly paymentRail: string | null;
  readonly scheduledAt: string;
  readonly createdAtMs: number;
  status: string;
  processedAt: string | null;
  failureReason: string | null;
  updatedAt: string;
}

export interface OtherContact {
  readonly id: string;
  readonly displayName: string;
  bankLast4: string | null;
  updatedAt: string | null;
}

export type Json = Record<string, unknown>;

const UNPAID: readonly string[] = ["failed", "returned", "cancelled", "refunded"];

/** What this service stores. It refuses no second payment: only the engine itself prevents one. */
export class Book {
  readonly payables = new Map<string, OtherPayable>();
  readonly contacts = new Map<string, OtherContact>();
  /** The payments, oldest first. */
  readonly payments: OtherPayment[] = [];
  readonly #options: OtherServiceOptions;
  #count = 0;

  constructor(options: OtherServiceOptions) {
    this.#options = options;
  }

  newId(kind: string): string {
    this.#count += 1;
    const name = `${kind}-${this.#count}`;
    if (this.#options.ids === "odd") return `${name}/ü 1?&=%41#;'`;
    if (this.#options.ids === "long") return `${name}-`.padEnd(200, "x");
    return `${name}-${randomBytes(4).toString("hex")}`;
  }

  addPayable(amountCents: number, dueDate: string): OtherPayable {
    const contact: OtherContact = {
      id: this.newId("con"),
      displayName: `Vendor ${this.#count}`,
      bankLast4: String(1000 + this.#count),
      updatedAt: null,
    };
    this.contacts.set(contact.id, contact);
    const payable: OtherPayable = {
      id: this.newId("pay"),
      status: "approved",
      totalAmountCents: amountCents,
      dueDate,
      contactId: contact.id,
    };
    this.payables.set(payable.id, payable);
    return payable;
  }

  /** Makes the payments of one request, split if the amount is large. */
  pay(payable: OtherPayable, amountCents: number, terms: Json): OtherPayment[] {
    const made: OtherPayment[] = [];
    for (let left = amountCents; left > 0;) {
      const part = Math.min(left, this.#options.splitAboveCents);
      left -= part;
      const rail = terms["paymentRail"];
      const { paymentRails, newPaymentStatus } = this.#options;
      made.push({
        id: this.newId("pmt"),
        payableId: payable.id,
        contactId: payable.contactId,
        amountCents: part,
        bankAccountId: typeof terms["bankAccountId"] === "string" ? terms["bankAccountId"] : null,
        paymentRail:
          paymentRails === "null" || typeof rail !== "string"
            ? null
            : paymentRails === "renamed"
              ? `ACH_${rail}`
              : rail,
        scheduledAt: `${String(terms["scheduledAt"])}T09:00:00-05:00`,
        createdAtMs: Date.now(),
        status: newPaymentStatus,
        processedAt: newPaymentStatus === "completed" ? new Date().toISOString() : null,
        failureReason: null,
        updatedAt: new Date().toISOString(),
      });
    }
    this.payments.push(...made);
    return made;
  }

  paymentsOf(payableId: string): OtherPayment[] {
    return this.payments.filter((payment) => payment.payableId === payableId);
  }

  /** Returns what each payee has got or is still getting: the answer to "was it paid once?". */
  paidCents(): Map<string, number> {
    const paid = new Map<string, number>();
    for (const { payableId, status, amountCents } of this.payments) {
      if (UNPAID.includes(status)) continue;
      paid.set(payableId, (paid.get(payableId) ?? 0) + amountCents);
    }
    return paid;
  }

  amountPaidCents(payable: OtherPayable): number {
    const counts = ({ status }: OtherPayment): boolean =>
      this.#options.amountPaidMoves === "at-settlement"
        ? status === "completed"
        : !UNPAID.includes(status);
    return this.paymentsOf(payable.id)
      .filter(counts)
      .reduce((sum, { amountCents }) => sum + amountCents, 0);
  }
}
