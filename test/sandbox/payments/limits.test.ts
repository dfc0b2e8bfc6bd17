import { describe, expect } from "vitest";
import type { TestSandbox } from "../../support/sandbox.ts";
import { sharedSandboxTest } from "../sandbox-test.ts";
import { makeBill, makeVendor, newYorkDay, type Page, pay, paymentsOf, unique } from "../world.ts";

const it = sharedSandboxTest().extend("contactId", { scope: "file" }, ({ service }) =>
  makeVendor(service),
);

const direct = (sandbox: TestSandbox, contactId: string, body: object, key = unique("k")) =>
  pay(sandbox, { contactId, amountCents: 1, ...body }, key);

describe("the limits of payments (API specification, section 8), at each and one past it", () => {
  it("amountCents must be at least 1", async ({ sandbox, contactId }) => {
    expect((await direct(sandbox, contactId, { amountCents: 1 })).status).toBe(201);
    expect(await direct(sandbox, contactId, { amountCents: 0 })).toMatchObject({
      status: 422,
      body: { error: "validation_error", details: { field: "amountCents" } },
    });
  });

  it("customNumber takes up to 21 characters", async ({ sandbox, contactId }) => {
    const answer = await direct(sandbox, contactId, { customNumber: "n".repeat(21) });
    const bill = await sandbox.api("GET", `/v1/payables/${answer.body.payableId}`);
    expect(bill.body["customNumber"]).toBe("n".repeat(21));
    expect(await direct(sandbox, contactId, { customNumber: "n".repeat(22) })).toMatchObject({
      status: 422,
      body: { details: { field: "customNumber" } },
    });
  });

  it("scheduledAt must be tomorrow or later", async ({ sandbox, contactId }) => {
    expect(
      (await direct(sandbox, contactId, { scheduledAt: await newYorkDay(sandbox, 1) })).status,
    ).toBe(201);
    expect(
      await direct(sandbox, contactId, { scheduledAt: await newYorkDay(sandbox, 0) }),
    ).toMatchObject({
      status: 422,
      body: { details: { field: "scheduledAt" } },
    });
  });

  it("an Idempotency-Key takes up to 64 characters", async ({ sandbox, contactId }) => {
    expect((await direct(sandbox, contactId, {}, "k".repeat(64))).status).toBe(201);
    expect(await direct(sandbox, contactId, {}, "k".repeat(65))).toMatchObject({
      status: 400,
      body: { error: "validation_error" },
    });
  });

  it("a cancel's reason takes up to 500 characters", async ({ sandbox, contactId }) => {
    const { body } = await direct(sandbox, contactId, {
      scheduledAt: await newYorkDay(sandbox, 1),
    });
    const cancel = (reason: string) =>
      sandbox.api("POST", `/v1/payments/${body.payments[0]?.id}/cancel`, {
        key: unique("k"),
        body: { reason },
      });
    expect(await cancel("r".repeat(501))).toMatchObject({
      status: 422,
      body: { details: { field: "reason" } },
    });
    expect((await cancel("r".repeat(500))).status).toBe(200);
  });

  it.for(["/v1/payments", "/v1/payables", "/v1/contacts", "/v1/balance/transactions"])(
    "page of %s starts at 1, and pageSize is 1 to 100",
    async (path, { sandbox }) => {
      const list = (query: string) => sandbox.api<Page<unknown>>("GET", `${path}?${query}`);
      for (const query of ["pageSize=1", "pageSize=100", "page=1"]) {
        expect((await list(query)).status).toBe(200);
      }
      for (const query of ["pageSize=0", "pageSize=101", "page=0"]) {
        expect(await list(query)).toMatchObject({
          status: 422,
          body: { error: "validation_error" },
        });
      }
    },
  );

  it("a payment above $100,000.00 is split", async ({ sandbox }) => {
    for (const [totalAmountCents, parts] of [
      [10_000_000, 1],
      [10_000_001, 2],
    ] as const) {
      const payableId = await makeBill(sandbox, { totalAmountCents });
      await pay(sandbox, { payableId });
      expect(await paymentsOf(sandbox, payableId)).toHaveLength(parts);
    }
  });

  it("a list shows 25 items by default", async ({ sandbox, contactId }) => {
    for (let i = 0; i < 26; i += 1) await direct(sandbox, contactId, {});
    const { body } = await sandbox.api<Page<unknown>>("GET", "/v1/payments");
    expect(body.items).toHaveLength(25);
    expect(body.totalCount).toBeGreaterThan(25);
  });
});
