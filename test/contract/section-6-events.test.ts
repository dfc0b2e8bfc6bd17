import { once } from "node:events";
import { createServer, type IncomingHttpHeaders } from "node:http";
import { afterAll, beforeAll, describe, expect } from "vitest";
import { eventSchema, verifyWebhook, type WebhookEndpoint } from "../../src/payments-api/index.ts";
import { onSandbox, writes } from "./sentences.ts";
import { contractWorld } from "./world.ts";
import { eventually, until } from "../support/waits.ts";

interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

const world = contractWorld();
const received: Received[] = [];
const receiver = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    received.push({ headers: request.headers, body: Buffer.concat(chunks) });
    response.writeHead(204).end();
  });
});
let endpoint: WebhookEndpoint;

beforeAll(async () => {
  // A real service could not deliver to this machine.
  if (!world.isSandbox) return;
  receiver.listen(0, "127.0.0.1");
  await once(receiver, "listening");
  const address = receiver.address();
  const port = typeof address === "object" ? address?.port : 0;
  const url = `http://127.0.0.1:${port}/hooks`;
  endpoint = await world.client.webhookEndpoints.create({ url, events: ["*"] });
});

afterAll(async () => {
  if (!receiver.listening) return;
  receiver.closeAllConnections();
  receiver.close();
  await once(receiver, "close");
});

/** Waits for the event of a type about a resource. */
function eventOf(type: string, id: string): Promise<Received> {
  const arrived = (): Received | undefined =>
    received.find(({ body }) => {
      const event = eventSchema.parse(JSON.parse(body.toString("utf8")));
      return event.type === type && event.data.id === id;
    });
  return until(arrived, (event) => event !== undefined);
}

describe("webhooks (API specification, section 6)", () => {
  onSandbox("the secret begins with whsec_ and is shown in full only once", async () => {
    expect(endpoint.secret).toMatch(/^whsec_.{32,}/);
    const listed = await world.client.webhookEndpoints.list();
    const mine = listed.find(({ id }) => id === endpoint.id);
    expect(mine?.secret).toBeUndefined();
    expect(endpoint.secret?.endsWith(mine?.secretLast4 ?? "?")).toBe(true);
  });

  onSandbox(
    "an event is a thin reference to its resource, with a sequence as a string",
    async () => {
      const id = await world.bill();
      const { body } = await eventOf("payable.created", id);
      const event = JSON.parse(body.toString("utf8")) as Record<string, unknown>;
      expect(event["data"]).toEqual({ object: "payable", id });
      expect(event["id"]).toMatch(/^evt_/);
      expect(event["sequence"]).toMatch(/^\d+$/);
      expect(event["businessId"]).toBe(world.sandbox.business.businessId);
    },
  );

  onSandbox("a later event has a higher sequence", async () => {
    const first = await eventOf("payable.created", await world.bill());
    const second = await eventOf("payable.created", await world.bill());
    const sequence = ({ body }: Received): bigint =>
      BigInt(String((JSON.parse(body.toString("utf8")) as { sequence: string }).sequence));
    expect(sequence(second)).toBeGreaterThan(sequence(first));
  });

  onSandbox(
    "the signature is HMAC-SHA256 of t, a dot and the raw body under the endpoint's secret",
    async () => {
      const { headers, body } = await eventOf("payable.created", await world.bill());
      const signatureHeader = String(headers["service-signature"]);
      const given = { rawBody: body, signatureHeader, nowMs: Date.now() };
      expect(verifyWebhook({ ...given, secrets: [endpoint.secret ?? ""] }).ok).toBe(true);
      expect(verifyWebhook({ ...given, secrets: ["whsec_other"] }).ok).toBe(false);
      const later = Date.now() + 301_000;
      expect(verifyWebhook({ ...given, secrets: [endpoint.secret ?? ""], nowMs: later }).ok).toBe(
        false,
      );
    },
  );

  onSandbox("Service-Event-Id is the event's id, Service-Webhook-Id the delivery's", async () => {
    const { headers, body } = await eventOf("payable.created", await world.bill());
    const event = eventSchema.parse(JSON.parse(body.toString("utf8")));
    expect(headers["service-event-id"]).toBe(event.id);
    expect(headers["user-agent"]).toBe("Service-Webhooks/1.0");
    const { items } = await world.client.deliveries.list(endpoint.id, { pageSize: 100 });
    const delivery = items.find(({ id }) => id === headers["service-webhook-id"]);
    expect(delivery?.requestBody).toBe(body.toString("utf8"));
  });

  onSandbox("a delivery that was answered 2xx is listed as succeeded, newest first", async () => {
    await eventOf("payable.created", await world.bill());
    const succeeded = async (): Promise<boolean> => {
      const { items } = await world.client.deliveries.list(endpoint.id);
      return items.every(({ status }) => status === "succeeded");
    };
    await eventually("every delivery has succeeded", succeeded);
    const { items } = await world.client.deliveries.list(endpoint.id);
    const times = items.map(({ createdAt }) => Date.parse(createdAt ?? ""));
    expect(times).toEqual([...times].sort((a, b) => b - a));
  });

  onSandbox(
    "a redelivery has the same event id and body, and names the delivery it redelivers",
    async () => {
      const { headers, body } = await eventOf("contact.created", await world.vendor());
      const deliveryId = String(headers["service-webhook-id"]);
      const again = await world.client.deliveries.redeliver(endpoint.id, deliveryId);
      expect(again.redeliveryOfId).toBe(deliveryId);
      expect(again.id).not.toBe(deliveryId);
      expect(again.requestBody).toBe(body.toString("utf8"));
    },
  );

  onSandbox("rotation answers another secret, at once", async () => {
    const other = await world.client.webhookEndpoints.create({
      url: endpoint.url ?? "",
      events: ["contact.created"],
    });
    const rotated = await world.client.webhookEndpoints.rotateSecret(other.id);
    expect(rotated.secret).toMatch(/^whsec_/);
    expect(rotated.secret).not.toBe(other.secret);
    await world.client.webhookEndpoints.delete(other.id);
    const listed = await world.client.webhookEndpoints.list();
    expect(listed.map(({ id }) => id)).not.toContain(other.id);
  });

  writes(
    "a new secret is shown once, a rotated one is another, and a deleted endpoint is gone",
    async () => {
      const { webhookEndpoints } = world.client;
      const url = "https://example.com/payrun-conformance";
      const created = await webhookEndpoints.create({ url, events: ["contact.updated"] });
      try {
        expect(created.secret).toMatch(/^whsec_/);
        const listed = await webhookEndpoints.list();
        expect(listed.map(({ id }) => id)).toContain(created.id);
        expect(JSON.stringify(listed)).not.toContain(created.secret);
        const rotated = await webhookEndpoints.rotateSecret(created.id);
        expect(rotated.secret).not.toBe(created.secret);
      } finally {
        await webhookEndpoints.delete(created.id);
      }
      const after = await webhookEndpoints.list();
      expect(after.map(({ id }) => id)).not.toContain(created.id);
    },
  );
});
