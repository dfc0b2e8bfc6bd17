import { createServer, type Server } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { listAudit } from "../../src/store/audit/audit.ts";
import type { Json } from "../support/sandbox.ts";
import { until } from "../support/waits.ts";
import {
  deliver,
  eventBody,
  profile,
  SECRET,
  signed,
  startTestGateway,
  type TestGateway,
} from "./support/gateway.ts";

let gateway: TestGateway;

async function inbox(): Promise<{ event_id: string; body: string; via: string }[]> {
  return gateway.store.db
    .selectFrom("inbox")
    .select(["event_id", "body", "via"])
    .orderBy("event_id")
    .execute();
}

describe("the webhook receiver", () => {
  beforeEach(async () => {
    gateway = await startTestGateway({
      profiles: [
        profile({ webhookSecrets: ["whsec_old", SECRET] }),
        profile({ name: "globex", businessId: "biz_globex", webhookSecrets: [] }),
      ],
    });
  });
  afterEach(async () => gateway.stop());

  test("a signed event is kept byte for byte and answered with 2xx while Temporal is down", async () => {
    const body = eventBody({ id: "evt_a" }).replace(",", ",  ");
    const answer = await deliver(gateway.url, body);
    expect(answer.status).toBe(200);
    expect(answer.json).toEqual({ eventId: "evt_a", duplicate: false });
    expect(await inbox()).toEqual([{ event_id: "evt_a", body, via: "webhook" }]);
  });

  test("an event that is delivered several times is kept once", async () => {
    const body = eventBody({ id: "evt_a" });
    const answers = await Promise.all([1, 2, 3].map(() => deliver(gateway.url, body)));
    expect(answers.map((answer) => answer.status)).toEqual([200, 200, 200]);
    expect(answers.filter((answer) => answer.json["duplicate"] === false)).toHaveLength(1);
    expect(await inbox()).toHaveLength(1);
  });

  test("an event signed with any of the business's secrets is accepted", async () => {
    const body = eventBody({});
    const signature = signed(body, Date.now(), "whsec_old");
    expect((await deliver(gateway.url, body, { signature })).status).toBe(200);
  });

  test("events of unknown types and objects are accepted", async () => {
    const body = eventBody({ type: "weather.changed", object: "weather" });
    expect((await deliver(gateway.url, body)).status).toBe(200);
  });

  const body = eventBody({ id: "evt_refused" });
  test.each([
    ["an unknown business", { business: "initech" }, 404, "not_found"],
    ["another content type", { contentType: "text/plain" }, 415, "unsupported_media_type"],
    ["no signature", { signature: null }, 401, "invalid_signature"],
    ["a malformed signature", { signature: "v1=abc" }, 401, "invalid_signature"],
    [
      "a signature under another secret",
      { signature: signed(body, Date.now(), "whsec_wrong") },
      401,
      "invalid_signature",
    ],
    [
      "a signature of six minutes ago",
      { signature: signed(body, Date.now() - 360_000) },
      401,
      "invalid_signature",
    ],
    [
      "a signature of six minutes ahead",
      { signature: signed(body, Date.now() + 360_000) },
      401,
      "invalid_signature",
    ],
    [
      "a business without secrets",
      { business: "globex", signature: signed(body, Date.now(), "") },
      401,
      "invalid_signature",
    ],
  ])(
    "a webhook with %s is refused with a clear answer and leaves nothing",
    async (_what, options, status, code) => {
      const answer = await deliver(gateway.url, body, options);
      expect(answer.status).toBe(status);
      expect(answer.json["error"]).toBe(code);
      expect(answer.json["message"]).toMatch(/\w{3,}/);
      expect(await inbox()).toEqual([]);
    },
  );

  test.each([
    ["no JSON", "{", "malformed_event"],
    ["a list", "[]", "malformed_event"],
    ["an event of another business", eventBody({ businessId: "biz_other" }), "wrong_business"],
  ])("a webhook with %s is refused with 400 and leaves nothing", async (_what, text, code) => {
    const answer = await deliver(gateway.url, text);
    expect(answer.status).toBe(400);
    expect(answer.json["error"]).toBe(code);
    expect(await inbox()).toEqual([]);
  });

  test("an event whose fields are absurd is kept once, whatever is in them, and starts nothing", async () => {
    const absurd: unknown[] = [
      ...[undefined, null, "", ".", "a/b", "\u001b[2J", "nul\0", "\ud800", "x".repeat(100_000)],
      ...[7, -1, 1e300, true, [], {}, [null], "0000-00-00", "+275760-09-13T00:00:00Z"],
    ];
    const fields = ["id", "type", "sequence", "createdAt", "data", "data.object", "data.id"];
    const made = fields.flatMap((field) =>
      absurd.map((value, at) => {
        const event = { ...(JSON.parse(eventBody({ id: `evt_${field}_${at}` })) as Json) };
        const [outer = "", inner] = field.split(".");
        const data = event["data"] as Json;
        event[outer] = inner === undefined ? value : { ...data, [inner]: value };
        return JSON.stringify({ ...event, no: at });
      }),
    );
    for (const text of made) {
      for (const duplicate of [false, true]) {
        const answer = await deliver(gateway.url, text);
        expect([answer.status, answer.json["duplicate"], text]).toEqual([200, duplicate, text]);
      }
    }
    expect(await inbox()).toHaveLength(made.length);
    const { db } = gateway.store;
    const open = db.selectFrom("inbox").select("event_id").where("dispatched_at_ms", "is", null);
    await until(
      () => open.execute(),
      (left) => left.length === 0,
    );
    expect(await db.selectFrom("notices").select("text").execute()).toEqual([]);
    const lengths = (await db.selectFrom("inbox").selectAll().execute()).flatMap(
      ({ body: _, ...row }) => Object.values(row).map((each) => String(each).length),
    );
    expect(Math.max(...lengths)).toBeLessThanOrEqual(255);
  });

  test("forged events and those of another business are recorded in the trail in few entries", async () => {
    const signature = signed(body, Date.now(), "whsec_wrong");
    for (let times = 0; times < 12; times += 1) await deliver(gateway.url, body, { signature });
    await deliver(gateway.url, eventBody({ businessId: "biz_globex" }));
    const trail = await listAudit(gateway.store.db, { businessId: "biz_acme" });
    const refused = trail.filter(({ action }) => action === "webhook.refused");
    expect(refused.map(({ subject, details }) => ({ subject, ...details }))).toEqual([
      { subject: "webhooks/acme", why: "no_match", times: 1 },
      { subject: "webhooks/acme", why: "no_match", times: 10 },
      { subject: "webhooks/acme", why: "wrong_business", times: 1 },
    ]);
    expect(gateway.logged.filter((line) => line.startsWith("refused a webhook"))).toHaveLength(3);
  });

  test("a webhook whose body is not UTF-8 is refused with 400", async () => {
    const bytes = Uint8Array.of(0x7b, 0xff, 0x7d);
    const answer = await deliver(gateway.url, bytes);
    expect(answer.status).toBe(400);
    expect(answer.json["error"]).toBe("malformed_event");
  });

  test("a webhook of more than 1 MB is refused with 413, whether or not its length is announced", async () => {
    const large = JSON.stringify({ filler: "x".repeat(1_100_000) });
    const announced = await deliver(gateway.url, large);
    expect(announced.status).toBe(413);
    expect(announced.json["error"]).toBe("too_large");
    const streamed = await fetch(`${gateway.url}/webhooks/acme`, {
      method: "POST",
      headers: { "content-type": "application/json", "service-signature": signed(large) },
      body: new Blob([large]).stream(),
      duplex: "half",
    } as RequestInit);
    expect(streamed.status).toBe(413);
    expect(await inbox()).toEqual([]);
  });
});

