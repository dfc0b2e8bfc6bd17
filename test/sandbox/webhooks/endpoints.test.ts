import { describe, expect } from "vitest";
import type { TestSandbox } from "../../support/sandbox.ts";
import { sharedSandboxTest } from "../sandbox-test.ts";
import { checkSignature, type Delivery, resetWithLongToken } from "./receiver.ts";
import { eventually } from "../../support/waits.ts";

const it = sharedSandboxTest().extend("sandbox", async ({ sandbox }) => {
  await resetWithLongToken(sandbox);
  return sandbox;
});

describe("webhook endpoints", () => {
  const bill = (sandbox: TestSandbox) =>
    sandbox.control.createPayable({ totalAmountCents: 5_000, dueDate: "2030-01-15" });
  const path = (id: string, rest = "") => `/v1/webhook-endpoints/${id}${rest}`;

  it("an endpoint shows its secret in full once, and later only its last four characters", async ({
    sandbox,
    receiver,
    hooks,
  }) => {
    const endpoint = await hooks.create(receiver.url);
    expect(endpoint).toMatchObject({ url: receiver.url, events: ["*"], status: "active" });
    expect(endpoint.secret).toMatch(/^whsec_[\w-]{43}$/);
    const { secret, ...rest } = endpoint;
    expect(rest["secretLast4"]).toBe(secret.slice(-4));
    expect(await hooks.get(endpoint.id)).toEqual(rest);
    const list = await sandbox.api<{ items: unknown[] }>("GET", "/v1/webhook-endpoints");
    expect(list.body.items).toEqual([rest]);
  });

  it.for([
    ["http://example.com/hooks", 422],
    ["ftp://127.0.0.1/hooks", 422],
    ["https://user:secret@example.com/hooks", 422],
    ["nowhere", 422],
    ["http://127.0.0.1.example.com/", 422],
    ["", 422],
    [7, 400],
    [undefined, 400],
  ])("an endpoint with the address %s is refused", async ([url, status], { sandbox }) => {
    const answer = await sandbox.api("POST", "/v1/webhook-endpoints", { body: { url } });
    expect([answer.status, answer.body["error"]]).toEqual([status, "validation_error"]);
  });

  it.for(["https://example.com/hooks", "http://localhost:8088/hooks", "http://127.0.0.1/"])(
    "an endpoint with the address %s is accepted",
    async (url, { hooks }) => {
      expect((await hooks.create(url)).url).toBe(url);
    },
  );

  it("an endpoint with an unknown event type or status is refused", async ({
    sandbox,
    receiver,
    hooks,
  }) => {
    const body = { url: receiver.url, events: ["payable.lost"] };
    expect((await sandbox.api("POST", "/v1/webhook-endpoints", { body })).status).toBe(422);
    const endpoint = await hooks.create(receiver.url);
    expect((await hooks.update(endpoint.id, { events: ["payable.lost"] })).status).toBe(422);
    expect((await hooks.update(endpoint.id, { status: "deleted" })).status).toBe(422);
  });

  it("creating an endpoint and rotating its secret take no idempotency key; deleting takes one", async ({
    sandbox,
    receiver,
    hooks,
  }) => {
    const body = { url: receiver.url };
    const refused = await sandbox.api("POST", "/v1/webhook-endpoints", { body, key: "k1" });
    expect([refused.status, refused.body["error"]]).toEqual([400, "validation_error"]);
    const { id } = await hooks.create(receiver.url);
    const rotated = await sandbox.api("POST", path(id, "/rotate-secret"), { key: "k2" });
    expect([rotated.status, rotated.body["error"]]).toEqual([400, "validation_error"]);
    for (const attempt of ["first", "replayed"]) {
      const gone = await sandbox.api("DELETE", path(id), { key: "k3" });
      expect([gone.status, gone.text], attempt).toEqual([204, ""]);
    }
    expect((await sandbox.api("DELETE", path(id))).status).toBe(404);
  });

  it("deliveries are signed with the new secret as soon as it is rotated", async ({
    sandbox,
    receiver,
    hooks,
  }) => {
    const endpoint = await hooks.create(receiver.url);
    const rotated = await sandbox.api<{ secret: string; secretLast4: string }>(
      "POST",
      path(endpoint.id, "/rotate-secret"),
    );
    expect(rotated.status).toBe(200);
    expect(rotated.body.secretLast4).toBe(rotated.body.secret.slice(-4));
    await bill(sandbox);
    const [received] = await receiver.until(1);
    if (received === undefined) throw new Error("nothing arrived");
    expect(checkSignature(received, endpoint.secret).valid).toBe(false);
    expect(checkSignature(received, rotated.body.secret).valid).toBe(true);
  });

  it("an endpoint's address, event types and description can be changed", async ({
    sandbox,
    receiver,
    hooks,
  }) => {
    const { id } = await hooks.create("https://example.com/old");
    const body = { url: receiver.url, events: ["payable.created"], description: "main" };
    const changed = await hooks.update(id, body);
    expect(changed.status).toBe(200);
    expect(changed.body).toMatchObject(body);
    await bill(sandbox);
    await receiver.until(1);
  });

  it("a deleted endpoint receives nothing more, and keeps its list of deliveries", async ({
    sandbox,
    receiver,
    hooks,
  }) => {
    const endpoint = await hooks.create(receiver.url);
    receiver.answer(500);
    await bill(sandbox);
    await hooks.settled(endpoint.id, "failed");
    await sandbox.api("DELETE", path(endpoint.id));
    await bill(sandbox);
    await sandbox.control.advanceWire("PT2H");
    const [delivery, ...others] = await hooks.deliveries(endpoint.id);
    expect(others).toEqual([]);
    expect(delivery).toMatchObject({ status: "dead", attemptCount: 1 });
    expect((await sandbox.api("GET", path(endpoint.id))).status).toBe(404);
    expect(receiver.received).toHaveLength(1);
  });

  it("a redelivery is a new delivery of the same event", async ({ sandbox, receiver, hooks }) => {
    const endpoint = await hooks.create(receiver.url);
    await bill(sandbox);
    const original = await hooks.settled(endpoint.id, "succeeded");
    const again = await sandbox.api<Delivery>(
      "POST",
      path(endpoint.id, `/deliveries/${original.id}/redeliver`),
    );
    expect(again.status).toBe(201);
    expect(again.body["redeliveryOfId"]).toBe(original.id);
    const [first, second] = await receiver.until(2);
    expect(second?.body).toBe(first?.body);
    expect(second?.headers["service-event-id"]).toBe(first?.headers["service-event-id"]);
    expect(second?.headers["service-webhook-id"]).toBe(again.body.id);
    const missing = path(endpoint.id, "/deliveries/whd_none/redeliver");
    expect((await sandbox.api("POST", missing)).status).toBe(404);
  });

  it("an endpoint is paused after twenty failed deliveries in a row, and goes on when resumed", async ({
    sandbox,
    receiver,
    hooks,
  }) => {
    const endpoint = await hooks.create(receiver.url);
    receiver.answer(500);
    for (let i = 0; i < 19; i += 1) await bill(sandbox);
    await eventually(
      "nineteen have failed",
      async () =>
        (await hooks.deliveries(endpoint.id)).filter(({ status }) => status === "failed").length ===
        19,
    );
    expect((await hooks.get(endpoint.id)).status).toBe("active");
    await bill(sandbox);
    await eventually(
      "it is paused",
      async () => (await hooks.get(endpoint.id)).status === "paused",
    );
    await bill(sandbox);
    await sandbox.control.advanceWire("PT1H");
    expect(await hooks.deliveries(endpoint.id)).toHaveLength(20);
    expect(receiver.received).toHaveLength(20);

    receiver.answer(200);
    expect((await hooks.update(endpoint.id, { status: "active" })).body.status).toBe("active");
    await eventually("all have arrived", async () =>
      (await hooks.deliveries(endpoint.id)).every(({ status }) => status === "succeeded"),
    );
    expect(receiver.received).toHaveLength(40);
  });

  it("an endpoint is not paused by failures with a success in between", async ({
    sandbox,
    receiver,
    hooks,
  }) => {
    const endpoint = await hooks.create(receiver.url);
    let count = 0;
    receiver.respond = (response) => response.writeHead(++count === 15 ? 200 : 500).end();
    for (let i = 0; i < 25; i += 1) await bill(sandbox);
    await eventually("all have been tried", async () =>
      (await hooks.deliveries(endpoint.id)).every(
        ({ attemptCount, status }) => attemptCount === 1 && status !== "delivering",
      ),
    );
    expect((await hooks.get(endpoint.id)).status).toBe("active");
  });

  it("an endpoint is paused after a day of failures, however few deliveries there were", async ({
    sandbox,
    receiver,
    hooks,
  }) => {
    const endpoint = await hooks.create(receiver.url);
    receiver.answer(500);
    await bill(sandbox);
    await hooks.settled(endpoint.id, "failed");
    await sandbox.control.advanceWire("PT23H");
    await eventually("the second attempt", () => receiver.received.length === 2);
    expect((await hooks.get(endpoint.id)).status).toBe("active");
    await sandbox.control.advanceWire("PT1H");
    await eventually(
      "it is paused",
      async () => (await hooks.get(endpoint.id)).status === "paused",
    );
  });

  it("an endpoint is hidden from another organization and can't be changed without the scope", async ({
    sandbox,
    receiver,
    hooks,
  }) => {
    await sandbox.control.reset("two-businesses");
    const [mine, theirs] = sandbox.businesses;
    const { id } = await hooks.create(receiver.url);
    const token = theirs?.token ?? "";
    expect((await sandbox.api("GET", path(id), { token })).status).toBe(404);
    expect((await sandbox.api("GET", path(id, "/deliveries"), { token })).status).toBe(404);
    const reader = await sandbox.control.token(mine?.businessId, { scopes: ["webhooks:read"] });
    expect((await sandbox.api("GET", path(id, "/deliveries"), { token: reader })).status).toBe(200);
    const body = { url: receiver.url };
    const refused = await sandbox.api("PATCH", path(id), { body, token: reader });
    expect([refused.status, refused.body["message"]]).toEqual([403, "Forbidden"]);
  });

  it("a fixture can contain endpoints and their secrets", async ({ sandbox, receiver }) => {
    const secret = "whsec_0123456789abcdef0123456789abcdef0123456789";
    const webhookEndpoints = [{ url: receiver.url, events: ["payable.created"], secret }];
    const [business] = await sandbox.control.reset({
      businesses: [{ name: "Hooked", webhookEndpoints }],
    });
    expect(business?.webhookEndpoints).toMatchObject([{ url: receiver.url, secret }]);
    await bill(sandbox);
    const [received] = await receiver.until(1);
    expect(received !== undefined && checkSignature(received, secret).valid).toBe(true);
  });
});
