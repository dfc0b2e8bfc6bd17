import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, type TestContext } from "vitest";
import { type Contact, PaymentsApiError, PaymentsClient } from "../../src/payments-api/index.ts";
import { type ApiAnswer, startSandbox, type TestSandbox } from "../support/sandbox.ts";
import { target } from "./target.ts";

/** Refusals that say something about the business, but nothing about the service. */
const cannotPay = new Set([
  "forbidden",
  "feature_unavailable",
  "insufficient_balance",
  "payments_locked",
  "setup_incomplete",
  "setup_required",
]);

interface OneCent {
  contactId: string;
  amountCents: number;
  scheduledAt: string;
}

type CreatedPayments = Awaited<ReturnType<PaymentsClient["payments"]["create"]>>;
type NewContact = Parameters<PaymentsClient["contacts"]["create"]>[0];

/** Pays from the balance, which needs no bank account and no ACH authorization. */
export const FROM_BALANCE = { paymentRail: "SERVICE", fundingSource: "balance" } as const;

/** The tested service, and the engine's own client for it. */
export class World {
  client!: PaymentsClient;
  readonly #clients: PaymentsClient[] = [];
  readonly #contacts: string[] = [];
  #sandbox: TestSandbox | undefined;

  async start(): Promise<void> {
    if (target === undefined) this.#sandbox = await startSandbox();
    this.client = this.clientWith(this.#token);
  }

  /** Only in tests that run `onSandbox`. */
  get sandbox(): TestSandbox {
    if (this.#sandbox === undefined) throw new Error("there is no sandbox");
    return this.#sandbox;
  }

  get isSandbox(): boolean {
    return this.#sandbox !== undefined;
  }

  /** Returns a client with another token, such as one that lacks scopes. */
  clientWith(token: string): PaymentsClient {
    const client = new PaymentsClient({ baseUrl: this.#url, token: { value: token } });
    this.#clients.push(client);
    return client;
  }

  /** Sends one request as it is, past the client and its tolerance. `token: null` sends none. */
  async api(
    method: string,
    path: string,
    {
      body,
      key,
      token = this.#token,
    }: { body?: unknown; key?: string; token?: string | null } = {},
  ): Promise<ApiAnswer> {
    const response = await fetch(`${this.#url}${path}`, {
      method,
      headers: {
        ...(token !== null && { authorization: `Bearer ${token}` }),
        ...(key !== undefined && { "idempotency-key": key }),
        ...(body !== undefined && { "content-type": "application/json" }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const { status, headers } = response;
    return { status, headers, text, body: objectOf(text) };
  }

  /** Creates a contact that is archived at the end of the tests. */
  async contact(contact: NewContact, options?: { idempotencyKey: string }): Promise<Contact> {
    const created = await this.client.contacts.create(contact, options);
    this.#contacts.push(created.id);
    return created;
  }

  /** Creates a vendor with a name of its own that can be paid by ACH. */
  async vendor(): Promise<string> {
    const { id } = await this.contact({
      displayName: unique("Vendor"),
      bankAccount: {
        accountNumber: "000123456789",
        routingNumber: "021000021",
        accountType: "checking",
      },
    });
    return id;
  }

  /** Creates an approved bill of a new vendor. Only in tests that run `onSandbox`. */
  async bill(totalAmountCents = 100_00): Promise<string> {
    const contactId = await this.vendor();
    const bill = await this.sandbox.control.createPayable({ contactId, totalAmountCents });
    return bill.id;
  }

  /** Returns the day after tomorrow in New York, `YYYY-MM-DD`, which is never before tomorrow. */
  async dayAfterTomorrow(): Promise<string> {
    const now = this.isSandbox ? Date.parse((await this.sandbox.control.clock()).bank) : Date.now();
    const inTwoDays = new Date(now + 2 * 86_400_000);
    return new Intl.DateTimeFormat("en-CA", { timeZone: "America/New_York" }).format(inTwoDays);
  }

  /** Returns a body that schedules one cent for a new vendor, from the balance. */
  async oneCent(): Promise<OneCent> {
    const scheduledAt = await this.dayAfterTomorrow();
    return { contactId: await this.vendor(), amountCents: 1, scheduledAt, ...FROM_BALANCE };
  }

  /** Schedules one cent; skips if the business can't pay now, which is no fault of the service. */
  async scheduleOneCent(
    cent: OneCent,
    key: { idempotencyKey: string },
    { skip }: Pick<TestContext, "skip">,
  ): Promise<CreatedPayments> {
    return this.client.payments.create(cent, key).catch((error: unknown) => {
      if (error instanceof PaymentsApiError && cannotPay.has(error.code)) {
        skip(`the business can't pay from its balance: ${error.code}`);
      }
      throw error;
    });
  }

  async stop(): Promise<void> {
    if (!this.isSandbox) {
      for (const id of this.#contacts)
        await this.client.contacts.archive(id).catch(() => undefined);
    }
    await Promise.all(this.#clients.map((client) => client.close()));
    await this.#sandbox?.stop();
  }

  get #url(): string {
    return target?.url ?? this.sandbox.url;
  }

  get #token(): string {
    return target?.token ?? this.sandbox.business.token;
  }
}

/** Returns the service for the tests of one file. */
export function contractWorld(): World {
  const world = new World();
  beforeAll(() => world.start());
  afterAll(() => world.stop());
  return world;
}

/** Returns a name that no earlier run has used. */
export function unique(name: string): string {
  return `${name} ${randomUUID()}`;
}

export function newKey(): { idempotencyKey: string } {
  return { idempotencyKey: randomUUID() };
}

/** Returns the error that a call was refused with. */
export async function refusal(call: Promise<unknown>): Promise<PaymentsApiError> {
  const outcome = await call.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (outcome instanceof PaymentsApiError) return outcome;
  throw new Error(`it was not refused: ${String(outcome)}`);
}

function objectOf(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null
      ? Object.fromEntries(Object.entries(value))
      : {};
  } catch {
    return {};
  }
}