describe("the signature's clock", () => {
  let service: Server;
  let wireMs: number;

  beforeEach(async () => {
    wireMs = Date.now() + 3_600_000;
    service = createServer((request, response) => {
      response.setHeader("content-type", "application/json");
      if (request.url !== "/sandbox/clock") response.statusCode = 404;
      const wire = new Date(wireMs).toISOString();
      response.end(JSON.stringify({ bank: wire, wire, scale: 1 }));
    }).listen(0, "127.0.0.1");
    await once(service, "listening");
    const apiUrl = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
    gateway = await startTestGateway({
      profiles: [
        profile({ apiUrl, sandbox: true }),
        profile({ name: "real", businessId: "biz_real", apiUrl }),
      ],
    });
  });
  afterEach(async () => {
    await gateway.stop();
    service.close();
    service.closeAllConnections();
  });

  test("signatures are judged by a sandbox's wire clock, and by real time elsewhere", async () => {
    const stepped = eventBody({ id: "evt_stepped" });
    const ofSandbox = await deliver(gateway.url, stepped, { signature: signed(stepped, wireMs) });
    expect(ofSandbox.status).toBe(200);
    const own = eventBody({ businessId: "biz_real" });
    const late = await deliver(gateway.url, own, {
      business: "real",
      signature: signed(own, wireMs),
    });
    expect(late.status).toBe(401);
    const now = await deliver(gateway.url, own, { business: "real" });
    expect(now.status).toBe(200);
  });

  test("the sandbox's wire clock is extrapolated while the sandbox can't be read", async () => {
    const body = eventBody({});
    const first = await deliver(gateway.url, body, { signature: signed(body, wireMs) });
    expect(first.status).toBe(200);
    service.close();
    service.closeAllConnections();
    // Longer than a reading of the clock is used.
    const startedMs = Date.now();
    for (let elapsedMs = 0; elapsedMs < 1_500; elapsedMs = Date.now() - startedMs) {
      const later = eventBody({});
      const signature = signed(later, wireMs + elapsedMs);
      expect((await deliver(gateway.url, later, { signature })).status).toBe(200);
    }
  });
});
