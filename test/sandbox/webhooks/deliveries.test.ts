import { describe, expect } from "vitest";
import type { TestSandbox } from "../../support/sandbox.ts";
import { sharedSandboxTest } from "../sandbox-test.ts";
import { checkSignature, Receiver, resetWithLongToken } from "./receiver.ts";
import { eventually } from "../../support/waits.ts";

const it = sharedSandboxTest().extend("sandbox", async ({ sandbox }) => {
  await resetWithLongToken(sandbox);
  return sandbox;
});

describe("webhook deliveries", () => {
  const bill = (sandbox: TestSandbox) =>
    sandbox.control.createPayable({ totalAmountCents: 5_000, dueDate: "2030-01-15" });

  async function bills(sandbox: TestSandbox, count: number): Promise<void> {
    for (let i = 0; i < count; i += 1) await bill(sandbox);
  }

  it("a delivery is a signed POST of a thin envelope, and is listed with its exact body", async ({
    sandbox,
    receiver,
    hooks,
  }) => {
    const endpoint = await hooks.create(receiver.url);
    const { id } = await bill(sandbox);
    const [received] = await receiver.until(1);
    if (received === undefined) throw new Error("nothing arrived");
    const delivery = await hooks.settled(endpoint.id, "succeeded");

    expect(Object.keys(received.event)).toEqual([
      "id",
      "type",
      "sequence",
      "createdAt",
      "businessId",
      "data",
    ]);
    expect(received.event).toMatchObject({
      id: expect.stringMatching(/^evt_/),
      type: "payable.created",
      businessId: sandbox.business.businessId,
      data: { object: "payable", id },
    });
    expect(received.headers).toMatchObject({
      "content-type": "application/json",
      "user-agent": "Service-Webhooks/1.0",
      "service-event-id": received.event.id,
      "service-webhook-id": delivery.id,
    });
    const { valid, t } = checkSignature(received, endpoint.secret);
    expect(valid).toBe(true);
    expect(Math.abs(t - Date.now() / 1_000)).toBeLessThan(60);
    expect(delivery).toMatchObject({
      attemptCount: 1,
      maxAttempts: 10,
      nextAttemptAt: null,
      deadAt: null,
      lastResponseCode: 204,
      lastResponseBody: "",
      lastError: null,
      requestBody: received.body,
      redeliveryOfId: null,
    });
  });

  it("events carry unique sequences that are larger than a JSON number can hold", async ({
    sandbox,
    receiver,
    hooks,
  }) => {
    await hooks.create(receiver.url);
    await bills(sandbox, 3);
    const sequences = (await receiver.until(3)).map(({ event }) => BigInt(event.sequence));
    expect(new Set(sequences).size).toBe(3);
    for (const sequence of sequences) expect(sequence > 2n ** 53n).toBe(true);
  });

  it("an endpoint receives only the event types that it subscribes to", async ({
    sandbox,
    receiver,
    hooks,
  }) => {
    await hooks.create(receiver.url, ["contact.created"]);
    await bill(sandbox);
    await sandbox.api("POST", "/v1/contacts", { body: { displayName: "Elm Street Bakery" } });
    const [received] = await receiver.until(1);
    expect(received?.event.type).toBe("contact.created");
  });

  it("a failed delivery is retried after one minute, then two, each time with a new signature", async ({
    sandbox,
    receiver,
    hooks,
  }) => {
    const endpoint = await hooks.create(receiver.url);
    receiver.answer(500, "out of order");
    await bill(sandbox);
    const first = await hooks.settled(endpoint.id, "failed");
    expect(first).toMatchObject({ attemptCount: 1, lastResponseCode: 500 });
    expect(first["lastResponseBody"]).toBe("out of order");
    const waitMs =
      Date.parse(first.nextAttemptAt ?? "") - Date.parse(String(first["lastAttemptAt"]));
    expect(waitMs).toBeGreaterThanOrEqual(60_000);
    expect(waitMs).toBeLessThan(70_000);

    await sandbox.control.advanceWire("PT61S");
    await receiver.until(2);
    await sandbox.control.advanceWire("PT61S");
    await eventually("the second attempt is recorded", async () => {
      const [delivery] = await hooks.deliveries(endpoint.id);
      return delivery?.status === "failed" && delivery.attemptCount === 2;
    });
    receiver.answer(200);
    await sandbox.control.advanceWire("PT60S");
    const done = await hooks.settled(endpoint.id, "succeeded");
    expect(done.attemptCount).toBe(3);

    const [one, two, three] = receiver.received;
    expect(new Set(receiver.received.map(({ body }) => body)).size).toBe(1);
    expect(new Set(receiver.received.map((r) => r.headers["service-webhook-id"])).size).toBe(1);
    if (one === undefined || two === undefined || three === undefined) throw new Error("too few");
    const times = [one, two, three].map((received) => checkSignature(received, endpoint.secret));
    expect(times.every(({ valid }) => valid)).toBe(true);
    expect((times[1]?.t ?? 0) - (times[0]?.t ?? 0)).toBeGreaterThanOrEqual(60);
    expect((times[2]?.t ?? 0) - (times[1]?.t ?? 0)).toBeGreaterThanOrEqual(120);
  });

  it("a delivery is dead after ten attempts, about eight and a half hours in all", async ({
    sandbox,
    receiver,
    hooks,
  }) => {
    const endpoint = await hooks.create(receiver.url);
    receiver.answer(503);
    await bill(sandbox);
    const started = Date.parse((await sandbox.control.clock()).wire);
    for (let attempt = 1; attempt < 10; attempt += 1) {
      await eventually(`attempt ${attempt} is recorded`, async () => {
        const [delivery] = await hooks.deliveries(endpoint.id);
        return delivery?.status === "failed" && delivery.attemptCount === attempt;
      });
      await sandbox.control.advanceWire(`PT${60 * 2 ** (attempt - 1)}S`);
    }
    const dead = await hooks.settled(endpoint.id, "dead");
    expect(dead).toMatchObject({ attemptCount: 10, nextAttemptAt: null });
    const hours = (Date.parse(String(dead["deadAt"])) - started) / 3_600_000;
    expect(hours).toBeGreaterThan(8.4);
    expect(hours).toBeLessThan(9);
    expect(receiver.received).toHaveLength(10);
  });

  it("a delivery fails if the response is a redirect or the connection is refused", async ({
    sandbox,
    receiver,
    hooks,
  }) => {
    const endpoint = await hooks.create(receiver.url);
    receiver.respond = (response) => response.writeHead(302, { location: receiver.url }).end();
    await bill(sandbox);
    expect((await hooks.settled(endpoint.id, "failed"))["lastResponseCode"]).toBe(302);
    await receiver.stop();
    await bill(sandbox);
    const refused = await hooks.settled(endpoint.id, "failed");
    expect(refused["lastResponseCode"]).toBeNull();
    expect(refused.lastError).not.toBeNull();
  });

  it("a delivery fails without a response in ten seconds, and delays no other endpoint", async ({
    sandbox,
    receiver,
    hooks,
  }) => {
    const slow = await hooks.create(receiver.url);
    receiver.respond = () => undefined;
    const quick = await Receiver.start();
    const other = await hooks.create(quick.url);
    await bills(sandbox, 17);
    await quick.until(17);
    expect((await hooks.deliveries(slow.id)).some(({ status }) => status === "delivering")).toBe(
      true,
    );
    expect((await hooks.deliveries(other.id)).every(({ status }) => status !== "failed")).toBe(
      true,
    );
    await eventually("the first gives up", async () =>
      (await hooks.deliveries(slow.id)).some(({ status }) => status === "failed"),
    );
    const given = (await hooks.deliveries(slow.id)).find(({ status }) => status === "failed");
    expect(given?.lastError).toBe("no answer within 10 seconds");
    await quick.stop();
  });

  it("a delivery succeeds by its response's status, even if the body never ends", async ({
    sandbox,
    receiver,
    hooks,
  }) => {
    const endpoint = await hooks.create(receiver.url);
    receiver.respond = (response) => void response.writeHead(200).write("x".repeat(500_000));
    await bill(sandbox);
    const delivery = await hooks.settled(endpoint.id, "succeeded");
    expect(String(delivery["lastResponseBody"]).length).toBeLessThanOrEqual(1_000);
  });

  it("hundreds of deliveries arrive, each exactly once", async ({ sandbox, receiver, hooks }) => {
    const endpoint = await hooks.create(receiver.url);
    await bills(sandbox, 400);
    const received = await receiver.until(400);
    expect(new Set(received.map(({ event }) => event.id)).size).toBe(400);
    await hooks.settled(endpoint.id, "succeeded");
    const pages = await Promise.all(
      [1, 2, 3, 4].map((page) => hooks.deliveries(endpoint.id, `page=${page}&pageSize=100`)),
    );
    const listed = pages.flat();
    expect(new Set(listed.map(({ id }) => id)).size).toBe(400);
    const sequences = listed.map(({ requestBody }) => BigInt(JSON.parse(requestBody).sequence));
    expect(sequences).toEqual(sequences.toSorted((a, b) => (a < b ? 1 : -1)));
  });

  it("deliveries go on after the service was killed, with the same bodies and retry times", async ({
    sandbox,
    receiver,
    hooks,
  }) => {
    const endpoint = await hooks.create(receiver.url);
    receiver.answer(500);
    await bill(sandbox);
    await hooks.settled(endpoint.id, "failed");
    receiver.respond = () => undefined;
    await bill(sandbox);
    await receiver.until(2);
    // The request that is open stays without an answer. The new process may send at once.
    receiver.answer(200);
    await sandbox.restart("SIGKILL");
    await receiver.until(3);
    expect(receiver.received[2]?.body).toBe(receiver.received[1]?.body);
    await hooks.settled(endpoint.id, "succeeded");
    const [cutOff, failed] = await hooks.deliveries(endpoint.id);
    expect(cutOff?.attemptCount).toBe(1);
    expect(failed).toMatchObject({ status: "failed", attemptCount: 1 });
    await sandbox.control.advanceWire("PT1M");
    await receiver.until(4);
    expect(receiver.received[3]?.body).toBe(receiver.received[0]?.body);
  });
});
