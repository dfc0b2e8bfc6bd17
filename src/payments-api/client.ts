import { parseAnswer } from "./answers.ts";
import { checkIdempotencyKey, Requester } from "./requester.ts";
import { Accounting } from "./resources/accounting.ts";
import { BalanceResource } from "./resources/balance.ts";
import { BankAccounts } from "./resources/bank-accounts.ts";
import { Businesses } from "./resources/businesses.ts";
import { Contacts } from "./resources/contacts.ts";
import { Deliveries } from "./resources/deliveries.ts";
import { FundingSources } from "./resources/funding-sources.ts";
import { Invoices } from "./resources/invoices.ts";
import { Officers } from "./resources/officers.ts";
import { Payables } from "./resources/payables.ts";
import { Payments } from "./resources/payments.ts";
import { VerificationResource } from "./resources/verification.ts";
import { WebhookEndpoints } from "./resources/webhook-endpoints.ts";
import { TokenProvider, type TokenSource } from "./token.ts";
import { type CallOptions, type NoAnswer, Transport } from "./transport.ts";

export interface PaymentsClientOptions {
  /** `http://` or `https://`, with or without a path; no credentials, query or fragment. */
  baseUrl: string;
  token: TokenSource;
  /**
   * The time limit of each request, from the call to the last byte of the response. 30,000 unless
   * given.
   */
  timeoutMs?: number;
  /**
   * Requests in flight at once; others wait their turn within their time limit. 80 unless given.
   */
  connections?: number;
  /** The service's clock in epoch milliseconds, for token expiry and `Retry-After`. */
  now?: () => number;
  /**
   * Called when the service limits the rate, with the time until which to send nothing. Must not
   * throw.
   */
  onRateLimit?: (untilMs: number) => void;
  /** Called with the service's time for each response that has a `Date` header. Must not throw. */
  onDate?: (dateMs: number) => void;
}

/** A money write as the ledger has recorded it. */
interface MoneyWrite extends CallOptions {
  method: "POST";
  /** Such as `/v1/payments`. */
  path: string;
  /** Sent byte for byte; undefined or empty for a request without a body. */
  bodyText?: string | undefined;
  /** 1 to 64 visible ASCII characters. */
  idempotencyKey: string;
}

/** The response to a money write; the ledger decides what it means. */
export type MoneyWriteAnswer =
  | {
      kind: "http";
      status: number;
      /** The parsed JSON; undefined if the body is not JSON. */
      body: unknown;
      /** The first 4,096 characters, for the record. */
      bodyText: string;
      /** The service's time, from the `Date` header. */
      headersDateMs: number | undefined;
      retryAfterMs: number | undefined;
    }
  | NoAnswer;

/**
 * The typed client of the Payments Service (API specification). It sends every write at most once
 * and never under another key; only a read is repeated, once, if its token was refused. Tokens
 * appear in nothing that it returns, throws or shows.
 */
export class PaymentsClient {
  readonly contacts: Contacts;
  readonly payables: Payables;
  readonly payments: Payments;
  readonly invoices: Invoices;
  readonly bankAccounts: BankAccounts;
  readonly fundingSources: FundingSources;
  readonly balance: BalanceResource;
  readonly webhookEndpoints: WebhookEndpoints;
  readonly deliveries: Deliveries;
  readonly businesses: Businesses;
  readonly verification: VerificationResource;
  readonly officers: Officers;
  readonly accounting: Accounting;
  readonly #transport: Transport;
  readonly #tokens: TokenProvider;

  /** @throws {TypeError} for an unusable base URL */
  constructor(options: PaymentsClientOptions) {
    const now = options.now ?? Date.now;
    this.#tokens = new TokenProvider(options.token, now);
    this.#transport = new Transport({
      baseUrl: parseBaseUrl(options.baseUrl),
      tokens: this.#tokens,
      timeoutMs: options.timeoutMs ?? 30_000,
      connections: options.connections ?? 80,
      now,
      onDate: options.onDate,
      onRateLimit: options.onRateLimit,
    });
    const requester = new Requester(this.#transport);
    this.contacts = new Contacts(requester);
    this.payables = new Payables(requester);
    this.payments = new Payments(requester);
    this.invoices = new Invoices(requester);
    this.bankAccounts = new BankAccounts(requester);
    this.fundingSources = new FundingSources(requester);
    this.balance = new BalanceResource(requester);
    this.webhookEndpoints = new WebhookEndpoints(requester);
    this.deliveries = new Deliveries(requester);
    this.businesses = new Businesses(requester);
    this.verification = new VerificationResource(requester);
    this.officers = new Officers(requester);
    this.accounting = new Accounting(requester);
  }

  /**
   * Sends a recorded money write, exactly once and exactly as given, and reports whatever the
   * result is. Nothing that the service, the network or `beforeSend` does makes it throw.
   *
   * @throws {TypeError} for a key or path that can't be sent
   */
  async sendMoneyWrite(write: MoneyWrite): Promise<MoneyWriteAnswer> {
    checkIdempotencyKey(write.idempotencyKey);
    if (!/^\/[\x21-\x7e]*$/.test(write.path)) {
      throw new TypeError('path must begin with "/" and be encoded');
    }
    const answer = await this.#transport.send({ ...write, bodyText: write.bodyText || undefined });
    if (answer.kind === "no-answer") return answer;
    const { status, headersDateMs, retryAfterMs } = answer;
    return {
      kind: "http",
      status,
      body: parseAnswer(answer.bodyText).body,
      bodyText: answer.bodyText.slice(0, 4096),
      headersDateMs,
      retryAfterMs,
    };
  }

  /** Forgets the token, so that the next request fetches it from its source. */
  invalidateToken(): void {
    this.#tokens.invalidate();
  }

  /** Waits for requests in flight, then closes the connections. */
  close(): Promise<void> {
    return this.#transport.close();
  }
}

function parseBaseUrl(text: string): URL {
  const url = URL.parse(text);
  if (url === null || (url.protocol !== "http:" && url.protocol !== "https:")) {
    throw new TypeError(`${shown(text)} is not an address of the Payments Service: http(s)://host`);
  }
  if (url.username !== "" || url.password !== "") {
    throw new TypeError("the address of the Payments Service must not hold a user or password");
  }
  if (url.search !== "" || url.hash !== "") {
    throw new TypeError(`${shown(text)} must not have a query or fragment`);
  }
  return url;
}

/** An address with an "@" may contain a password. */
function shown(text: string): string {
  return text.includes("@") ? "the given text" : `"${text}"`;
}
