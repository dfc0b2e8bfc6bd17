import { describe, expect } from "vitest";
import { sandboxTest } from "./sandbox-test.ts";
import { fromBalance, makeBill, pay, paymentsOf, statusesOf } from "./world.ts";

const it = sandboxTest("blank");

const conflict = { status: 409, body: { error: "idempotency_conflict" } };
const unconfirmed = { status: 409, body: { error: "payment_unconfirmed" } };
const payments = { method: "POST", path: "/v1/payments" };

describe("the idempotency key (API specification, section 7)", () => {
  it("money writes require an idempotency key of 1 to 64 characters", async ({ sandbox }) => {
    const payableId = await makeBill(sandbox);
    const body = { payableId, ...fromBalance };
    for (const key of [undefined, "", "k".repeat(65)]) {
      const answer = await sandbox.api("POST", "/v1/payments", {
        body,
        ...(key !== undefined && { key }),
      });
      expect(answer).toMatchObject({ status: 400, body: { error: "validation_error" } });
    }
    expect((await pay(sandbox, { payableId }, "k".repeat(64))).status).toBe(201);
    const path = `/v1/payables/${payableId}/retry-payment`;
    expect((await sandbox.api("POST", path)).status).toBe(400);
    expect((await sandbox.api("POST", "/v1/payments/x/cancel")).status).toBe(400);
  });

  it("a repeated key replays the first response byte for byte, whatever has happened since", async ({
    sandbox,
  }) => {
    const payableId = await makeBill(sandbox);
    const first = await pay(sandbox, { payableId }, "key");
    await sandbox.control.advance("P30D");
    await sandbox.control.changeBusiness({ paymentsLocked: true });
    const second = await pay(sandbox, { payableId }, "key");
    expect([second.status, second.text]).toEqual([first.status, first.text]);
    expect(await paymentsOf(sandbox, payableId)).toHaveLength(1);
  });

  it("a request is recognized with its fields reordered and null for an omitted field", async ({
    sandbox,
  }) => {
    const payableId = await makeBill(sandbox);
    const first = await sandbox.api("POST", "/v1/payments", {
      key: "key",
      body: { payableId, paymentRail: "SERVICE", fundingSource: "balance" },
    });
    const second = await sandbox.api("POST", "/v1/payments", {
      key: "key",
      body: { fundingSource: "balance", paymentRail: "SERVICE", payableId, amountCents: null },
    });
    expect(second.text).toBe(first.text);
  });

  it("a key that is reused with another body, path or operation conflicts", async ({ sandbox }) => {
    const payableId = await makeBill(sandbox);
    const other = await makeBill(sandbox);
    await pay(sandbox, { payableId, amountCents: 100 }, "key");
    expect(await pay(sandbox, { payableId, amountCents: 101 }, "key")).toMatchObject(conflict);
    expect(await pay(sandbox, { payableId: other }, "key")).toMatchObject(conflict);
    for (const path of ["/v1/contacts", `/v1/payables/${payableId}/retry-payment`]) {
      const answer = await sandbox.api("POST", path, { key: "key", body: { displayName: "A" } });
      expect(answer).toMatchObject(conflict);
    }
  });

  it("two businesses can use the same idempotency key independently", async ({ sandbox }) => {
    const [, other] = await sandbox.control.reset("two-businesses");
    const body = { displayName: "Acme" };
    const mine = await sandbox.api("POST", "/v1/contacts", { key: "key", body });
    const theirs = await sandbox.api("POST", "/v1/contacts", {
      key: "key",
      body: { displayName: "Another" },
      token: other?.token ?? "",
    });
    expect([mine.status, theirs.status]).toEqual([201, 201]);
  });

  it("a key is optional for writes that move no money, and replays them too", async ({
    sandbox,
  }) => {
    const body = { displayName: "Acme" };
    const first = await sandbox.api("POST", "/v1/contacts", { key: "key", body });
    const second = await sandbox.api("POST", "/v1/contacts", { key: "key", body });
    expect(second.text).toBe(first.text);
    expect(await sandbox.api("POST", "/v1/contacts", { body })).toMatchObject({ status: 409 });
  });

  it("of many simultaneous requests with the same key, exactly one takes effect", async ({
    sandbox,
  }) => {
    const payableId = await makeBill(sandbox);
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => pay(sandbox, { payableId }, "key")),
    );
    const texts = new Set(answers.filter(({ status }) => status === 201).map(({ text }) => text));
    expect(texts.size).toBe(1);
    expect(await paymentsOf(sandbox, payableId)).toHaveLength(1);
  });
});

