import { asOf, BANK_RAIL, type Book } from "./book.ts";
import type { BankClock } from "./bank-clock.ts";
import type { Endpoint } from "./endpoint.ts";
import { contactJson, payableJson, paymentJson, transferJson } from "./json.ts";
import { type Answer, refusal } from "./keys.ts";

/** The answers to `GET`: lists in pages, newest first, and single records. */
export class Reads {
  readonly #book: Book;
  readonly #clock: BankClock;
  readonly #bankAccountId: string;
  readonly #endpoint: Endpoint;
  /** Most items of a page, whatever size was requested. */
  pageMost = 100;
  /** Age in milliseconds of the shown state of payments. */
  staleMs = 0;
  /** Index of the item that is missing from a page, from 0; -1 for none. */
  leftOut = -1;

  constructor(book: Book, clock: BankClock, bankAccountId: string, endpoint: Endpoint) {
    this.#book = book;
    this.#clock = clock;
    this.#bankAccountId = bankAccountId;
    this.#endpoint = endpoint;
  }

  answer(path: string, query: URLSearchParams): Answer {
    const book = this.#book;
    const [, , kind, id, more] = path.split("/").map(decodeURIComponent);
    if (kind === "clock") return this.#clocks();
    if (kind === "payments") {
      if (id === undefined) return this.#page(this.#payments(query).map(paymentJson), query);
      const payment = this.#shown().find((each) => each.id === id);
      return payment === undefined ? missing() : { status: 200, body: paymentJson(payment) };
    }
    if (kind === "payables") {
      if (id === undefined) {
        const bills = [...book.payables.values()].map((bill) => payableJson(book, bill));
        return this.#page(bills, query);
      }
      const bill = book.payables.get(id);
      return bill === undefined ? missing() : { status: 200, body: payableJson(book, bill) };
    }
    if (kind === "contacts") {
      if (id === undefined) return this.#page([...book.contacts.values()].map(contactJson), query);
      const contact = book.contacts.get(id);
      return contact === undefined ? missing() : { status: 200, body: contactJson(contact) };
    }
    if (kind === "funding-sources") return { status: 200, body: { items: this.#sources() } };
    if (kind === "bank-accounts") return this.#accounts(id);
    if (kind === "balance" && id === undefined) return { status: 200, body: this.#balance() };
    if (kind === "balance" && id === "transactions") {
      const { transfers } = book;
      const shown = transfers.filter(({ shownMs }) => shownMs <= this.#clock.realMs());
      return this.#page(shown.map(transferJson).toReversed(), query);
    }
    if (kind === "webhook-endpoints") {
      if (more === "deliveries") return this.#page(this.#endpoint.deliveries(), query);
      return { status: 200, body: { items: this.#endpoint.listed() } };
    }
    return missing();
  }

  #clocks(): Answer {
    const bank = new Date(this.#clock.nowMs()).toISOString();
    const wire = new Date(this.#clock.wireMs()).toISOString();
    return { status: 200, body: { bank, wire, scale: this.#clock.scale } };
  }

  #shown() {
    const nowMs = this.#clock.realMs();
    return this.#book.payments
      .filter(({ shownMs }) => shownMs <= nowMs)
      .map((payment) => asOf(payment, nowMs - this.staleMs));
  }

  #payments(query: URLSearchParams) {
    const [payableId, contactId, status] = ["payableId", "contactId", "status"].map((name) =>
      query.get(name),
    );
    const afterMs = Date.parse(query.get("createdAfter") ?? "");
    const beforeMs = Date.parse(query.get("createdBefore") ?? "");
    return this.#shown()
      .filter(
        (payment) =>
          (payableId == null || payment.payableId === payableId) &&
          (contactId == null || payment.contactId === contactId) &&
          (status == null || payment.status === status) &&
          !(payment.createdMs < afterMs) &&
          !(payment.createdMs >= beforeMs),
      )
      .toReversed();
  }

  #page(items: readonly object[], query: URLSearchParams): Answer {
    const page = Number(query.get("page") ?? 1);
    const pageSize = Math.min(Number(query.get("pageSize") ?? 25), this.pageMost);
    const from = (page - 1) * pageSize;
    return {
      status: 200,
      body: {
        items: items.slice(from, from + pageSize).filter((_, at) => at !== this.leftOut),
        totalCount: items.length,
      },
    };
  }

  #sources(): object[] {
    const balance = {
      id: "balance",
      rail: "SERVICE",
      kind: "balance",
      name: "Balance",
      last4: null,
      availableCents: this.#book.availableCents,
      isDefault: true,
      canPay: true,
      unavailableReason: null,
      actionUrl: null,
      pay: { paymentRail: "SERVICE", fundingSource: "balance" },
    };
    const bank = {
      ...balance,
      ...{ id: this.#bankAccountId, rail: BANK_RAIL, kind: "bank", name: "Bank", last4: "4321" },
      ...{ availableCents: null, isDefault: false },
      pay: { paymentRail: BANK_RAIL, bankAccountId: this.#bankAccountId },
    };
    return [balance, bank];
  }

  #balance(): object {
    const { availableCents } = this.#book;
    return {
      status: "open",
      availableCents,
      cashCents: availableCents,
      reservedCents: 0,
      pendingInboundCents: 0,
      pendingInboundPassThroughCents: 0,
      pendingOutboundCents: 0,
      isReady: true,
      canSendPayments: true,
      sameDayAch: { inbound: false, outbound: false, maxAmountCents: 0 },
      linkedBank: null,
      dashboardUrl: "https://service.test",
    };
  }

  #accounts(id: string | undefined): Answer {
    const account = {
      id: this.#bankAccountId,
      status: "verified",
      type: "checking",
      connectionType: "manual",
      name: "Main",
      institutionName: "Bank",
      accountNumberLast4: "4321",
      routingNumberLast4: "0021",
      isDefault: true,
      microDepositsInitiatedAt: null,
      microDepositsCompletedAt: null,
      verificationAttempts: 0,
    };
    if (id === undefined) return { status: 200, body: { items: [account] } };
    return id === account.id ? { status: 200, body: account } : missing();
  }
}

function missing(): Answer {
  return { status: 404, body: refusal("not_found") };
}
