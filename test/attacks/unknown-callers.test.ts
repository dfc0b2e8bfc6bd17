import { connect, type Socket } from "node:net";
import { afterEach, describe, expect, test, vi } from "vitest";
import {
  deliver,
  eventBody,
  signed,
  startTestGateway,
  type TestGateway,
  type TestGatewayOptions,
} from "../gateway/support/gateway.ts";
import { listAudit, STORE_TRAIL } from "../../src/store/audit/audit.ts";
import { isLong } from "../support/long.ts";

let gateway: TestGateway;
afterEach(async () => gateway.stop());

async function start(options: TestGatewayOptions = {}): Promise<void> {
  gateway = await startTestGateway(options);
}

/** Returns the answer to a request that sends only its head, until the connection is closed. */
async function answerToHead(head: readonly string[]): Promise<string> {
  const socket = connect(Number(new URL(gateway.url).port), "127.0.0.1");
  socket.write([...head, "Host: gateway", "Content-Type: application/json", "", ""].join("\r\n"));
  return untilClosed(socket);
}

async function untilClosed(socket: Socket): Promise<string> {
  let text = "";
  socket.on("data", (bytes) => (text += bytes.toString()));
  return new Promise((resolve) => {
    socket.once("error", () => resolve(text));
    socket.once("close", () => resolve(text));
  });
}

const LENGTH = "Content-Length: 1000000";
const CHUNKS = "Transfer-Encoding: chunked";

describe("refusing a request before its body", () => {
  test.each([
    ["without a token", "POST /v1/plans", [LENGTH], 401],
    ["with an unknown token", "POST /v1/plans", [LENGTH, "Authorization: Bearer guess"], 401],
    [
      "with an unknown token, in chunks",
      "POST /v1/plans",
      [CHUNKS, "Authorization: Bearer x"],
      401,
    ],
    ["with a role that may not", "POST /v1/plans", [LENGTH, "Authorization: Bearer VIEWER"], 403],
    [
      "with a role that doesn't decide about this bill",
      "POST /v1/payables/p1/resolution",
      [LENGTH, "Authorization: Bearer VIEWER"],
      403,
    ],
    [
      "with more than the route takes",
      "POST /v1/plans",
      ["Content-Length: 1048577", "Authorization: Bearer LAUNCHER"],
      413,
    ],
    ["to nowhere", "POST /v1/nothing", [LENGTH], 404],
    ["for an endpoint that is none", "POST /webhooks/nobody", [LENGTH], 404],
    ["as a webhook without a signature", "POST /webhooks/acme", [CHUNKS], 401],
    ["as an old webhook", "POST /webhooks/acme", [LENGTH, "Service-Signature: OLD"], 401],
    [
      "as a webhook above 1 MB",
      "POST /webhooks/acme",
      ["Content-Length: 1048577", "Service-Signature: NEW"],
      413,
    ],
  ])(
    "a request %s is refused and closed before its body arrives",
    async (_what, request, headers, status) => {
      await start();
      const values: Readonly<Record<string, string>> = {
        VIEWER: await gateway.token("vic", ["viewer"]),
        LAUNCHER: await gateway.token("lou", ["launcher"]),
        OLD: signed("", Date.now() - 360_000),
        NEW: signed(""),
      };
      const filled = headers.map((line) =>
        line.replace(/VIEWER|LAUNCHER|OLD|NEW/, (name) => values[name] ?? name),
      );
      const answer = await answerToHead([`${request} HTTP/1.1`, ...filled]);
      expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
      expect(answer.toLowerCase()).toContain("connection: close");
      expect(answer.toLowerCase()).toContain("cache-control: no-store");
    },
  );
});

