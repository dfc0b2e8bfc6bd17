import type { Book, Json, OtherPayable } from "./book.ts";
import { type Answer, Keys, refusal } from "./keys.ts";
import type { OtherServiceOptions } from "./options.ts";
import {
  BALANCE_SOURCE,
  BANK_ACCOUNTS,
  contactView,
  fundingSources,
  madeView,
  payableItemView,
  payableView,
  paymentView,
} from "./views.ts";

export interface Asked {
  readonly method: string;
  /** Segments of the path, decoded. */
  readonly segments: readonly string[];
  readonly query: URLSearchParams;
  readonly body: Json;
  readonly key: string | undefined;
}

/** The operations that the engine uses, on one book. */
export class Operations {
  readonly #book: Book;
  readonly #options: OtherServiceOptions;
  readonly #keys: Keys;
  /** Code of the state refusal that every money write currently gets. */
  refusing: string | undefined;
  /** Status that every money write currently gets, as if the token lacked the scope. */
  forbidding: 401 | 403 | 404 | undefined;

  constructor(book: Book, options: OtherServiceOptions) {
    this.#book = book;
    this.#options = options;
    this.#keys = new Keys(options);
  }

  read({ segments, query }: Asked): Answer {
    const [, resource, id, more] = segments;
    if (resource === "payments" && id === undefined) return this.#payments(query);
    if (resource === "payments") return found(this.#payment(id), paymentView);
    if (resource === "payables" && id === undefined) {
      const all = [...this.#book.payables.values()];
      return page(query, all, (each) => payableItemView(this.#book, each, this.#options));
    }
    if (resource === "payables") {
      return found(this.#book.payables.get(id ?? ""), (each) => payableView(this.#book, each));
    }
    if (resource === "contacts" && id === undefined) {
      return page(query, [...this.#book.contacts.values()], contactView);
    }
    if (resource === "contacts") return found(this.#book.contacts.get(id ?? ""), contactView);
    if (resource === "bank-accounts") return { status: 200, body: { items: BANK_ACCOUNTS } };
    if (resource === "funding-sources") {
      return { status: 200, body: { items: fundingSources(this.#options) } };
    }
    if (resource === "balance" && more === undefined) return this.#balance();
    if (resource === "webhook-endpoints" && this.#options.webhookApi === "forbidden") {
      return { status: 403, body: { statusCode: 403, message: "Forbidden" } };
    }
    return refusal(404, "not_found");
  }

  /**
   * Runs a money write under its key. `die` leaves the key running forever, with its effect made.
   */
  write(asked: Asked, after: { readonly die: boolean; readonly status?: number }): Answer {
    const path = asked.segments.join("/");
    const early = this.#keys.begin(asked.key, asked.method, path, asked.body);
    if (early !== undefined) return early;
    const answer = this.#run(asked);
    if (after.die) return answer;
    const told = after.status === undefined ? answer : refusal(after.status, "internal_error");
    this.#keys.end(asked.key ?? "", told);
    return told;
  }

  #run(asked: Asked): Answer {
    const { forbidding, refusing } = this;
    if (forbidding === 404) return refusal(404, "not_found");
    if (forbidding !== undefined) {
      const message = forbidding === 401 ? "Unauthorized" : "Forbidden";
      return { status: forbidding, body: { statusCode: forbidding, message } };
    }
    if (refusing !== undefined) return refusal(this.#options.refusalStatus, refusing);
    const [, resource, id, action] = asked.segments;
    if (resource === "payments" && id === undefined) return this.#pay(asked.body);
    if (resource === "payables" && action === "retry-payment") return this.#retry(id ?? "");
    return refusal(404, "not_found");
  }

  #pay(body: Json): Answer {
    const payable = this.#book.payables.get(String(body["payableId"]));
    const amountCents = body["amountCents"];
    if (payable === undefined) return refusal(404, "not_found");
    if (typeof amountCents !== "number" || amountCents < 1) {
      return refusal(422, "validation_error", { field: "amountCents" });
    }
    if (typeof body["bankAccountId"] !== "string") {
      return refusal(400, "validation_error", { field: "bankAccountId" });
    }
    if (this.#options.funding === "balance" && body["fundingSource"] !== BALANCE_SOURCE) {
      return refusal(400, "validation_error", { field: "fundingSource" });
    }
    const tomorrow = new Date(Date.now() + 12 * 3_600_000).toISOString().slice(0, 10);
    if (typeof body["scheduledAt"] !== "string" || body["scheduledAt"] < tomorrow) {
      return refusal(422, "validation_error", { field: "scheduledAt" });
    }
    const payments = madeView(this.#book.pay(payable, amountCents, body), this.#options);
    return { status: 201, body: { payableId: payable.id, payments, requestId: "r-1" } };
  }

  /** Pays the last failed payment's amount again. */
  #retry(payableId: string): Answer {
    const { retryPayment } = this.#options;
    if (retryPayment === "unsupported") {
      const message = "Cannot POST this path";
      return { status: 404, body: { statusCode: 404, message, error: "Not Found" } };
    }
    const payable: OtherPayable | undefined = this.#book.payables.get(payableId);
    const failed = this.#book.paymentsOf(payableId).findLast(({ status }) => status === "failed");
    if (payable === undefined || failed === undefined) return refusal(404, "not_found");
    const terms = {
      paymentRail: failed.paymentRail?.replace(/^ACH_/, ""),
      bankAccountId: failed.bankAccountId,
      scheduledAt: failed.scheduledAt.slice(0, 10),
    };
    const [made] = this.#book.pay(payable, failed.amountCents, terms);
    return made === undefined
      ? { status: 202, body: undefined }
      : { status: 200, body: paymentView(made) };
  }

  #payment(id: string | undefined) {
    return this.#book.payments.find((payment) => payment.id === id);
  }

  #payments(query: URLSearchParams): Answer {
    const payableId = query.get("payableId");
    const visibleUntil = Date.now() - this.#options.listDelayMs;
    const matching = this.#book.payments
      .filter((each) => payableId === null || each.payableId === payableId)
      .filter((each) => each.createdAtMs <= visibleUntil)
      .reverse();
    return page(query, matching, paymentView);
  }

  #balance(): Answer {
    const { balance } = this.#options;
    if (balance === "not_found") return refusal(404, "not_found");
    if (balance === "feature_unavailable") return refusal(422, "feature_unavailable");
    return {
      status: 200,
      body: { status: "open", availableCents: 1_000_000_00, canSendPayments: true },
    };
  }
}

function found<T>(record: T | undefined, view: (record: T) => Json): Answer {
  return record === undefined ? refusal(404, "not_found") : { status: 200, body: view(record) };
}

function page<T>(query: URLSearchParams, all: readonly T[], view: (each: T) => Json): Answer {
  const number = Number(query.get("page") ?? 1);
  const size = Number(query.get("pageSize") ?? 25);
  if (number < 1 || size < 1 || size > 100) return refusal(400, "validation_error");
  const items = all.slice((number - 1) * size, number * size).map(view);
  return { status: 200, body: { items, totalCount: all.length, hasMore: false } };
}