describe("what is stored under a key", () => {
  it("a 400, 403, 404 or 422 stays stored under its key even when its cause is gone", async ({
    sandbox,
  }) => {
    const payableId = await makeBill(sandbox, { totalAmountCents: 100 });
    expect((await pay(sandbox, { payableId, amountCents: 101 }, "too-much")).status).toBe(422);
    await sandbox.control.changePayable(payableId, { totalAmountCents: 500 });
    expect((await pay(sandbox, { payableId, amountCents: 101 }, "too-much")).status).toBe(422);
    expect((await pay(sandbox, { payableId, amountCents: 101 }, "another")).status).toBe(201);

    expect((await pay(sandbox, { payableId: "x", contactId: "y" }, "both")).status).toBe(400);
    expect(await pay(sandbox, { payableId }, "both")).toMatchObject(conflict);
    expect((await pay(sandbox, { payableId: "bill_none" }, "none")).status).toBe(404);
    expect(await pay(sandbox, { payableId }, "none")).toMatchObject(conflict);

    const reader = await sandbox.control.token(undefined, { scopes: ["payments:read"] });
    const body = { payableId, ...fromBalance };
    const forbidden = await sandbox.api("POST", "/v1/payments", {
      key: "scope",
      body,
      token: reader,
    });
    expect(forbidden).toMatchObject({ status: 403, body: { message: "Forbidden" } });
    const replayed = await sandbox.api("POST", "/v1/payments", { key: "scope", body });
    expect([replayed.status, replayed.text]).toEqual([403, forbidden.text]);
  });

  it("a 401, 409, 429 or state refusal is not stored and doesn't bind its key to a body", async ({
    sandbox,
  }) => {
    const payableId = await makeBill(sandbox, { status: "draft" });
    const body = { payableId, ...fromBalance };
    const anonymous = await sandbox.api("POST", "/v1/payments", { key: "key", body, token: null });
    expect(anonymous.status).toBe(401);
    expect((await pay(sandbox, { payableId }, "key")).body["error"]).toBe("approval_required");
    await sandbox.control.changePayable(payableId, { status: "approved" });
    await sandbox.control.faults([
      { ...payments, when: "during", effect: "status", status: 429, times: 1 },
    ]);
    expect((await pay(sandbox, { payableId, amountCents: 5 }, "key")).status).toBe(429);
    const answer = await pay(sandbox, { payableId, amountCents: 10 }, "key");
    expect(answer.body.payments).toMatchObject([{ amountCents: 10 }]);
  });

  it("a refused cancel is not stored, because it may be possible later", async ({ sandbox }) => {
    const payableId = await makeBill(sandbox);
    await sandbox.control.outcome({ match: { payableId }, outcome: "hold" });
    const { body } = await pay(sandbox, { payableId });
    const path = `/v1/payments/${body.payments[0]?.id}/cancel`;
    expect((await sandbox.api("POST", path, { key: "key" })).body["error"]).toBe(
      "payment_not_cancellable",
    );
    await sandbox.control.advance("PT1M");
    expect((await sandbox.api("POST", path, { key: "key" })).status).toBe(200);
  });

  it("a money write's 5xx is stored as payment_unconfirmed, whether or not it took effect", async ({
    sandbox,
  }) => {
    const payableId = await makeBill(sandbox);
    await sandbox.control.faults([
      { ...payments, when: "after", effect: "status", status: 500, times: 1 },
      { ...payments, when: "during", effect: "status", status: 503, times: 1 },
    ]);
    // A "during" fault strikes earlier in a request's life than an "after" fault.
    expect((await pay(sandbox, { payableId }, "without")).status).toBe(503);
    expect(await statusesOf(sandbox, payableId)).toEqual([]);
    expect((await pay(sandbox, { payableId }, "with")).status).toBe(500);
    expect(await statusesOf(sandbox, payableId)).toEqual(["pending"]);
    await sandbox.control.advanceWire("P30D");
    sandbox.business.token = await sandbox.control.token();
    for (const key of ["without", "with"]) {
      expect(await pay(sandbox, { payableId }, key)).toMatchObject(unconfirmed);
    }
    expect(await statusesOf(sandbox, payableId)).toHaveLength(1);
  });

  it("a 5xx of a write that moves no money is not stored", async ({ sandbox }) => {
    await sandbox.control.faults([
      { method: "POST", path: "/v1/contacts", when: "during", effect: "status", times: 1 },
    ]);
    const send = () =>
      sandbox.api("POST", "/v1/contacts", { key: "key", body: { displayName: "A" } });
    expect((await send()).status).toBe(500);
    expect((await send()).status).toBe(201);
  });
});

