import { describe, expect, test } from "vitest";
import { contractWorld, FROM_BALANCE, newKey, refusal } from "./world.ts";

const world = contractWorld();

async function token(options: { scopes?: string[]; expiresInSeconds?: number }): Promise<string> {
  return world.sandbox.control.token(undefined, options);
}

describe("authentication (API specification, section 5)", () => {
  test("a malformed token answers 401 with { statusCode, message: Unauthorized }", async () => {
    const error = await refusal(world.clientWith("no.such.token").payables.list());
    expect(error).toMatchObject({ status: 401, code: "unauthorized", outcome: "not_applied" });
    const { body } = await world.sandbox.api("GET", "/v1/payables", { token: null });
    expect(body).toEqual({ statusCode: 401, message: "Unauthorized" });
  });

  test("an expired token answers 401", async () => {
    const client = world.clientWith(await token({ expiresInSeconds: 60 }));
    await client.payables.list();
    await world.sandbox.control.advanceWire("PT2M");
    expect((await refusal(client.payables.list())).status).toBe(401);
  });

  test("a token that lacks payments:initiate answers 403, and moves no money", async () => {
    const payableId = await world.bill();
    const client = world.clientWith(await token({ scopes: ["payments:read", "payables:read"] }));
    const error = await refusal(client.payments.create({ payableId, ...FROM_BALANCE }, newKey()));
    expect(error).toMatchObject({ status: 403, code: "forbidden", outcome: "not_applied" });
    expect(await world.client.payments.listAll({ payableId })).toEqual([]);
  });

  test("payments are read with payments:read or with payables:read", async () => {
    for (const scope of ["payments:read", "payables:read"]) {
      const client = world.clientWith(await token({ scopes: [scope] }));
      expect((await client.payments.list()).items).toBeInstanceOf(Array);
    }
    const blind = world.clientWith(await token({ scopes: ["webhooks:read"] }));
    expect((await refusal(blind.payments.list())).status).toBe(403);
  });

  test("the balance is read with balance:read only", async () => {
    const client = world.clientWith(await token({ scopes: ["payments:read"] }));
    expect((await refusal(client.balance.get())).status).toBe(403);
  });

  test("a token never appears in an error", async () => {
    const secret = await token({ scopes: [] });
    const error = await refusal(world.clientWith(secret).balance.get());
    expect(`${error.stack} ${JSON.stringify(error)}`).not.toContain(secret);
  });
});

describe("errors (API specification, section 7)", () => {
  test("an error carries a lower snake case code and a message for people", async () => {
    const error = await refusal(world.client.contacts.get("nobody"));
    expect(error.code).toMatch(/^[a-z]+(_[a-z]+)*$/);
    expect(error.message).toContain("404");
  });

  test("429 comes with Retry-After, in seconds or as a date, and nothing was done", async () => {
    const payableId = await world.bill();
    const { payments } = world.client;
    const rule = {
      method: "POST",
      path: "/v1/payments",
      when: "before",
      effect: "status",
    } as const;
    await world.sandbox.control.faults([{ ...rule, status: 429, retryAfter: 3, times: 2 }]);
    const key = newKey();
    for (let time = 0; time < 2; time += 1) {
      const error = await refusal(payments.create({ payableId, ...FROM_BALANCE }, key));
      expect(error).toMatchObject({ status: 429, outcome: "not_applied" });
      expect(error.retryAfterMs).toBeGreaterThan(0);
      expect(error.retryAfterMs).toBeLessThanOrEqual(4_000);
    }
    expect((await payments.create({ payableId, ...FROM_BALANCE }, key)).payments).toHaveLength(1);
  });

  test("an answer that is cut off leaves its effect unknown", async () => {
    const payableId = await world.bill();
    const rule = {
      method: "POST",
      path: "/v1/payments",
      when: "after",
      effect: "malformed",
    } as const;
    await world.sandbox.control.faults([{ ...rule, times: 1 }]);
    const { payments } = world.client;
    const error = await refusal(payments.create({ payableId, ...FROM_BALANCE }, newKey()));
    expect(error.outcome).toBe("unknown");
    expect(await payments.listAll({ payableId })).toHaveLength(1);
  });

  test("insufficient_balance refuses more than the balance holds", async () => {
    const payableId = await world.bill(5_000_000_00);
    const { payments } = world.client;
    const error = await refusal(payments.create({ payableId, ...FROM_BALANCE }, newKey()));
    expect(error).toMatchObject({ code: "insufficient_balance", outcome: "not_applied" });
  });

  test("contact_not_payable refuses a payee without a bank account", async () => {
    const { id: contactId } = await world.client.contacts.create({ displayName: "Bankless" });
    const pay = { contactId, amountCents: 1_00, ...FROM_BALANCE };
    const error = await refusal(world.client.payments.create(pay, newKey()));
    expect(error.code).toBe("contact_not_payable");
  });

  test("approval_required refuses a bill that waits for its approval", async () => {
    const contactId = await world.vendor();
    const bill = { contactId, totalAmountCents: 100, status: "pending_approval" };
    const { id } = await world.sandbox.control.createPayable(bill);
    const call = world.client.payments.create({ payableId: id, ...FROM_BALANCE }, newKey());
    expect((await refusal(call)).code).toBe("approval_required");
  });
});
