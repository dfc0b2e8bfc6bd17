import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect } from "vitest";
import type { TestSandbox } from "../../support/sandbox.ts";
import { sharedSandboxTest } from "../sandbox-test.ts";

const it = sharedSandboxTest();
it.afterEach(async ({ sandbox }) => {
  expect((await sandbox.api("GET", "/v1/contacts")).status).toBe(200);
});

function connectTo(sandbox: TestSandbox): Socket {
  const { hostname, port } = new URL(sandbox.url);
  return connect(Number(port), hostname);
}

/** Sends parts one after another over a new socket. @returns everything that was received. */
async function exchange(
  sandbox: TestSandbox,
  parts: readonly (string | Buffer)[],
  pauseMs = 0,
): Promise<string> {
  const socket = connectTo(sandbox);
  const chunks: Buffer[] = [];
  socket.on("data", (chunk) => chunks.push(chunk));
  socket.on("error", () => {});
  const closed = once(socket, "close");
  await once(socket, "connect");
  for (const part of parts) {
    if (socket.writable) socket.write(part);
    if (pauseMs > 0) await sleep(pauseMs);
  }
  await closed;
  return Buffer.concat(chunks).toString("utf8");
}

function head(
  sandbox: TestSandbox,
  method: string,
  path: string,
  headers: readonly string[],
): string {
  const all = [
    "Host: sandbox",
    `Authorization: Bearer ${sandbox.business.token}`,
    "Connection: close",
    ...headers,
  ];
  return `${method} ${path} HTTP/1.1\r\n${all.join("\r\n")}\r\n\r\n`;
}

function statusOf(answer: string): number {
  return Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1]);
}

function bodyOf(answer: string): unknown {
  return JSON.parse(answer.slice(answer.indexOf("\r\n\r\n") + 4));
}

const shape = { error: expect.any(String), message: expect.any(String) };
const json = "Content-Type: application/json";

describe("malformed HTTP gets an error of the documented shape, and a closed connection", () => {
  it.for<[string, string, number]>([
    ["no HTTP at all", "hello\r\n\r\n", 400],
    ["TLS on a plain port", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 400],
    ["a broken request line", "GET\r\n\r\n", 400],
    ["a header without a name", "GET /v1/contacts HTTP/1.1\r\nHost: x\r\n: y\r\n\r\n", 400],
    ["an unknown method", "BREW /v1/contacts HTTP/1.1\r\nHost: x\r\n\r\n", 400],
    [
      "two lengths",
      "POST /v1/contacts HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
      400,
    ],
    [
      "a length beside chunks",
      "POST /v1/contacts HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      400,
    ],
    ["headers without end", `GET / HTTP/1.1\r\nX: ${"x".repeat(40_000)}\r\n\r\n`, 431],
  ])(
    "malformed HTTP gets an error of the documented shape: %s",
    async ([_, request, status], { sandbox }) => {
      const answer = await exchange(sandbox, [request]);
      expect(statusOf(answer)).toBe(status);
      expect(bodyOf(answer)).toMatchObject(shape);
    },
  );

  it("malformed chunks get a 400 or no response at all", async ({ sandbox }) => {
    const answer = await exchange(sandbox, [
      head(sandbox, "POST", "/v1/contacts", [json, "Transfer-Encoding: chunked"]),
      "zz\r\nnothing\r\n",
    ]);
    expect([400, Number.NaN]).toContain(statusOf(answer));
  });
});

