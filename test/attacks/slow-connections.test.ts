import { connect } from "node:net";
import { afterEach, expect, onTestFinished, test } from "vitest";
import { signed, startTestGateway, type TestGateway } from "../gateway/support/gateway.ts";

const LONG_MS = 600_000;
const EACH_MS = 100;

let gateway: TestGateway;
afterEach(() => gateway.stop());

interface Opened {
  write(text: string): void;
  end(): void;
  /** Closes the connection after the written bytes have left. */
  breakOff(): void;
  /** Returns what the gateway has answered so far. */
  answer(): string;
  /** Resolves with the whole answer once the gateway has closed the connection. */
  readonly closed: Promise<string>;
}

/** Sends `beginning`, and then `more` again and again, so that the connection is never idle. */
function open(beginning: string, more = ""): Opened {
  const socket = connect(Number(new URL(gateway.url).port), "127.0.0.1");
  let answer = "";
  socket.on("data", (bytes) => (answer += bytes.toString()));
  socket.on("error", () => undefined);
  const write = (text: string): void => {
    if (text !== "" && socket.writable) socket.write(text);
  };
  const begun = new Promise<void>((resolve) => {
    socket.write(beginning, () => resolve());
  });
  const drip = setInterval(() => write(more), EACH_MS);
  const end = (): void => {
    clearInterval(drip);
    socket.destroy();
  };
  onTestFinished(end);
  const breakOff = (): void => {
    void begun.then(() => setTimeout(end, EACH_MS));
  };
  const closed = new Promise<string>((resolve) => {
    socket.once("close", () => resolve(answer));
  });
  return { write, end, breakOff, answer: () => answer, closed };
}

const health = async (): Promise<number> => (await fetch(`${gateway.url}/health`)).status;

test("a connection whose request never ends is closed, and others are served in the meantime", async () => {
  const limits = { headersTimeoutMs: 2_000, requestTimeoutMs: 3_000 };
  gateway = await startTestGateway({ limits });
  const token = await gateway.token("lou", ["launcher"]);
  const post = (path: string, ...headers: readonly string[]) =>
    [`POST ${path} HTTP/1.1`, "Host: gateway", ...headers, "", ""].join("\r\n");
  const json = "Content-Type: application/json";
  const chunked = "Transfer-Encoding: chunked";
  const endless = [
    open(""),
    open("GET /", "a"),
    open("GET /health HTTP/1.1\r\nHost: gateway\r\n", "X-More: 1\r\n"),
    open("GET /health HTTP/1.1\r\nHost: gateway\r\n\r\nGET /health HTTP/1.1\r\n", "X-More: 1\r\n"),
    open(post("/v1/plans", json, `Authorization: Bearer ${token}`, "Content-Length: 1000000"), " "),
    open(post("/webhooks/acme", json, `Service-Signature: ${signed("")}`, chunked), "1\r\n \r\n"),
  ];
  expect(await health()).toBe(200);
  for (const { closed } of endless) expect(await closed).toMatch(/^$|HTTP\/1\.1 408 /);
  expect(await health()).toBe(200);
});

test("connections above the limit are closed, and ended ones make room", async () => {
  const limits = { connections: 3, headersTimeoutMs: LONG_MS, requestTimeoutMs: LONG_MS };
  gateway = await startTestGateway({ limits });
  const [one, ...others] = [1, 2, 3].map(() => open("GET /health HTTP/1.1\r\n"));
  expect(await open("GET /health HTTP/1.1\r\nHost: gateway\r\n\r\n").closed).toBe("");
  one?.write("Host: gateway\r\n\r\n");
  await expect.poll(() => one?.answer()).toMatch(/^HTTP\/1\.1 200 /);
  for (const each of others) each.end();
  await expect.poll(() => health().catch(() => 0)).toBe(200);
});

test("a body that its sender breaks off, signed or not, is not logged as a failure", async () => {
  gateway = await startTestGateway();
  const token = await gateway.token("lou", ["launcher"]);
  const heads = [
    ["POST /webhooks/acme", `Service-Signature: ${signed("")}`],
    ["POST /v1/plans", `Authorization: Bearer ${token}`],
  ];
  for (const [request, header] of heads) {
    const lines = [
      `${request} HTTP/1.1`,
      "Host: gateway",
      header,
      "Content-Type: application/json",
    ];
    open([...lines, "Content-Length: 1000", "", "{"].join("\r\n")).breakOff();
  }
  const counted = async () => (await gateway.call("GET", "/metrics", token)).text;
  await expect
    .poll(counted)
    .toMatch(/payrun_gateway_request_seconds_count\{[^}]*plans[^}]*status="400"\} 1/);
  await expect.poll(counted).toMatch(/payrun_webhooks_total\{result="incomplete_body"\} 1/);
  expect(gateway.logged.filter((line) => line.startsWith("request failed"))).toEqual([]);
});
