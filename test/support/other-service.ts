import { createHmac, randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { Book, type Json, type OtherPayable, type OtherPayment } from "./other-service/book.ts";
import type { Answer } from "./other-service/keys.ts";
import { type Asked, Operations } from "./other-service/operations.ts";
import { DIFFERENT, type OtherServiceOptions } from "./other-service/options.ts";
import { eventually } from "./waits.ts";

/**
 * What happens to one money write.
 *
 * The mishaps before the effect come from something in front of the service. `500-after` is the
 * service's own, so its key is final; `dies-after` leaves the key running forever.
 */
export type Mishap =
  | "html-502-before"
  | "html-502-after"
  | "408-before"
  | "302-before"
  | "429-before"
  | "drop-before"
  | "drop-after"
  | "500-after"
  | "dies-after"
  | "cut-off-after";

/** The path under which the service is reached. */
const BASE_PATH = "/pay/v9";

const BEFORE: Readonly<Record<string, Answer>> = {
  "html-502-before": html(502, "Bad Gateway"),
  "408-before": html(408, "Request Timeout"),
  "302-before": { ...html(302, "Found"), headers: { location: "/login" } },
};

/**
 * Starts a Payments Service that follows the specification and chooses differently from the sandbox
 * where the specification is silent.
 */
export async function startOtherService(
  options: Partial<OtherServiceOptions> = {},
): Promise<OtherService> {
  const service = new OtherService({ ...DIFFERENT, ...options });
  await service.start();
  return service;
}

export class OtherService {
  readonly book: Book;
  readonly operations: Operations;
  readonly token = `other.${randomBytes(12).toString("hex")}.token`;
  readonly businessId = "biz/other 1";
  readonly webhookSecret = `whsec_${randomBytes(32).toString("hex")}`;
  url = "";
  /** Money writes that were received, in order. */
  readonly writes: { readonly path: string; readonly key: string | undefined; body: string }[] = [];
  /** What happens to the next money writes, one mishap each. */
  readonly mishaps: Mishap[] = [];
  webhookUrl: string | undefined;
  readonly #options: OtherServiceOptions;
  readonly #server: Server;
  #reads = 0;
  #sequence = 90_000_000_000_000_000_000n;

  constructor(options: OtherServiceOptions) {
    this.#options = options;
    this.book = new Book(options);
    this.operations = new Operations(this.book, options);
    this.#server = createServer((request, response) => {
      void this.#handle(request, response).catch(() => response.destroy());
    });
  }

  async start(): Promise<void> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    const address = this.#server.address();
    if (typeof address !== "object" || address === null) throw new Error("no address");
    this.url = `http://127.0.0.1:${address.port}${BASE_PATH}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }

  /** Creates approved bills, each of a vendor of its own. */
  bills(amounts: readonly number[]): OtherPayable[] {
    const due = new Date(Date.now() + 5 * 86_400_000).toISOString().slice(0, 10);
    return amounts.map((amountCents) => this.book.addPayable(amountCents, due));
  }

  /**
   * Settles a payment, and sends an event of a type that no specification knows and the documented
   * one.
   */
  async settle(paymentId: string): Promise<void> {
    await this.move(paymentId, { status: "completed" }, "payable.payment.cleared_by_bank");
    const payment = this.book.payments.find(({ id }) => id === paymentId);
    await this.event("payable.paid", payment?.payableId ?? "");
  }

  fail(paymentId: string, failureReason: string): Promise<void> {
    return this.move(paymentId, { status: "failed", failureReason }, "payable.payment.failed");
  }

  /** Changes a payment and sends an event about its payable. */
  async move(
    paymentId: string,
    change: { readonly status: string; readonly failureReason?: string },
    eventType: string,
  ): Promise<void> {
    const payment = this.book.payments.find(({ id }) => id === paymentId);
    if (payment === undefined) throw new Error(`no payment ${paymentId}`);
    const at = new Date().toISOString();
    Object.assign(payment, change, { updatedAt: at });
    if (change.status === "completed") payment.processedAt = at;
    await this.event(eventType, payment.payableId);
  }

  async settleAll(): Promise<void> {
    for (const { id } of this.open()) await this.settle(id);
  }

  /** Returns the payments that have not ended, oldest first. */
  open(): OtherPayment[] {
    return this.book.payments.filter(({ status }) => !ENDED.includes(status));
  }

  /** Waits until there is a payment that has not ended. */
  untilOpen(): Promise<void> {
    return eventually("a payment", () => this.open().length > 0);
  }

  /** Waits until that many money writes have been received. */
  untilWrites(count: number): Promise<void> {
    return eventually(`${count} money writes`, () => this.writes.length >= count);
  }

  /** Sends a signed event; its answer must be 2xx. */
  async event(type: string, payableId: string): Promise<void> {
    if (this.webhookUrl === undefined) return;
    this.#sequence += 3n;
    const body = JSON.stringify({
      id: `evt_${randomBytes(8).toString("hex")}`,
      apiVersion: "2031-01",
      type,
      sequence: String(this.#sequence),
      createdAt: new Date().toISOString(),
      businessId: this.businessId,
      data: { object: "payable", id: payableId, changed: ["paymentStatus"] },
    });
    const t = Math.floor(Date.now() / 1000);
    const v1 = createHmac("sha256", this.webhookSecret).update(`${t}.${body}`).digest("hex");
    const response = await fetch(this.webhookUrl, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        "service-signature": `t=${t},v1=${v1}`,
        "user-agent": "Service-Webhooks/1.0",
      },
      body,
    });
    if (!response.ok) throw new Error(`the webhook was refused: ${response.status}`);
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const bodyText = await textOf(request);
    if (request.headers.authorization !== `Bearer ${this.token}`) {
      const body = { statusCode: 401, message: "Unauthorized" };
      return this.#send(response, { status: 401, body });
    }
    const asked = askedBy(request, bodyText);
    if (asked.method === "GET") return this.#read(asked, response);
    this.writes.push({ path: asked.segments.join("/"), key: asked.key, body: bodyText });
    await this.#write(asked, response);
  }

  #read(asked: Asked, response: ServerResponse): void {
    this.#reads += 1;
    const { failingReads } = this.#options;
    const fails = failingReads > 0 && this.#reads % failingReads === 0;
    this.#send(response, fails ? html(503, "Try later") : this.operations.read(asked));
  }

  async #write(asked: Asked, response: ServerResponse): Promise<void> {
    const mishap = this.mishaps.shift();
    const before = mishap === undefined ? undefined : BEFORE[mishap];
    if (before !== undefined) return this.#send(response, before);
    if (mishap === "429-before") return this.#send(response, this.#rateLimited());
    if (mishap === "drop-before") return void response.destroy();
    const answer = this.operations.write(asked, {
      die: mishap === "dies-after",
      ...(mishap === "500-after" ? { status: 500 } : {}),
    });
    if (mishap === "dies-after" || mishap === "drop-after") return void response.destroy();
    if (mishap === "html-502-after") return this.#send(response, html(502, "Bad Gateway"));
    if (mishap === "cut-off-after") {
      return this.#send(response, { ...answer, body: JSON.stringify(answer.body).slice(0, -20) });
    }
    this.#send(response, answer);
  }

  #rateLimited(): Answer {
    const until = new Date(Date.now() + this.#options.dateSkewMs + 2_000);
    const retryAfter = this.#options.retryAfter === "date" ? until.toUTCString() : "2";
    return { ...html(429, "Slow down"), headers: { "retry-after": retryAfter } };
  }

  #send(response: ServerResponse, { status, body, headers }: Answer): void {
    const isHtml = typeof body === "string";
    const json = body === undefined || isHtml ? body : JSON.stringify(body);
    const text = this.#options.centsAsFloats ? json?.replaceAll(CENTS, "$1.0") : json;
    response.writeHead(status, {
      ...(text === undefined ? {} : { "content-type": isHtml ? "text/html" : "application/json" }),
      date: new Date(Date.now() + this.#options.dateSkewMs).toUTCString(),
      ...headers,
    });
    response.end(text);
  }
}

const ENDED: readonly string[] = ["completed", "failed", "returned", "cancelled", "refunded"];

const CENTS = /("\w+Cents":\d+)(?=[,}\]])/g;

function html(status: number, title: string): Answer {
  return { status, body: `<html><h1>${status} ${title}</h1></html>` };
}

function askedBy(request: IncomingMessage, bodyText: string): Asked {
  const url = new URL(request.url ?? "/", "http://service");
  const key = request.headers["idempotency-key"];
  return {
    method: request.method ?? "GET",
    segments: url.pathname.slice(BASE_PATH.length).split("/").slice(1).map(decodeURIComponent),
    query: url.searchParams,
    body: bodyText === "" ? {} : (JSON.parse(bodyText) as Json),
    key: typeof key === "string" ? key : undefined,
  };
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of request) chunks.push(chunk as Uint8Array);
  return Buffer.concat(chunks).toString("utf8");
}
