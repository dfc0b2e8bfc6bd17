import { createHash } from "node:crypto";
import { describe, expect } from "vitest";
import type { Json } from "../support/sandbox.ts";
import { sandboxTest } from "./sandbox-test.ts";
import { makeBill, makeVendor, movesOf, type Page, pay, paymentsOf, unique } from "./world.ts";

const it = sandboxTest("blank");

describe("reset", () => {
  it("a reset forgets everything, the ledger and the clocks included", async ({ sandbox }) => {
    await pay(sandbox, { payableId: await makeBill(sandbox) });
    await sandbox.control.advance("P30D");
    await sandbox.control.advanceWire("P1D");
    await sandbox.control.setScale(50);
    await sandbox.control.faults([{ path: "/v1/contacts", when: "before", effect: "status" }]);
    await sandbox.control.reset("blank");
    expect(await sandbox.control.ledger()).toEqual([]);
    expect(await sandbox.control.requests()).toEqual([]);
    expect((await sandbox.api("GET", "/v1/contacts")).body).toEqual({ items: [], totalCount: 0 });
    const { bank, wire, scale } = await sandbox.control.clock();
    expect(scale).toBe(1);
    for (const instant of [bank, wire]) {
      expect(Math.abs(Date.parse(instant) - Date.now())).toBeLessThan(60_000);
    }
  });

  it("a reset to two-businesses loads two businesses with ids of their own", async ({
    sandbox,
  }) => {
    const businesses = await sandbox.control.reset("two-businesses");
    expect(businesses).toHaveLength(2);
    expect(new Set(businesses.map(({ businessId }) => businessId)).size).toBe(2);
  });

  it("a reset loads a fixture object, with the payments that its bills already have", async ({
    sandbox,
  }) => {
    await sandbox.control.reset({
      businesses: [
        {
          name: "Fixture Company",
          balanceCents: 50_000,
          bankAccounts: [{ id: "ba_1", accountNumberLast4: "1111", isDefault: true }],
          contacts: [
            { id: "con_1", displayName: "Vendor", bankAccount: { last4: "2222" } },
            {
              id: "con_2",
              displayName: "Gone",
              status: "revoked",
              updatedAt: "2020-01-01T00:00:00Z",
            },
          ],
          payables: [
            {
              id: "bill_done",
              contactId: "con_1",
              totalAmountCents: 900,
              payments: [{ status: "completed" }],
            },
            { id: "bill_part", contactId: "con_1", totalAmountCents: 900, amountPaidCents: 300 },
            {
              id: "bill_going",
              contactId: "con_1",
              totalAmountCents: 900,
              payments: [{ status: "processing" }],
            },
            {
              id: "bill_failed",
              contactId: "con_1",
              totalAmountCents: 900,
              payments: [{ status: "failed", failureReason: "R01 Insufficient funds" }],
            },
            { id: "bill_draft", status: "draft", totalAmountCents: 900 },
          ],
          webhookEndpoints: [{ url: "http://127.0.0.1:9/hook", secret: "whsec_mine" }],
        },
      ],
      outcomes: [{ match: { payableId: "bill_part" }, outcome: "fail", code: "R02" }],
    });
    expect(sandbox.business.webhookEndpoints).toMatchObject([{ secret: "whsec_mine" }]);
    expect((await sandbox.api("GET", "/v1/balance")).body).toMatchObject({ cashCents: 50_000 });
    const status = async (id: string) => {
      const { body } = await sandbox.api("GET", `/v1/payables/${id}`);
      return [body["paymentStatus"], body["amountPaidCents"]];
    };
    expect(await status("bill_done")).toEqual(["settled", 900]);
    expect(await status("bill_part")).toEqual(["none", 300]);
    expect(await status("bill_going")).toEqual(["processing", 0]);
    expect(await status("bill_failed")).toEqual(["failed", 0]);
    expect(await movesOf(sandbox, "bill_done")).toEqual(["debit", "credit"]);
    expect(await movesOf(sandbox, "bill_part")).toEqual([]);
    await pay(sandbox, { payableId: "bill_part" });
    await sandbox.control.advance("P14D");
    expect(await status("bill_going")).toEqual(["settled", 900]);
    expect(await status("bill_part")).toEqual(["failed", 300]);
  });

  it("a reset to an invalid fixture is refused and forgets nothing", async ({ sandbox }) => {
    const before = await makeVendor(sandbox);
    await sandbox.control.advance("P1D");
    const { bank } = await sandbox.control.clock();
    const bad: unknown[] = [
      "no such fixture",
      { businesses: [{ name: "A", payables: [{ contactId: "con_x", totalAmountCents: 1 }] }] },
      {
        businesses: [
          {
            name: "A",
            contacts: [
              { id: "a", displayName: "A" },
              { id: "a", displayName: "B" },
            ],
          },
        ],
      },
      { businesses: "all" },
    ];
    for (const fixture of bad) {
      await expect(sandbox.control.reset(fixture as Json)).rejects.toThrow(/ 4\d\d /);
    }
    expect((await sandbox.api("GET", `/v1/contacts/${before}`)).status).toBe(200);
    expect(Date.parse((await sandbox.control.clock()).bank)).toBeGreaterThanOrEqual(
      Date.parse(bank),
    );
  });
});

