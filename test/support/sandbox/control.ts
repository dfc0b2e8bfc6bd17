import type { Json, SandboxBusiness, TestSandbox } from "../sandbox.ts";
import type { LedgerEntry } from "./ledger.ts";

export interface ClockReading {
  bank: string;
  wire: string;
  scale: number;
}

export interface OutcomeRule {
  match: {
    payableId?: string;
    contactId?: string;
    paymentId?: string;
    transactionId?: string;
    bankAccountId?: string;
  };
  outcome: "settle" | "fail" | "return" | "hold";
  code?: string;
  reason?: string;
  after?: string;
  times?: number;
}

export interface FaultRule {
  method?: string;
  path: string;
  when: "before" | "during" | "after";
  effect: "status" | "drop" | "delay" | "malformed" | "partial" | "late";
  status?: number;
  retryAfter?: number;
  delayMs?: number;
  times?: number;
  probability?: number;
  seed?: number | string;
}

export interface WebhookFaults {
  lose?: number;
  duplicate?: number;
  reorder?: number;
  delayMs?: number;
  seed?: number | string;
}

export interface LoggedRequest {
  method: string;
  path: string;
  business: string | null;
  key: string | null;
  bodyHash: string | null;
  status: number | null;
  at: string;
}

/** The control API under `/sandbox`; every method throws if it is refused. */
export class SandboxControl {
  readonly #sandbox: TestSandbox;

  constructor(sandbox: TestSandbox) {
    this.#sandbox = sandbox;
  }

  /** Forgets everything and loads a fixture, by name or as an object. */
  async reset(fixture: string | Json = "blank"): Promise<SandboxBusiness[]> {
    const { businesses } = await this.#post<{ businesses: SandboxBusiness[] }>("/reset", {
      fixture,
    });
    this.#sandbox.businesses = businesses;
    return businesses;
  }

  async token(
    businessId = this.#sandbox.business.businessId,
    options: { scopes?: readonly string[]; expiresInSeconds?: number } = {},
  ): Promise<string> {
    const { token } = await this.#post<{ token: string }>("/tokens", { businessId, ...options });
    return token;
  }

  /** Creates a bill of the first business, or of `businessId` if given. */
  createPayable(payable: Json): Promise<Json & { id: string }> {
    return this.#post("/payables", { businessId: this.#sandbox.business.businessId, ...payable });
  }

  changePayable(id: string, changes: Json): Promise<Json> {
    return this.#post(`/payables/${id}`, changes);
  }

  changeContact(id: string, changes: Json): Promise<Json> {
    return this.#post(`/contacts/${id}`, changes);
  }

  changeBankAccount(id: string, changes: Json): Promise<Json> {
    return this.#post(`/bank-accounts/${id}`, changes);
  }

  changeBusiness(changes: Json, id = this.#sandbox.business.businessId): Promise<Json> {
    return this.#post(`/businesses/${id}`, changes);
  }

  /** Records a payment made by check, wire or cash: of what is owed unless an amount is given. */
  payOutside(payableId: string, amountCents?: number): Promise<Json> {
    return this.#post("/payments", { payableId, amountCents });
  }

  clock(): Promise<ClockReading> {
    return this.#get("/clock");
  }

  /**
   * Lets the bank clock leap by an ISO 8601 duration; what fell due has happened when this returns.
   */
  advance(duration: string): Promise<ClockReading> {
    return this.#post("/clock", { advance: duration });
  }

  /** Sets the bank clock to a later instant. */
  setClock(instant: string): Promise<ClockReading> {
    return this.#post("/clock", { set: instant });
  }

  /** Sets how many bank seconds pass per real second. */
  setScale(scale: number): Promise<ClockReading> {
    return this.#post("/clock", { scale });
  }

  /**
   * Makes the bank clock stand nearly still: what the bank does after some seconds, it does not do
   * while a slow machine still reads the state before.
   */
  slowBank(): Promise<ClockReading> {
    return this.setScale(0.001);
  }

  advanceWire(duration: string): Promise<ClockReading> {
    return this.#post("/clock", { wire: { advance: duration } });
  }

  outcome(rule: OutcomeRule): Promise<Json> {
    return this.#post("/outcomes", rule);
  }

  /** Replaces all fault rules; an empty list clears them. */
  faults(rules: readonly FaultRule[] = [], webhooks?: WebhookFaults): Promise<Json> {
    return this.#post("/faults", { rules, ...(webhooks !== undefined && { webhooks }) });
  }

  async ledger(): Promise<LedgerEntry[]> {
    return (await this.#get<{ items: LedgerEntry[] }>("/ledger")).items;
  }

  async requests(): Promise<LoggedRequest[]> {
    return (await this.#get<{ items: LoggedRequest[] }>("/requests")).items;
  }

  health(): Promise<Json & { ok: boolean }> {
    return this.#get("/health");
  }

  #get<T>(path: string): Promise<T> {
    return this.#call(path, {});
  }

  #post<T>(path: string, body: unknown): Promise<T> {
    return this.#call(path, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  }

  async #call<T>(path: string, init: RequestInit): Promise<T> {
    const response = await fetch(`${this.#sandbox.url}/sandbox${path}`, init);
    const text = await response.text();
    if (!response.ok) {
      throw new Error(`${init.method ?? "GET"} /sandbox${path}: ${response.status} ${text}`);
    }
    return JSON.parse(text) as T;
  }
}
