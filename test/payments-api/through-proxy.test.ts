import { createServer } from "node:https";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { beforeEach, expect, onTestFinished, test, vi } from "vitest";
import {
  PaymentsClient,
  type PaymentsClientOptions,
  TimeLimit,
} from "../../src/payments-api/index.ts";
import { startProxy, useProxies } from "../support/proxy.ts";
import { SERVICE_EXAMPLE } from "../support/service-example.ts";
import { sendJson, startService } from "./local-service.ts";

const WRITE = {
  method: "POST" as const,
  path: "/v1/payments",
  bodyText: "{}",
  idempotencyKey: "k-1",
};
const TARGET = "CONNECT service.example:443";

// The service's certificate is a test's own.
beforeEach(() => void vi.stubEnv("NODE_TLS_REJECT_UNAUTHORIZED", "0"));

function freezeFor(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

interface SecureService {
  readonly port: number;
  readonly keys: string[];
}

/** Starts a service over TLS that answers by `answer`, or breaks the connection off. */
async function startSecureService(answer: "201" | "breaks off" = "201"): Promise<SecureService> {
  const keys: string[] = [];
  const server = createServer(SERVICE_EXAMPLE, (request, response) => {
    keys.push(String(request.headers["idempotency-key"]));
    if (answer === "breaks off") request.socket.destroy();
    else sendJson(response, 201, {});
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, keys };
}

function clientOf(options: Partial<PaymentsClientOptions> = {}): PaymentsClient {
  const baseUrl = "https://service.example";
  const client = new PaymentsClient({ baseUrl, token: { value: "a-token" }, ...options });
  onTestFinished(() => client.close());
  return client;
}

test("a service that only the proxy can reach is reached through a tunnel, with the proxy's credentials", async () => {
  const { port, keys } = await startSecureService();
  const proxy = await startProxy({ "service.example:443": port });
  useProxies({ HTTPS_PROXY: `http://ann:s3%40cret@127.0.0.1:${proxy.port}` });
  const client = clientOf({ connections: 1 });
  for (const idempotencyKey of ["k-1", "k-2"]) {
    expect(await client.sendMoneyWrite({ ...WRITE, idempotencyKey })).toMatchObject({
      status: 201,
    });
  }
  expect(keys).toEqual(["k-1", "k-2"]);
  // The tunnel stays open for the second.
  expect(proxy.asked).toEqual([TARGET]);
  expect(proxy.credentials).toEqual([`Basic ${Buffer.from("ann:s3@cret").toString("base64")}`]);
});

test("a service over plain HTTP is asked for by its whole address, and the proxy doesn't get more", async () => {
  const service = await startService((_received, response) => sendJson(response, 201, {}));
  const proxy = await startProxy({ "service.example:80": Number(new URL(service.baseUrl).port) });
  useProxies({ http_proxy: proxy.url });
  const client = clientOf({ baseUrl: "http://service.example/api" });
  expect(await client.sendMoneyWrite(WRITE)).toMatchObject({ status: 201 });
  expect(proxy.asked).toEqual(["POST http://service.example/api/v1/payments"]);
  expect(service.received).toMatchObject([
    { url: "/api/v1/payments", bodyText: "{}", headers: { host: "service.example" } },
  ]);
});

test("nothing of a write whose time to leave has passed is written into an open tunnel", async () => {
  const { port, keys } = await startSecureService();
  const proxy = await startProxy({ "service.example:443": port });
  useProxies({ HTTPS_PROXY: proxy.url });
  const client = clientOf({ connections: 1 });
  expect(await client.sendMoneyWrite(WRITE)).toMatchObject({ status: 201 });
  const before = proxy.sentBytes();
  const late = await client.sendMoneyWrite({
    ...WRITE,
    idempotencyKey: "late",
    leaveBy: new TimeLimit(40),
    beforeSend: () => freezeFor(80),
  });
  expect(late).toMatchObject({ sent: false, reason: "its time to leave had passed" });
  expect(proxy.sentBytes()).toBe(before);
  expect(await client.sendMoneyWrite({ ...WRITE, idempotencyKey: "next" })).toMatchObject({
    status: 201,
  });
  expect(keys).toEqual(["k-1", "next"]);
});

test("nothing of a write whose time to leave has passed goes to a proxy that forwards", async () => {
  const service = await startService((_received, response) => sendJson(response, 201, {}));
  const proxy = await startProxy({ "service.example:80": Number(new URL(service.baseUrl).port) });
  useProxies({ HTTP_PROXY: proxy.url });
  const client = clientOf({ baseUrl: "http://service.example", connections: 1 });
  expect(await client.sendMoneyWrite(WRITE)).toMatchObject({ status: 201 });
  const late = await client.sendMoneyWrite({
    ...WRITE,
    leaveBy: new TimeLimit(40),
    beforeSend: () => freezeFor(80),
  });
  expect(late).toMatchObject({ sent: false, reason: "its time to leave had passed" });
  expect(await client.sendMoneyWrite(WRITE)).toMatchObject({ status: 201 });
  expect(proxy.asked).toHaveLength(2);
  expect(service.received).toHaveLength(2);
});

test("a write is kept back if its time to leave passes while the tunnel is made", async () => {
  const { port, keys } = await startSecureService();
  const proxy = await startProxy({ "service.example:443": port });
  useProxies({ HTTPS_PROXY: proxy.url });
  const late = await clientOf().sendMoneyWrite({
    ...WRITE,
    leaveBy: new TimeLimit(40),
    beforeSend: () => process.nextTick(() => freezeFor(80)),
  });
  expect(late).toMatchObject({ sent: false, reason: "its time to leave had passed" });
  expect(proxy.asked).toEqual([TARGET]);
  expect(keys).toEqual([]);
});

test("a request whose tunnel breaks off is not sent a second time, and counts as sent", async () => {
  const { port, keys } = await startSecureService("breaks off");
  const proxy = await startProxy({ "service.example:443": port });
  useProxies({ HTTPS_PROXY: proxy.url });
  const answer = await clientOf().sendMoneyWrite(WRITE);
  expect(answer).toMatchObject({ kind: "no-answer", sent: true });
  expect(keys).toEqual(["k-1"]);
});

test("a write that the proxy doesn't let through was certainly not sent", async () => {
  const proxy = await startProxy();
  useProxies({ HTTPS_PROXY: `http://ann:s3cret@127.0.0.1:${proxy.port}` });
  const answer = await clientOf().sendMoneyWrite(WRITE);
  expect(answer).toMatchObject({ kind: "no-answer", sent: false });
  expect(JSON.stringify(answer)).toMatch(/502/);
  expect(JSON.stringify(answer)).not.toContain("s3cret");
  expect(proxy.asked).toEqual([TARGET]);
});

test("a service on this machine is reached directly, whatever the environment says", async () => {
  const service = await startService((_received, response) => sendJson(response, 201, {}));
  const proxy = await startProxy();
  useProxies({ HTTP_PROXY: proxy.url, http_proxy: proxy.url, HTTPS_PROXY: proxy.url });
  expect(await service.client().sendMoneyWrite(WRITE)).toMatchObject({ status: 201 });
  expect(proxy.asked).toEqual([]);
});