it("the request log has every received request, even a dropped one, with its body's hash", async ({
  sandbox,
}) => {
  const payableId = await makeBill(sandbox);
  await sandbox.control.faults([{ path: "/v1/payments", when: "after", effect: "drop", times: 1 }]);
  await expect(pay(sandbox, { payableId }, "lost")).rejects.toThrow("fetch failed");
  await sandbox.api("GET", "/v1/balance", { token: null });
  const requests = (await sandbox.control.requests()).slice(-2);
  const body = JSON.stringify({ paymentRail: "SERVICE", fundingSource: "balance", payableId });
  expect(requests).toEqual([
    {
      method: "POST",
      path: "/v1/payments",
      business: sandbox.business.businessId,
      key: "lost",
      bodyHash: createHash("sha256").update(body).digest("hex"),
      status: null,
      at: expect.any(String),
    },
    expect.objectContaining({ path: "/v1/balance", business: null, status: 401, bodyHash: null }),
  ]);
});

it("a fixture's bill may name its contact in the shape of the API specification", async ({
  sandbox,
}) => {
  const fixture = {
    businesses: [
      {
        name: "Acme",
        contacts: [{ id: "con_v", displayName: "Vendor", bankAccount: { last4: "1234" } }],
        payables: [{ id: "bill_1", contact: { id: "con_v" }, totalAmountCents: 500 }],
      },
    ],
  };
  await sandbox.control.reset(fixture);
  const bill = await sandbox.api("GET", "/v1/payables/bill_1");
  expect(bill.body).toMatchObject({ contact: { id: "con_v", displayName: "Vendor" } });
  await sandbox.control.reset("blank");
});

it("a change of the clock with an unknown field is refused", async ({ sandbox }) => {
  const answer = await fetch(`${sandbox.url}/sandbox/clock`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ wire: { set: "2020-01-01T00:00:00Z" } }),
  });
  expect(answer.status).toBe(400);
});

it("a change that would set a clock back, or isn't a duration, is refused", async ({ sandbox }) => {
  await expect(sandbox.control.setClock("2020-01-01T00:00:00Z")).rejects.toThrow("422");
  await expect(sandbox.control.advance("-P1D")).rejects.toThrow("422");
  await expect(sandbox.control.advance("tomorrow")).rejects.toThrow("422");
  await expect(sandbox.control.advanceWire("-PT1S")).rejects.toThrow("422");
});

it("resources are dated by the bank clock, responses by the wire clock", async ({ sandbox }) => {
  await sandbox.control.setClock("2035-05-05T12:00:00Z");
  await sandbox.control.advanceWire("P2D");
  sandbox.business.token = await sandbox.control.token();
  const id = await makeVendor(sandbox);
  const answer = await sandbox.api("GET", `/v1/contacts/${id}`);
  expect(answer.body["createdAt"]).toMatch(/^2035-05-05T12:/);
  const aheadMs = Date.parse(answer.headers.get("date") ?? "") - Date.now();
  expect(Math.abs(aheadMs - 2 * 86_400_000)).toBeLessThan(60_000);
});

