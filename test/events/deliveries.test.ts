import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import { listNotices, type Notice } from "../../src/store/notices/notices.ts";
import { startSandbox } from "../support/sandbox.ts";
import {
  deliver,
  eventBody,
  profile,
  signed,
  startTestGateway,
  type TestGateway,
} from "../gateway/support/gateway.ts";
import { until } from "../support/waits.ts";

/** The part of the Payments Service that lists webhook deliveries. */
class DeliveriesService {
  url = "";
  endpointUrl = "";
  status = 200;
  /** Bodies as they were sent, oldest first. */
  bodies: string[] = [];
  pagesRead: number[] = [];
  /** The most deliveries on a page, whatever size is requested. */
  pageMost = 100;
  /** The state that it shows for our endpoint; undefined for a service that shows none. */
  endpointStatus: string | undefined = "active";
  deliveryStatus = "dead";
  /** The status of the response to a change of the endpoint; null carries the change out. */
  patchStatus: number | null = null;
  patches = 0;
  readonly #server: Server;

  constructor() {
    this.#server = createServer((request, response) => {
      const { pathname, searchParams } = new URL(request.url ?? "/", "http://service");
      const { status, body } =
        request.method === "PATCH" ? this.#patched() : this.#answer(pathname, searchParams);
      response.writeHead(status, { "content-type": "application/json" });
      response.end(JSON.stringify(body));
    });
  }

  async start(): Promise<void> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    this.url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  stop(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  #answer(path: string, query: URLSearchParams): { status: number; body: unknown } {
    if (path === "/sandbox/clock") {
      const now = new Date().toISOString();
      return { status: 200, body: { bank: now, wire: now, scale: 1 } };
    }
    if (this.status !== 200) return { status: this.status, body: { message: "Forbidden" } };
    if (path === "/v1/webhook-endpoints") {
      const items = [{ id: "we_other", url: "https://elsewhere.example/hook" }, this.#endpoint()];
      return { status: 200, body: { items } };
    }
    if (path !== "/v1/webhook-endpoints/we_ours/deliveries") {
      return { status: 404, body: { error: "not_found", message: path } };
    }
    const page = Number(query.get("page") ?? "1");
    const pageSize = Math.min(this.pageMost, Number(query.get("pageSize") ?? "25"));
    this.pagesRead.push(page);
    const newestFirst = this.bodies.map((requestBody, index) => ({
      id: `del_${index}`,
      status: this.deliveryStatus,
      requestBody,
      createdAt: "2026-11-20T12:00:00.000Z",
    }));
    newestFirst.reverse();
    const items = newestFirst.slice((page - 1) * pageSize, page * pageSize);
    return { status: 200, body: { items, totalCount: newestFirst.length } };
  }

  #endpoint(): Record<string, unknown> {
    return { id: "we_ours", url: this.endpointUrl, status: this.endpointStatus };
  }

  #patched(): { status: number; body: unknown } {
    this.patches += 1;
    if (this.patchStatus !== null) {
      return { status: this.patchStatus, body: { message: "Forbidden" } };
    }
    if (this.endpointStatus !== undefined) this.endpointStatus = "active";
    return { status: 200, body: this.#endpoint() };
  }
}

let service: DeliveriesService;
let gateway: TestGateway;

beforeEach(async () => {
  service = new DeliveriesService();
  await service.start();
});
afterEach(async () => {
  await gateway.stop();
  service.stop();
});

/** Returns a clock by which a pass is due as soon as one may begin. */
function hurried(): () => number {
  const startedMs = Date.now();
  return () => startedMs + (Date.now() - startedMs) * 4;
}

async function start(changes: Parameters<typeof profile>[0] = {}): Promise<void> {
  gateway = await startTestGateway({
    profiles: [profile({ apiUrl: service.url, sandbox: true, ...changes })],
    nowMs: hurried(),
  });
  service.endpointUrl = `${gateway.url}/webhooks/acme`;
}

async function inbox(): Promise<Map<string, string>> {
  const rows = await gateway.store.db.selectFrom("inbox").select(["event_id", "via"]).execute();
  return new Map(rows.map((row) => [row.event_id, row.via]));
}

test("lost events are found on all pages, however short the service's pages are", async () => {
  await start();
  service.pageMost = 2;
  const ids = ["evt_1", "evt_2", "evt_3", "evt_4", "evt_5"];
  service.bodies = ids.map((id) => eventBody({ id }));
  const found = await until(inbox, (events) => events.size === ids.length);
  expect([...found.keys()].toSorted()).toEqual(ids);
});

test("an event whose webhook was lost is taken from the list of deliveries, once, as it was signed", async () => {
  await start();
  const arrived = eventBody({ id: "evt_arrived" });
  const lost = eventBody({ id: "evt_lost", objectId: "pay_7", type: "payable.payment.failed" });
  expect((await deliver(gateway.url, arrived)).status).toBe(200);
  service.bodies = [arrived, lost];
  const found = await until(inbox, (events) => events.size === 2);
  expect(found).toEqual(
    new Map([
      ["evt_arrived", "webhook"],
      ["evt_lost", "deliveries"],
    ]),
  );
  const row = await gateway.store.db
    .selectFrom("inbox")
    .selectAll()
    .where("event_id", "=", "evt_lost")
    .executeTakeFirstOrThrow();
  expect(row).toMatchObject({ body: lost, object_id: "pay_7", type: "payable.payment.failed" });
  // A webhook that arrives after all is a duplicate.
  const late = await deliver(gateway.url, lost, { signature: signed(lost) });
  expect(late.json).toEqual({ eventId: "evt_lost", duplicate: true });
  const metrics = await gateway.call("GET", "/metrics", await gateway.token("v", ["viewer"]));
  expect(metrics.text).toContain('payrun_recovered_events_total{business="acme"} 1');
});

