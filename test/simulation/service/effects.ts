import { newYorkDay, newYorkInstant } from "../../../src/sandbox/payments/banking-days.ts";
import type { Bank } from "./bank.ts";
import { type Book, type Payment, stands } from "./book.ts";
import type { BankClock } from "./bank-clock.ts";
import { paymentJson, transferJson } from "./json.ts";
import { type Answer, refusal } from "./keys.ts";
import type { Life } from "./life.ts";

/** How this service behaves where the specification leaves it open. */
export interface Habits {
  /** True if it refuses to pay a bill whose payments under way cover all that it owes. */
  readonly guardsInFlight: boolean;
  /** Payments above this are split. */
  readonly splitOverCents: number;
  /** Real milliseconds until a payment shows. */
  readonly showsAfterMs: () => number;
}

interface MoneyRequest {
  readonly path: string;
  readonly key: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly number: number;
}

/** How much of its effect a request has. */
type Share = "all" | "part";

const NEW_YORK_RUN = "09:00";

/** The effects of money writes once they have claimed their key. */
export class Effects {
  readonly #book: Book;
  readonly #bank: Bank;
  readonly #clock: BankClock;
  readonly #life: Life;
  readonly #habits: Habits;

  constructor(parts: {
    readonly book: Book;
    readonly bank: Bank;
    readonly clock: BankClock;
    readonly life: Life;
    readonly habits: Habits;
  }) {
    this.#book = parts.book;
    this.#bank = parts.bank;
    this.#clock = parts.clock;
    this.#life = parts.life;
    this.#habits = parts.habits;
  }

  act(request: MoneyRequest, share: Share): Answer {
    const { path, body } = request;
    if (path === "/v1/payments") return this.#pay(request, body, share);
    if (path === "/v1/balance/deposits") return this.#deposit(request, body);
    const cancelled = /^\/v1\/payments\/([^/]+)\/cancel$/.exec(path)?.[1];
    if (cancelled !== undefined) return this.#cancel(request, decodeURIComponent(cancelled));
    const retried = /^\/v1\/payables\/([^/]+)\/retry-payment$/.exec(path)?.[1];
    if (retried !== undefined) return this.#retry(request, decodeURIComponent(retried), share);
    return { status: 404, body: refusal("not_found") };
  }

