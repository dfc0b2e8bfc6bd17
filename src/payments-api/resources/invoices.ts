import { type Requester, segment, type WriteOptions } from "../requester.ts";
import { whereShown } from "../schemas/common.ts";
import {
  type Invoice,
  type InvoiceListItem,
  invoiceListItemSchema,
  invoicePageSchema,
  invoiceSchema,
  type InvoiceStatus,
} from "../schemas/invoice.ts";
import type { CallOptions } from "../transport.ts";
import { PagedReads } from "./paged-reads.ts";

type InvoiceFilters = { status?: InvoiceStatus | undefined };

/** An invoice to create. The specification doesn't show the shape: this is our reading. */
export interface NewInvoice {
  /** A contact's id. */
  customerId: string;
  /** `YYYY-MM-DD`. */
  dueDate?: string;
  /** `YYYY-MM-DD`. */
  issueDate?: string;
  customNumber?: string;
  description?: string;
  items: { name: string; quantity: number; unitAmountCents: number }[];
}

const changedSchema = whereShown(invoiceSchema);

/**
 * Invoices: the bills that the business sends (API specification, section 4). The specification
 * only names the writes: they return undefined if the response is not an invoice.
 */
export class Invoices extends PagedReads<InvoiceListItem, InvoiceFilters> {
  readonly #requester: Requester;

  constructor(requester: Requester) {
    super(requester, "/v1/invoices", invoicePageSchema);
    this.#requester = requester;
  }

  /** @throws {PaymentsApiError} `not_found`, also for a bill that the business pays */
  get(invoiceId: string, options?: CallOptions): Promise<Invoice> {
    return this.#requester.read(pathOf(invoiceId), invoiceSchema, options);
  }

  /** Creates a draft. Only the id of the response, whose shape is not documented, is certain. */
  create(invoice: NewInvoice, options?: WriteOptions): Promise<InvoiceListItem> {
    const write = { ...options, method: "POST" as const, path: "/v1/invoices", body: invoice };
    return this.#requester.write(write, invoiceListItemSchema);
  }

  /** Sends a draft to its customer. */
  send(invoiceId: string, options?: WriteOptions): Promise<Invoice | undefined> {
    return this.#act(invoiceId, "send", undefined, options);
  }

  /** Voids an invoice. */
  void(invoiceId: string, options?: WriteOptions): Promise<Invoice | undefined> {
    return this.#act(invoiceId, "void", undefined, options);
  }

  /**
   * Records that the customer has paid outside the service: all that is due, or an amount of it.
   */
  markPaid(
    invoiceId: string,
    paid?: { amountCents: number },
    options?: WriteOptions,
  ): Promise<Invoice | undefined> {
    return this.#act(invoiceId, "mark-paid", paid, options);
  }

  /** Turns the payment link on or off. `expiresAt`: ISO 8601, null for never. */
  setPaymentLink(
    invoiceId: string,
    link: { enabled: boolean; expiresAt?: string | null },
    options?: WriteOptions,
  ): Promise<Invoice | undefined> {
    return this.#act(invoiceId, "payment-link", link, options);
  }

  #act(
    invoiceId: string,
    action: string,
    body: unknown,
    options: WriteOptions | undefined,
  ): Promise<Invoice | undefined> {
    const path = `${pathOf(invoiceId)}/${action}`;
    return this.#requester.write({ ...options, method: "POST", path, body }, changedSchema);
  }
}

function pathOf(invoiceId: string): string {
  return `/v1/invoices/${segment(invoiceId)}`;
}