describe("odd but proper HTTP is answered", () => {
  const body = '{"displayName":"Raw"}';

  it("a request with two Idempotency-Key headers is refused, even if the keys are equal", async ({
    sandbox,
  }) => {
    for (const keys of [
      ["one", "two"],
      ["same", "same"],
    ]) {
      const answer = await exchange(sandbox, [
        head(sandbox, "POST", "/v1/contacts", [
          json,
          ...keys.map((key) => `Idempotency-Key: ${key}`),
          `Content-Length: ${body.length}`,
        ]),
        body,
      ]);
      expect(statusOf(answer)).toBe(400);
      expect(answer).toContain("Only one Idempotency-Key");
    }
  });

  it("an idempotency key with a comma counts as one key", async ({ sandbox }) => {
    const headers = [json, "Idempotency-Key: a, b", `Content-Length: ${body.length}`];
    expect(
      statusOf(await exchange(sandbox, [head(sandbox, "POST", "/v1/contacts", headers), body])),
    ).toBe(201);
  });

  it("a body that comes byte by byte is read to its end", async ({ sandbox }) => {
    const slow = '{"displayName":"Slow"}';
    const headers = [json, `Content-Length: ${slow.length}`];
    const answer = await exchange(
      sandbox,
      [head(sandbox, "POST", "/v1/contacts", headers), ...slow.split("")],
      5,
    );
    expect(statusOf(answer)).toBe(201);
  });

  const mebibyte = 1_048_576;
  const size = 2 * mebibyte;
  it.for([
    ["announced", `Content-Length: ${size}`, "", ""],
    ["in chunks", "Transfer-Encoding: chunked", `${size.toString(16)}\r\n`, "\r\n0\r\n\r\n"],
  ] as const)(
    "a body that is too large is read to its end before it is refused, so that its sender sees the answer: %s",
    async ([_, header, before, after], { sandbox }) => {
      const socket = connectTo(sandbox);
      let answer = "";
      socket.setEncoding("utf8").on("data", (chunk: string) => (answer += chunk));
      const closed = once(socket, "close");
      const half = Buffer.alloc(mebibyte, "x");
      socket.write(head(sandbox, "POST", "/v1/contacts", [json, header]) + before);
      for (const part of [half, half.subarray(1)]) {
        await new Promise((written) => socket.write(part, written));
        await sandbox.api("GET", "/v1/contacts");
        expect(answer).toBe("");
      }
      socket.write(`x${after}`);
      await closed;
      expect(statusOf(answer)).toBe(413);
      expect(bodyOf(answer)).toMatchObject({ ...shape, error: "payload_too_large" });
    },
  );

  it("a client that waits for 100 Continue gets it", async ({ sandbox }) => {
    const patient = '{"displayName":"Patient"}';
    const headers = [json, "Expect: 100-continue", `Content-Length: ${patient.length}`];
    const answer = await exchange(
      sandbox,
      [head(sandbox, "POST", "/v1/contacts", headers), patient],
      20,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 201 /);
  });

  it("an expectation that the service can't meet is refused with 417", async ({ sandbox }) => {
    const headers = [json, "Expect: miracles", "Content-Length: 0"];
    const answer = await exchange(sandbox, [head(sandbox, "POST", "/v1/contacts", headers)]);
    expect(statusOf(answer)).toBe(417);
  });

  it("pipelined requests in one packet are answered in order", async ({ sandbox }) => {
    const get = head(sandbox, "GET", "/v1/balance", []).replace("Connection: close\r\n", "");
    const last = head(sandbox, "GET", "/v1/payables", []);
    const answer = await exchange(sandbox, [get + get + last]);
    expect(answer.match(/HTTP\/1\.1 200/g)).toHaveLength(3);
    expect(answer.lastIndexOf("totalCount")).toBeGreaterThan(answer.lastIndexOf("availableCents"));
  });

  it("a request whose body breaks off has no effect", async ({ sandbox }) => {
    const socket = connectTo(sandbox);
    await once(socket, "connect");
    socket.write(
      head(sandbox, "POST", "/v1/contacts", [json, "Content-Length: 1000"]) + '{"displayName":',
    );
    await sleep(20);
    socket.destroy();
    const found = await sandbox.api("GET", "/v1/contacts?search=displayName");
    expect(found.body["totalCount"]).toBe(0);
  });
});