test("a gap before webhooks that arrived is found too, over many pages", async () => {
  await start();
  const bodies = Array.from({ length: 350 }, (_, index) => eventBody({ id: `evt_${index}` }));
  const newest = bodies.slice(-120);
  for (const body of newest) await deliver(gateway.url, body);
  service.bodies = bodies;
  const found = await until(inbox, (events) => events.size === 350);
  expect([...found.values()].filter((via) => via === "deliveries")).toHaveLength(230);
  expect(service.pagesRead).toContain(4);

  // From now on a pass ends where an earlier complete one began.
  service.pagesRead = [];
  service.bodies = [...bodies, eventBody({ id: "evt_new" })];
  await until(inbox, (events) => events.has("evt_new"));
  expect(Math.max(...service.pagesRead)).toBe(1);
});

test("deliveries that are no events, or another business's, are skipped", async () => {
  await start();
  service.bodies = [
    "not json",
    "[]",
    eventBody({ id: "evt_foreign", businessId: "biz_other" }),
    eventBody({ id: "evt_good" }),
  ];
  const found = await until(inbox, (events) => events.size > 0);
  expect([...found.keys()]).toEqual(["evt_good"]);
});

test("a token that may not list deliveries is logged once, and webhooks go on", async () => {
  service.status = 403;
  await start();
  const warnings = (): number =>
    gateway.logged.filter((line) => line.includes("webhooks:read")).length;
  await until(
    async () => warnings(),
    (count) => count === 1,
  );
  expect((await deliver(gateway.url, eventBody({}))).status).toBe(200);
  service.status = 200;
  service.bodies = [eventBody({ id: "evt_after" })];
  await until(inbox, (events) => events.has("evt_after"));
  expect(warnings()).toBe(1);
});

const told = (): Promise<Notice[]> =>
  listNotices(gateway.store.db, { kind: "webhooks-paused", limit: 10 });

async function resumed(): Promise<number> {
  const rows = await gateway.store.db
    .selectFrom("audit")
    .select("subject")
    .where("action", "=", "webhooks.resumed")
    .execute();
  return rows.length;
}

test("our endpoint is resumed if the service paused it, and people are notified if that doesn't help, until webhooks arrive", async () => {
  const sandbox = await startSandbox();
  onTestFinished(() => sandbox.stop());
  const { businessId, token: value } = sandbox.business;
  const ours = { ...profile(), apiUrl: sandbox.url, businessId, sandbox: true };
  const profiles = [{ ...ours, token: { kind: "value" as const, value } }];
  gateway = await startTestGateway({ profiles, nowMs: hurried() });
  const made = await sandbox.api<{ id: string; secret: string }>("POST", "/v1/webhook-endpoints", {
    body: { url: `${gateway.url}/webhooks/acme`, events: ["*"] },
  });
  const { id, secret } = made.body;
  const { id: contactId } = (
    await sandbox.api<{ id: string }>("POST", "/v1/contacts", { body: { displayName: "A" } })
  ).body;
  const bills = async (count: number): Promise<void> => {
    for (let made = 0; made < count; made += 1) {
      await sandbox.control.createPayable({ contactId, totalAmountCents: 100 });
    }
  };
  // The profile's secret differs from the endpoint's, so every delivery is refused.
  await bills(25);
  await until(resumed, (count) => count === 1);
  const { body } = await sandbox.api("GET", `/v1/webhook-endpoints/${id}`);
  expect(body).toMatchObject({ status: "active" });
  expect(await told()).toEqual([]);

  await bills(25);
  const [again] = await until(told, (notices) => notices.length > 0);
  expect(again).toMatchObject({ roles: ["operator"], data: { endpointId: id, state: "paused" } });
  expect(again?.text).toContain("paused again before anything arrived");

  profiles[0] = { ...ours, token: { kind: "value", value }, webhookSecrets: [secret] };
  await sandbox.api("PATCH", `/v1/webhook-endpoints/${id}`, { body: { status: "active" } });
  await bills(1);
  const [over] = await until(told, (notices) => notices.length > 1);
  expect(over).toMatchObject({ data: { state: "active" } });
  expect(await told()).toHaveLength(2);
});

test("people are notified once of a pause that can't be ended, with the way out", async () => {
  service.endpointStatus = "paused";
  service.patchStatus = 403;
  await start();
  const [notice] = await until(told, (notices) => notices.length > 0);
  expect(notice?.text).toContain("the token needs webhooks:manage");
  expect(notice?.text).toContain("What to do:");
  await passes(2);
  expect(await told()).toHaveLength(1);
  expect(service.patches).toBe(1);
});

test("if the service doesn't show a pause, people are notified once that all deliveries have failed", async () => {
  service.endpointStatus = undefined;
  service.bodies = Array.from({ length: 19 }, (_, index) => eventBody({ id: `evt_${index}` }));
  await start();
  await passes(1);
  expect(service.patches).toBe(0);
  service.bodies = [...service.bodies, eventBody({ id: "evt_20th" })];
  const [notice] = await until(told, (notices) => notices.length > 0);
  expect(notice?.subject).toContain("may have paused");
  service.bodies = [...service.bodies, eventBody({ id: "evt_21st" })];
  await passes(2);
  expect(await told()).toHaveLength(1);
  service.deliveryStatus = "succeeded";
  const [over] = await until(told, (notices) => notices.length > 1);
  expect(over).toMatchObject({ data: { state: "active" } });
});

async function passes(count: number): Promise<void> {
  const before = service.pagesRead.length;
  // The pass under way may already have read.
  await until(
    () => Promise.resolve(service.pagesRead.length),
    (read) => read > before + count,
  );
}