it("webhooks report what people of the business do to a bill", async ({ sandbox }) => {
  const endpoint = await sandbox.api("POST", "/v1/webhook-endpoints", {
    body: { url: "http://127.0.0.1:9/hook", events: ["*"] },
  });
  const payableId = await makeBill(sandbox, { status: "draft" });
  for (const status of ["approved", "pending_approval", "approved", "declined", "void"]) {
    await sandbox.control.changePayable(payableId, { status });
  }
  const deliveries = await sandbox.api<Page<{ requestBody: string }>>(
    "GET",
    `/v1/webhook-endpoints/${String(endpoint.body["id"])}/deliveries?pageSize=100`,
  );
  const events = deliveries.body.items
    .map(({ requestBody }) => JSON.parse(requestBody) as { type: string; data: { id: string } })
    .filter(({ data }) => data.id === payableId)
    .map(({ type }) => type);
  expect(events.toReversed()).toEqual([
    "payable.created",
    "payable.approved",
    "payable.approval_reset",
    "payable.approved",
    "payable.declined",
    "payable.cancelled",
  ]);
});

it("webhooks report what happens to a bill's payments", async ({ sandbox }) => {
  const endpoint = await sandbox.api("POST", "/v1/webhook-endpoints", {
    body: { url: "http://127.0.0.1:9/hook", events: ["*"] },
  });
  const contactId = await makeVendor(sandbox);
  const make =
    (code?: string, outcome: "fail" | "return" = "fail") =>
    async () => {
      const payableId = await makeBill(sandbox, { contactId, totalAmountCents: 1_000 });
      if (code !== undefined) {
        await sandbox.control.outcome({ match: { payableId }, outcome, code });
      }
      return payableId;
    };
  const settled = await make()();
  const failed = await make("R01")();
  const returned = await make("R02", "return")();
  await pay(sandbox, { payableId: settled, amountCents: 400 });
  await sandbox.control.advance("P7D");
  const [first] = await paymentsOf(sandbox, settled);
  const scheduledAt = new Date(Date.parse(first?.updatedAt ?? "") + 14 * 86_400_000);
  await pay(sandbox, { payableId: settled, scheduledAt: scheduledAt.toISOString().slice(0, 10) });
  for (const payableId of [failed, returned]) await pay(sandbox, { payableId });
  await sandbox.control.advance("P60D");
  const { body } = await sandbox.api<Page<{ requestBody: string }>>(
    "GET",
    `/v1/webhook-endpoints/${String(endpoint.body["id"])}/deliveries?pageSize=100`,
  );
  const events = body.items
    .toReversed()
    .map(({ requestBody }) => JSON.parse(requestBody) as { type: string; data: { id: string } });
  const of = (id: string) => events.filter(({ data }) => data.id === id).map(({ type }) => type);
  expect(of(settled)).toEqual([
    "payable.created",
    "payable.payment.partially_paid",
    "payable.payment.scheduled",
    "payable.paid",
  ]);
  expect(of(failed)).toEqual(["payable.created", "payable.payment.failed"]);
  expect(of(returned)).toEqual(["payable.created", "payable.paid", "payable.payment.reversed"]);
});

it("the control API needs no token and returns 404 for unknown ids and paths", async ({
  sandbox,
}) => {
  const post = (path: string, body: object) =>
    fetch(`${sandbox.url}/sandbox${path}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  for (const path of ["/payables/x", "/contacts/x", "/businesses/x", "/no-such-thing"]) {
    expect((await post(path, {})).status).toBe(404);
  }
  expect((await post("/tokens", { businessId: "biz_none" })).status).toBe(404);
});

it("the control API needs no business id if there is only one business", async ({ sandbox }) => {
  const contactId = await makeVendor(sandbox);
  const post = () =>
    fetch(`${sandbox.url}/sandbox/payables`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ contactId, totalAmountCents: 5, description: unique("bill") }),
    });
  const created = await post();
  expect(created.status).toBe(201);
  expect(await created.json()).toMatchObject({ status: "approved", totalAmountCents: 5 });
});
