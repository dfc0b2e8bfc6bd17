import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startSandbox, type TestSandbox } from "../../support/sandbox.ts";
import { makeBill, makeVendor, newYorkDay, type Page, pay, paymentsOf, unique } from "../world.ts";

let sandbox: TestSandbox;
let contactId = "";
beforeAll(async () => {
  sandbox = await startSandbox();
  contactId = await makeVendor(sandbox);
});
afterAll(() => sandbox.stop());

const direct = (body: object, key = unique("k")) =>
  pay(sandbox, { contactId, amountCents: 1, ...body }, key);

describe("the limits of payments (API specification, section 8), at each and one past it", () => {
  it("amountCents must be at least 1", async () => {
    expect((await direct({ amountCents: 1 })).status).toBe(201);
    expect(await direct({ amountCents: 0 })).toMatchObject({
      status: 422,
      body: { error: "validation_error", details: { field: "amountCents" } },
    });
  });

  it("customNumber takes up to 21 characters", async () => {
    const answer = await direct({ customNumber: "n".repeat(21) });
    const bill = await sandbox.api("GET", `/v1/payables/${answer.body.payableId}`);
    expect(bill.body["customNumber"]).toBe("n".repeat(21));
    expect(await direct({ customNumber: "n".repeat(22) })).toMatchObject({
      status: 422,
      body: { details: { field: "customNumber" } },
    });
  });

  it("scheduledAt must be tomorrow or later", async () => {
    expect((await direct({ scheduledAt: await newYorkDay(sandbox, 1) })).status).toBe(201);
    expect(await direct({ scheduledAt: await newYorkDay(sandbox, 0) })).toMatchObject({
      status: 422,
      body: { details: { field: "scheduledAt" } },
    });
  });

  it("an Idempotency-Key takes up to 64 characters", async () => {
    expect((await direct({}, "k".repeat(64))).status).toBe(201);
    expect(await direct({}, "k".repeat(65))).toMatchObject({
      status: 400,
      body: { error: "validation_error" },
    });
  });

  it("a cancel's reason takes up to 500 characters", async () => {
    const { body } = await direct({ scheduledAt: await newYorkDay(sandbox, 1) });
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

  it.each(["/v1/payments", "/v1/payables", "/v1/contacts", "/v1/balance/transactions"])(
    "page of %s starts at 1, and pageSize is 1 to 100",
    async (path) => {
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

  it("a payment above $100,000.00 is split", async () => {
    for (const [totalAmountCents, parts] of [
      [10_000_000, 1],
      [10_000_001, 2],
    ] as const) {
      const payableId = await makeBill(sandbox, { totalAmountCents });
      await pay(sandbox, { payableId });
      expect(await paymentsOf(sandbox, payableId)).toHaveLength(parts);
    }
  });

  it("a list shows 25 items by default", async () => {
    for (let i = 0; i < 26; i += 1) await direct({});
    const { body } = await sandbox.api<Page<unknown>>("GET", "/v1/payments");
    expect(body.items).toHaveLength(25);
    expect(body.totalCount).toBeGreaterThan(25);
  });
});