  #pay(request: MoneyRequest, body: MoneyRequest["body"], share: Share): Answer {
    const nowMs = this.#clock.nowMs();
    const payable = this.#book.payables.get(String(body["payableId"]));
    if (payable === undefined) return { status: 404, body: refusal("not_found") };
    const contact = this.#book.contacts.get(payable.contactId);
    if (payable.status !== "approved") return { status: 409, body: refusal("approval_required") };
    if (contact?.status !== "active" || contact.last4 === null) {
      return { status: 422, body: refusal("contact_not_payable") };
    }
    const scheduledAt = body["scheduledAt"];
    if (typeof scheduledAt === "string" && scheduledAt <= newYorkDay(nowMs)) {
      const message = "scheduledAt must be tomorrow or later";
      const details = { field: "scheduledAt" };
      return { status: 422, body: { error: "validation_error", message, details } };
    }
    const owedCents = payable.totalCents - this.#book.paidCents(payable.id);
    const asked = body["amountCents"];
    const amountCents = typeof asked === "number" ? asked : owedCents;
    if (this.#habits.guardsInFlight) {
      const freeCents = payable.totalCents - this.#book.standingCents(payable.id);
      if (amountCents > freeCents) return { status: 409, body: refusal("payment_in_progress") };
    }
    const scheduledMs =
      typeof scheduledAt === "string" ? newYorkInstant(scheduledAt, NEW_YORK_RUN) : undefined;
    const terms = {
      payableId: payable.id,
      contactId: payable.contactId,
      rail: textOf(body["paymentRail"]),
      bankAccountId: textOf(body["bankAccountId"]),
      scheduledMs,
    };
    return this.#make(request, amountCents, terms, share);
  }

  #retry(request: MoneyRequest, payableId: string, share: Share): Answer {
    const failed = this.#book
      .paymentsOf(payableId)
      .findLast(({ status }) => status === "failed" || status === "returned");
    if (failed === undefined) return { status: 422, body: refusal("validation_error") };
    const { contactId, rail, bankAccountId, amountCents } = failed;
    const terms = { payableId, contactId, rail, bankAccountId, scheduledMs: undefined };
    return this.#make(request, amountCents, terms, share);
  }

  #make(
    request: MoneyRequest,
    amountCents: number,
    terms: Pick<Payment, "payableId" | "contactId" | "rail" | "bankAccountId"> & {
      readonly scheduledMs: number | undefined;
    },
    share: Share,
  ): Answer {
    const nowMs = this.#clock.nowMs();
    const { scheduledMs, ...rest } = terms;
    const parts = splitOf(amountCents, this.#habits.splitOverCents);
    const made = share === "part" ? parts.slice(0, Math.ceil(parts.length / 2)) : parts;
    const payments = made.map((cents): Payment => ({
      ...rest,
      id: this.#book.newId("pay"),
      amountCents: cents,
      status: scheduledMs === undefined ? "pending" : "scheduled",
      scheduledMs: scheduledMs ?? nowMs,
      createdMs: nowMs,
      updatedMs: nowMs,
      shownMs: this.#clock.realMs() + this.#habits.showsAfterMs(),
      processedMs: null,
      failureReason: null,
      key: request.key,
    }));
    this.#book.payments.push(...payments);
    for (const payment of payments) this.#life.begin(payment);
    this.#bank.accept({
      kind: "payment",
      key: request.key,
      subject: terms.payableId,
      amountCents: payments.reduce((sum, payment) => sum + payment.amountCents, 0),
      paymentIds: payments.map(({ id }) => id),
      request: request.number,
    });
    const body = { payableId: terms.payableId, payments: payments.map(paymentJson) };
    return { status: 201, body };
  }

  #cancel(request: MoneyRequest, paymentId: string): Answer {
    const payment = this.#book.payments.find(({ id }) => id === paymentId);
    if (payment === undefined) return { status: 404, body: refusal("not_found") };
    const siblings = this.#book
      .paymentsOf(payment.payableId)
      .filter(({ status }) => status === "scheduled");
    const several = siblings.length > 1;
    if (!["scheduled", "held"].includes(payment.status) || several) {
      const { status } = payment;
      const body = { error: "payment_not_cancellable", message: "no", details: { status } };
      return { status: 409, body };
    }
    if (stands(payment)) {
      this.#bank.accept({
        kind: "cancel",
        key: request.key,
        subject: paymentId,
        amountCents: payment.amountCents,
        paymentIds: [paymentId],
        request: request.number,
      });
    }
    this.#life.move(payment, payment.status === "held" ? "refund_pending" : "cancelled");
    return { status: 200, body: { payment: paymentJson(payment), message: "No money moved." } };
  }

  #deposit(request: MoneyRequest, body: MoneyRequest["body"]): Answer {
    const nowMs = this.#clock.nowMs();
    const transfer = {
      id: this.#book.newId("txn"),
      key: request.key,
      amountCents: Number(body["amountCents"]),
      bankAccountId: String(body["bankAccountId"]),
      createdMs: nowMs,
      updatedMs: nowMs,
      shownMs: this.#clock.realMs() + this.#habits.showsAfterMs(),
      status: "pending",
      failureReason: null,
    };
    this.#book.transfers.push(transfer);
    this.#life.arrive(transfer);
    this.#bank.accept({
      kind: "deposit",
      key: request.key,
      subject: transfer.bankAccountId,
      amountCents: transfer.amountCents,
      paymentIds: [transfer.id],
      request: request.number,
    });
    return { status: 201, body: transferJson(transfer) };
  }
}

function splitOf(amountCents: number, overCents: number): number[] {
  const parts: number[] = [];
  for (let left = amountCents; left > 0; left -= overCents) parts.push(Math.min(left, overCents));
  return parts;
}

function textOf(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}
