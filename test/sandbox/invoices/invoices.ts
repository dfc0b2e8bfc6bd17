import type { ApiAnswer, Json, TestSandbox } from "../../support/sandbox.ts";
import { controlPost } from "../bank-accounts/accounts.ts";
import { unique } from "../world.ts";

export interface Invoice extends Json {
  id: string;
  publicId: string;
  status: string;
  paymentStatus: string;
  totalAmountCents: number;
  amountPaidCents: number;
  remainingAmountCents: number;
  customer: { id: string | null; displayName: string | null };
  paymentLink: { enabled: boolean; url: string; expiresAt: string | null };
}

export const items = [
  { name: "Consulting", description: "June", quantity: 2, unitAmountCents: 40_000 },
  { name: "Travel", quantity: 1, unitAmountCents: 20_000 },
];

/** The invoice operations for tests; an invoice is for $1,000.00 unless a test says otherwise. */
export class Invoices {
  readonly #sandbox: TestSandbox;

  constructor(sandbox: TestSandbox) {
    this.#sandbox = sandbox;
  }

  async customer(): Promise<string> {
    const body = { displayName: unique("Customer") };
    return (await this.#sandbox.api<{ id: string }>("POST", "/v1/contacts", { body })).body.id;
  }

  post(path: string, body?: unknown, key?: string): Promise<ApiAnswer<Invoice>> {
    return this.#sandbox.api<Invoice>("POST", `/v1/invoices${path}`, {
      ...(body !== undefined && { body }),
      ...(key !== undefined && { key }),
    });
  }

  async create(fields: Json = {}): Promise<Invoice> {
    const customerId = await this.customer();
    const answer = await this.post("", { customerId, items, ...fields });
    if (answer.status !== 201) throw new Error(`no invoice: ${answer.text}`);
    return answer.body;
  }

  /** Creates an invoice and sends it. */
  async open(fields: Json = {}): Promise<Invoice> {
    const { id } = await this.create(fields);
    return (await this.post(`/${id}/send`)).body;
  }

  async get(id: string): Promise<Invoice> {
    return (await this.#sandbox.api<Invoice>("GET", `/v1/invoices/${id}`)).body;
  }

  /** Creates an invoice through the control API, open by default. */
  given(fields: Json = {}): Promise<Invoice> {
    const customer = { displayName: "Given" };
    return controlPost(this.#sandbox, "/invoices", { customer, items, ...fields });
  }

  /** Does, through the control API, what the customer or the service's review would do. */
  act(id: string, change: Json): Promise<Invoice> {
    return controlPost(this.#sandbox, `/invoices/${id}`, change);
  }
}