describe("a first request that still runs, or died", () => {
  it("a key conflicts while its first request still runs, then replays its response", async ({
    sandbox,
  }) => {
    const payableId = await makeBill(sandbox);
    await sandbox.control.faults([
      { ...payments, when: "after", effect: "delay", delayMs: 2_000, times: 1 },
    ]);
    const first = pay(sandbox, { payableId }, "key");
    await expect.poll(() => paymentsOf(sandbox, payableId)).toHaveLength(1);
    expect(await pay(sandbox, { payableId }, "key")).toMatchObject(conflict);
    const { status, text } = await first;
    expect(status).toBe(201);
    expect((await pay(sandbox, { payableId }, "key")).text).toBe(text);
  });

  it("a money write that is still running after five minutes is payment_unconfirmed forever", async ({
    sandbox,
  }) => {
    const payableId = await makeBill(sandbox);
    await sandbox.control.faults([
      { ...payments, when: "after", effect: "delay", delayMs: 3_000, times: 1 },
    ]);
    const first = pay(sandbox, { payableId }, "key");
    await expect.poll(() => paymentsOf(sandbox, payableId)).toHaveLength(1);
    await sandbox.control.advanceWire("PT5M");
    expect(await pay(sandbox, { payableId }, "key")).toMatchObject(unconfirmed);
    expect((await first).status).toBe(201);
    expect(await pay(sandbox, { payableId }, "key")).toMatchObject(unconfirmed);
    expect(await paymentsOf(sandbox, payableId)).toHaveLength(1);
  });

  it("a money write that died conflicts for five minutes, then is payment_unconfirmed forever", async ({
    sandbox,
  }) => {
    const payableId = await makeBill(sandbox);
    await sandbox.control.faults([{ ...payments, when: "during", effect: "drop", times: 1 }]);
    await expect(pay(sandbox, { payableId }, "key")).rejects.toThrow("fetch failed");
    expect(await pay(sandbox, { payableId }, "key")).toMatchObject(conflict);
    await sandbox.control.advanceWire("PT4M50S");
    expect(await pay(sandbox, { payableId }, "key")).toMatchObject(conflict);
    await sandbox.control.advanceWire("PT10S");
    expect(await pay(sandbox, { payableId }, "key")).toMatchObject(unconfirmed);
    expect(await pay(sandbox, { payableId }, "key")).toMatchObject(unconfirmed);
    expect(await paymentsOf(sandbox, payableId)).toHaveLength(0);
    expect((await pay(sandbox, { payableId }, "next")).status).toBe(201);
  });

  it("a write that moves no money and died can run again after five minutes", async ({
    sandbox,
  }) => {
    await sandbox.control.faults([
      { method: "POST", path: "/v1/contacts", when: "during", effect: "drop", times: 1 },
    ]);
    const send = () =>
      sandbox.api("POST", "/v1/contacts", { key: "key", body: { displayName: "A" } });
    await expect(send()).rejects.toThrow("fetch failed");
    expect(await send()).toMatchObject(conflict);
    await sandbox.control.advanceWire("PT5M");
    const second = await send();
    expect(second.status).toBe(201);
    expect((await send()).text).toBe(second.text);
  });

  it("a slow first request may still pay after its key was declared unconfirmed", async ({
    sandbox,
  }) => {
    const payableId = await makeBill(sandbox);
    await sandbox.control.faults([
      { ...payments, when: "during", effect: "delay", delayMs: 1_500, times: 1 },
    ]);
    const late = pay(sandbox, { payableId }, "key");
    await expect
      .poll(() => pay(sandbox, { payableId }, "key").then(({ body }) => body["error"]))
      .toBe("idempotency_conflict");
    await sandbox.control.advanceWire("PT6M");
    expect(await pay(sandbox, { payableId }, "key")).toMatchObject(unconfirmed);
    expect(await paymentsOf(sandbox, payableId)).toHaveLength(0);
    expect((await late).status).toBe(201);
    expect(await paymentsOf(sandbox, payableId)).toHaveLength(1);
    expect(await pay(sandbox, { payableId }, "key")).toMatchObject(unconfirmed);
  });

  it("a split payment that fails halfway may leave one of its parts behind", async ({
    sandbox,
  }) => {
    const payableId = await makeBill(sandbox, { totalAmountCents: 250_000_00 });
    await sandbox.control.faults([{ ...payments, when: "during", effect: "partial", times: 1 }]);
    expect((await pay(sandbox, { payableId }, "key")).status).toBe(500);
    expect(await pay(sandbox, { payableId }, "key")).toMatchObject(unconfirmed);
    expect(await paymentsOf(sandbox, payableId)).toMatchObject([{ amountCents: 100_000_00 }]);
  });
});