/** Sends a body in chunks, without its length. */
async function inChunks(path: string, headers: Record<string, string>, body: string) {
  return fetch(`${gateway.url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: new Blob([body]).stream(),
    duplex: "half",
    redirect: "manual",
  } as RequestInit);
}

test("a webhook, an operation's JSON and a form may arrive in chunks", async () => {
  await start();
  const body = eventBody({});
  const webhook = await inChunks("/webhooks/acme", { "service-signature": signed(body) }, body);
  expect(webhook.status).toBe(200);
  const bearer = { authorization: `Bearer ${await gateway.token("ola", ["operator"])}` };
  const hold = JSON.stringify({ all: true, reason: "in chunks" });
  expect((await inChunks("/v1/holds", bearer, hold)).status).toBe(201);
  const form = { "content-type": "application/x-www-form-urlencoded", origin: gateway.url };
  // The form is read: its code is what is refused.
  expect((await inChunks("/sign-in", form, "code=guess")).status).toBe(401);
});

test("a body in chunks is read up to the cap, and refused above it", async () => {
  await start();
  const bearer = { authorization: `Bearer ${await gateway.token("ola", ["operator"])}` };
  const holdOf = (bytes: number) => {
    const empty = JSON.stringify({ all: true, reason: "" }).length;
    return JSON.stringify({ all: true, reason: "x".repeat(bytes - empty) });
  };
  const [most, more] = [await inChunks("/v1/holds", bearer, holdOf(1_048_576)), holdOf(1_048_577)];
  expect(most.status).toBe(400);
  expect(await most.text()).toContain("reason");
  const refused = await inChunks("/v1/holds", bearer, more);
  expect(refused.status).toBe(413);
  expect(await refused.json()).toMatchObject({ error: "too_large" });
});

describe("too many requests", () => {
  test.each([
    [
      "of one token",
      { ratePerToken: 1 },
      async () => gateway.call("GET", "/v1/runs", await viewer()),
    ],
    ["of one address", { ratePerAddress: 1 }, async () => gateway.call("GET", "/v1/runs", "guess")],
    [
      "of one address, below the webhooks' addresses too",
      { ratePerAddress: 1 },
      async () => gateway.call("GET", "/webhooks/acme/more", null),
    ],
    [
      "to one endpoint",
      { webhookRate: 1 },
      async () => deliver(gateway.url, eventBody({}), { signature: null }),
    ],
  ])(
    "too many requests %s are answered with 429 and when to come back",
    async (_what, limits, ask) => {
      await start({ limits });
      kept = undefined;
      const statuses: number[] = [];
      for (let times = 0; times < 11; times += 1) statuses.push((await ask()).status);
      expect(statuses.slice(0, 10)).not.toContain(429);
      expect(statuses[10]).toBe(429);
      expect(Number((await ask()).headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
    },
  );
});

test("callers behind a trusted proxy are limited separately; other senders' headers are ignored", async () => {
  const ask = (from: string) =>
    fetch(`${gateway.url}/v1/runs`, { headers: { "x-forwarded-for": from } });
  const rush = async () => {
    for (let times = 0; times < 10; times += 1) await ask("203.0.113.7");
    return [(await ask("203.0.113.7")).status, (await ask("203.0.113.8")).status];
  };
  await start({ limits: { ratePerAddress: 1, trustedProxies: ["127.0.0.0/8"] } });
  expect(await rush()).toEqual([429, 401]);
  await gateway.stop();
  await start({ limits: { ratePerAddress: 1 } });
  expect(await rush()).toEqual([429, 429]);
});

test("the page of a 429 still gets its stylesheet", async () => {
  await start({ limits: { ratePerAddress: 1 } });
  const browser = { headers: { accept: "text/html" } };
  let page = await fetch(gateway.url, browser);
  for (let times = 0; times < 11; times += 1) page = await fetch(gateway.url, browser);
  expect(page.status).toBe(429);
  const [, stylesheet = ""] = /rel="stylesheet" href="([^"]+)"/.exec(await page.text()) ?? [];
  expect((await fetch(`${gateway.url}${stylesheet}`)).status).toBe(200);
  expect((await fetch(`${gateway.url}/console/more/style.css`)).status).toBe(429);
});

let kept: string | undefined;
async function viewer(): Promise<string> {
  return (kept ??= await gateway.token("vic", ["viewer"]));
}

test("connections above an address's limit are closed, and ended ones make room", async () => {
  await start({ limits: { connectionsPerAddress: 3 } });
  const port = Number(new URL(gateway.url).port);
  const open = await Promise.all(
    [1, 2, 3].map(
      () =>
        new Promise<Socket>((resolve) => {
          const socket = connect(port, "127.0.0.1", () => resolve(socket));
        }),
    ),
  );
  expect(await untilClosed(connect(port, "127.0.0.1"))).toBe("");
  for (const socket of open) socket.destroy();
  await expect
    .poll(async () =>
      fetch(`${gateway.url}/health`).then(
        (answer) => answer.status,
        () => 0,
      ),
    )
    .toBe(200);
});

test("behind a trusted proxy, the trail has the caller's own address for a token's use", async () => {
  await start({ limits: { trustedProxies: ["127.0.0.1"] } });
  const token = await gateway.token("vic", ["viewer"]);
  const headers = { authorization: `Bearer ${token}`, "x-forwarded-for": "203.0.113.7" };
  expect((await fetch(`${gateway.url}/v1/runs`, { headers })).status).toBe(200);
  await expect
    .poll(() => listAudit(gateway.store.db, { businessId: STORE_TRAIL }))
    .toContainEqual(
      expect.objectContaining({
        action: "token.used",
        details: expect.objectContaining({ from: "203.0.113.7" }),
      }),
    );
});

test("a trusted proxy is not subject to the limit of connections per address", async () => {
  await start({ limits: { connectionsPerAddress: 1, trustedProxies: ["127.0.0.1"] } });
  const answers = await Promise.all(
    Array.from({ length: 8 }, () => answerToHead(["GET /health HTTP/1.1", "Connection: close"])),
  );
  for (const answer of answers) expect(answer).toMatch(/^HTTP\/1.1 200 /);
});

test("the API's description is generated only once, however often it is read", async () => {
  await start();
  const made = vi.spyOn(gateway.gateway.app, "getOpenAPI31Document");
  const texts = [];
  for (let times = 0; times < 3; times += 1) {
    texts.push((await gateway.call("GET", "/openapi.json", null)).text);
  }
  expect(new Set(texts).size).toBe(1);
  expect(made).toHaveBeenCalledTimes(1);
});

test("thousands of refused requests of all kinds add at most 100 entries to the trail, and no decision", async () => {
  const rate = 100_000;
  await start({ limits: { ratePerToken: rate, ratePerAddress: rate, webhookRate: rate } });
  const token = await gateway.token("vic", ["viewer"]);
  const entries = async (): Promise<number> =>
    (await gateway.store.db.selectFrom("audit").select("audit_id").execute()).length;
  const before = await entries();
  const body = { all: true, reason: "x".repeat(1_000) };
  const kinds: readonly ((times: number) => Promise<{ status: number }>)[] = [
    (times) => gateway.call("POST", "/v1/holds", `guess_${times}`, body),
    (times) => gateway.call("DELETE", `/v1/holds/h${times}`, token),
    (times) => gateway.call("POST", `/v1/runs/r${times}/cancel`, token, body),
    () => gateway.call("POST", "/v1/plans", token, body),
    () => gateway.call("POST", "/v1/playbooks", token, body),
    () => deliver(gateway.url, eventBody({}), { signature: null }),
    () => deliver(gateway.url, eventBody({}), { signature: signed("another") }),
    () => gateway.call("GET", "/v1/plans/p", token),
  ];
  for (let round = 0; round < (isLong ? 10_000 : 2_000); round += 40) {
    const answers = await Promise.all(
      Array.from({ length: 40 }, async (_, at) => kinds[at % kinds.length]?.(round + at)),
    );
    for (const answer of answers) expect([401, 403]).toContain(answer?.status);
  }
  expect((await entries()) - before).toBeLessThanOrEqual(100);
  expect(await gateway.store.db.selectFrom("decisions").selectAll().execute()).toEqual([]);
});
