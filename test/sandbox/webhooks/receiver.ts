import { createHmac } from "node:crypto";
import {
  createServer,
  type IncomingHttpHeaders,
  type Server,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "vitest";
import type { ApiAnswer, Json, TestSandbox } from "../../support/sandbox.ts";
import { eventually } from "../../support/waits.ts";

/** A request as it was received. */
export interface Received {
  headers: IncomingHttpHeaders;
  body: string;
  event: {
    id: string;
    type: string;
    sequence: string;
    data: { object: string; id: string };
  } & Json;
}

type Respond = (response: ServerResponse, received: Received) => void;

/** An HTTP server that keeps what it receives; a test sets its response. */
export class Receiver {
  readonly received: Received[] = [];
  respond: Respond = (response) => response.writeHead(204).end();
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(): Promise<Receiver> {
    const server = createServer();
    const receiver = new Receiver(server);
    server.on("request", (request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => {
        const body = Buffer.concat(chunks).toString("utf8");
        const event = JSON.parse(body) as Received["event"];
        const received = { headers: request.headers, body, event };
        receiver.received.push(received);
        receiver.respond(response, received);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/hooks`;
  }

  answer(status: number, body = ""): void {
    this.respond = (response) => response.writeHead(status).end(body);
  }

  async until(count: number): Promise<Received[]> {
    await eventually(`${count} requests arrive`, () => this.received.length >= count);
    return this.received;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

export interface Endpoint extends Json {
  id: string;
  url: string;
  status: string;
  secret: string;
}

export interface Delivery extends Json {
  id: string;
  status: string;
  attemptCount: number;
  nextAttemptAt: string | null;
  lastError: string | null;
  requestBody: string;
}

/** The webhook operations for tests. */
export class WebhookApi {
  readonly #sandbox: TestSandbox;

  constructor(sandbox: TestSandbox) {
    this.#sandbox = sandbox;
  }

  async create(url: string, events?: string[]): Promise<Endpoint> {
    const body = { url, ...(events === undefined ? {} : { events }) };
    const answer = await this.#sandbox.api<Endpoint>("POST", "/v1/webhook-endpoints", { body });
    expect(answer.status).toBe(201);
    return answer.body;
  }

  async get(id: string): Promise<Endpoint> {
    return (await this.#sandbox.api<Endpoint>("GET", `/v1/webhook-endpoints/${id}`)).body;
  }

  update(id: string, body: Json): Promise<ApiAnswer<Endpoint>> {
    return this.#sandbox.api<Endpoint>("PATCH", `/v1/webhook-endpoints/${id}`, { body });
  }

  async deliveries(id: string, query = "pageSize=100"): Promise<Delivery[]> {
    const path = `/v1/webhook-endpoints/${id}/deliveries?${query}`;
    const { body } = await this.#sandbox.api<{ items: Delivery[] }>("GET", path);
    return body.items;
  }

  /** Waits until the endpoint's newest delivery has a status. @returns the delivery */
  async settled(id: string, status: string): Promise<Delivery> {
    await eventually(
      `the newest delivery is ${status}`,
      async () => (await this.deliveries(id))[0]?.status === status,
    );
    const [newest] = await this.deliveries(id);
    if (newest === undefined) throw new Error("there is no delivery");
    return newest;
  }
}

/** Resets a sandbox and gives it a token that outlives every step of the wire clock. */
export async function resetWithLongToken(sandbox: TestSandbox): Promise<void> {
  const [business] = await sandbox.control.reset();
  if (business === undefined) throw new Error("the fixture has no business");
  business.token = await sandbox.control.token(business.businessId, {
    expiresInSeconds: 100_000_000,
  });
}

/** Checks a request's signature against a secret; `t` is the signing time in seconds. */
export function checkSignature(received: Received, secret: string): { valid: boolean; t: number } {
  const text = String(received.headers["service-signature"]);
  const [, t = "", v1 = ""] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(text) ?? [];
  const expected = createHmac("sha256", secret).update(`${t}.${received.body}`).digest("hex");
  return { valid: v1 === expected, t: Number(t) };
}
