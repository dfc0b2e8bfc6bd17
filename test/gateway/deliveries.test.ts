import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  deliver,
  eventBody,
  eventually,
  profile,
  signed,
  startTestGateway,
  type TestGateway,
} from "./support/gateway.ts";

/** The part of the Payments Service that lists webhook deliveries. */
class DeliveriesService {
  url = "";
  endpointUrl = "";
  status = 200;
  /** Bodies as they were sent, oldest first. */
  bodies: string[] = [];
  pagesRead: number[] = [];
  readonly #server: Server;

  constructor() {
    this.#server = createServer((request, response) => {
      const { pathname, searchParams } = new URL(request.url ?? "/", "http://service");
      const { status, body } = this.#answer(pathname, searchParams);
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
      const items = [
        { id: "we_other", url: "https://elsewhere.example/hook" },
        { id: "we_ours", url: this.endpointUrl },
      ];
      return { status: 200, body: { items } };
    }
    if (path !== "/v1/webhook-endpoints/we_ours/deliveries") {
      return { status: 404, body: { error: "not_found", message: path } };
    }
    const page = Number(query.get("page") ?? "1");
    const pageSize = Number(query.get("pageSize") ?? "25");
    this.pagesRead.push(page);
    const newestFirst = this.bodies.map((requestBody, index) => ({
      id: `del_${index}`,
      status: "dead",
      requestBody,
      createdAt: "2026-11-20T12:00:00.000Z",
    }));
    newestFirst.reverse();
    const items = newestFirst.slice((page - 1) * pageSize, page * pageSize);
    return { status: 200, body: { items, totalCount: newestFirst.length } };
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

async function start(changes: Parameters<typeof profile>[0] = {}): Promise<void> {
  gateway = await startTestGateway({
    profiles: [profile({ apiUrl: service.url, sandbox: true, ...changes })],
  });
  service.endpointUrl = `${gateway.url}/webhooks/acme`;
}

async function inbox(): Promise<Map<string, string>> {
  const rows = await gateway.store.db.selectFrom("inbox").select(["event_id", "via"]).execute();
  return new Map(rows.map((row) => [row.event_id, row.via]));
}

test("events whose webhooks were lost are taken from the list of deliveries, once, as they were signed", async () => {
  await start();
  const arrived = eventBody({ id: "evt_arrived" });
  const lost = eventBody({ id: "evt_lost", objectId: "pay_7", type: "payable.payment.failed" });
  expect((await deliver(gateway.url, arrived)).status).toBe(200);
  service.bodies = [arrived, lost];
  const found = await eventually(inbox, (events) => events.size === 2);
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
  // The webhook that comes after all is nothing new.
  const late = await deliver(gateway.url, lost, { signature: signed(lost) });
  expect(late.json).toEqual({ eventId: "evt_lost", duplicate: true });
  const metrics = await gateway.call("GET", "/metrics", await gateway.token("v", ["viewer"]));
  expect(metrics.text).toContain('payrun_recovered_events_total{business="acme"} 1');
});

test("a gap behind webhooks that arrived is found too, over many pages", async () => {
  await start();
  const bodies = Array.from({ length: 350 }, (_, index) => eventBody({ id: `evt_${index}` }));
  const newest = bodies.slice(-120);
  for (const body of newest) await deliver(gateway.url, body);
  service.bodies = bodies;
  const found = await eventually(inbox, (events) => events.size === 350);
  expect([...found.values()].filter((via) => via === "deliveries")).toHaveLength(230);
  expect(service.pagesRead).toContain(4);

  // From then on a pass ends where an earlier complete one began.
  service.pagesRead = [];
  service.bodies = [...bodies, eventBody({ id: "evt_new" })];
  await eventually(inbox, (events) => events.has("evt_new"));
  expect(Math.max(...service.pagesRead)).toBe(1);
});

test("what is no event, or another business's, is passed over", async () => {
  await start();
  service.bodies = [
    "not json",
    JSON.stringify({ id: "evt_half" }),
    eventBody({ id: "evt_foreign", businessId: "biz_other" }),
    eventBody({ id: "evt_good" }),
  ];
  const found = await eventually(inbox, (events) => events.size > 0);
  expect([...found.keys()]).toEqual(["evt_good"]);
});

test("a token that may not list deliveries is told about once, and webhooks go on", async () => {
  service.status = 403;
  await start();
  const warnings = (): number =>
    gateway.logged.filter((line) => line.includes("webhooks:read")).length;
  await eventually(
    async () => warnings(),
    (count) => count === 1,
  );
  expect((await deliver(gateway.url, eventBody({}))).status).toBe(200);
  service.status = 200;
  service.bodies = [eventBody({ id: "evt_after" })];
  await eventually(inbox, (events) => events.has("evt_after"));
  expect(warnings()).toBe(1);
});
