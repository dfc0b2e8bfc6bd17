import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import { PaymentsClient, type PaymentsClientOptions } from "../../src/payments-api/index.ts";

export interface Received {
  method: string;
  url: string;
  headers: IncomingMessage["headers"];
  bodyText: string;
}

export type Answer = (
  received: Received,
  response: ServerResponse,
  index: number,
) => void | Promise<void>;

export interface LocalService {
  baseUrl: string;
  /** Everything that reached the service, in order. */
  received: Received[];
  client: (options?: Partial<PaymentsClientOptions>) => PaymentsClient;
}

/** Starts a real HTTP server that answers by `answer`; closes it and its clients after the test. */
export async function startService(answer: Answer): Promise<LocalService> {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("error", () => undefined);
    request.on("end", () => {
      const entry = {
        method: request.method ?? "",
        url: request.url ?? "",
        headers: request.headers,
        bodyText: Buffer.concat(chunks).toString("utf8"),
      };
      received.push(entry);
      void answer(entry, response, received.length - 1);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const baseUrl = `http://127.0.0.1:${port}`;
  const clients: PaymentsClient[] = [];
  onTestFinished(async () => {
    server.closeAllConnections();
    await Promise.all(clients.map((client) => client.close()));
    await new Promise((resolve) => server.close(resolve));
  });
  return {
    baseUrl,
    received,
    client: (options = {}) => {
      const client = new PaymentsClient({ baseUrl, token: { value: "test-token" }, ...options });
      clients.push(client);
      return client;
    },
  };
}

export function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify(body));
}

/** Returns a payment as the service would send it. */
export function payment(id: string, fields: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    id,
    status: "scheduled",
    amountCents: 12_500,
    contactId: "con_1",
    payableId: "pay_1",
    bankAccountId: "ba_1",
    paymentRail: "PROVIDER",
    scheduledAt: "2026-11-23T14:00:00Z",
    processedAt: null,
    failureReason: null,
    createdAt: "2026-11-21T10:00:00Z",
    updatedAt: "2026-11-21T10:00:00Z",
    ...fields,
  };
}

/** Returns what the promise was rejected with; throws if it was not rejected. */
export async function rejection(promise: Promise<unknown>): Promise<unknown> {
  let value: unknown;
  try {
    value = await promise;
  } catch (error) {
    return error;
  }
  throw new Error(`expected a rejection, got ${JSON.stringify(value)}`);
}
