import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { startSandbox, type TestSandbox } from "../support/sandbox.ts";
import {
  type Created,
  fromBalance,
  makeBill,
  makeVendor,
  newYorkDay,
  type Page,
  pay,
  type Payment,
  unique,
} from "./world.ts";

let sandbox: TestSandbox;
beforeAll(async () => {
  sandbox = await startSandbox();
});
afterAll(() => sandbox.stop());
beforeEach(() => sandbox.control.reset("blank"));

async function defaultBank(): Promise<string> {
  const { body } = await sandbox.api<Page<{ id: string }>>("GET", "/v1/bank-accounts");
  return body.items[0]?.id ?? "";
}

describe("creating a payment (API specification, section 4)", () => {
  it("answers 201 with the payment of a bill, over what is left to pay", async () => {
    const payableId = await makeBill(sandbox, { totalAmountCents: 123_45 });
    const answer = await pay(sandbox, { payableId });
    expect(answer.status).toBe(201);
    expect(answer.body).toEqual({
      payableId,
      payments: [
        {
          id: expect.any(String),
          status: "pending",
          amountCents: 123_45,
          contactId: expect.any(String),
          payableId,
          bankAccountId: null,
          paymentRail: "SERVICE",
          scheduledAt: expect.any(String),
          processedAt: null,
          failureReason: null,
          createdAt: expect.any(String),
          updatedAt: expect.any(String),
        },
      ],
    });
    const read = await sandbox.api("GET", `/v1/payments/${answer.body.payments[0]?.id}`);
    expect(read.body).toMatchObject({ id: answer.body.payments[0]?.id, payableId });
  });

  it("splits what is above $100,000 into payments that sum to it", async () => {
    const payableId = await makeBill(sandbox, { totalAmountCents: 250_000_01 });
    const { body } = await pay(sandbox, { payableId });
    expect(body.payments.map(({ amountCents }) => amountCents)).toEqual([
      100_000_00, 100_000_00, 50_000_01,
    ]);
    const whole = await makeBill(sandbox, { totalAmountCents: 100_000_00 });
    expect((await pay(sandbox, { payableId: whole })).body.payments).toHaveLength(1);
  });

  it("pays a part, then the rest", async () => {
    const payableId = await makeBill(sandbox, { totalAmountCents: 1_000 });
    expect((await pay(sandbox, { payableId, amountCents: 400 })).status).toBe(201);
    const rest = await pay(sandbox, { payableId });
    expect(rest.body.payments.map(({ amountCents }) => amountCents)).toEqual([600]);
  });

  it("pays a contact directly by generating an approved bill", async () => {
    const contactId = await makeVendor(sandbox);
    const answer = await pay(sandbox, {
      contactId,
      amountCents: 5_000,
      description: "Deposit",
      customNumber: "D-1",
    });
    expect(answer.status).toBe(201);
    const bill = await sandbox.api("GET", `/v1/payables/${answer.body.payableId}`);
    expect(bill.body).toMatchObject({
      status: "approved",
      totalAmountCents: 5_000,
      description: "Deposit",
      customNumber: "D-1",
      contact: { id: contactId },
    });
  });

  it("debits a verified bank account once the ACH debit authorization is accepted", async () => {
    const payableId = await makeBill(sandbox);
    const bankAccountId = await defaultBank();
    const body = { payableId, bankAccountId, paymentRail: "PROVIDER" };
    const refused = await sandbox.api("POST", "/v1/payments", { key: unique("k"), body });
    expect(refused).toMatchObject({
      status: 422,
      body: { error: "validation_error", details: { field: "achAuthorizationAccepted" } },
    });
    const paid = await sandbox.api<Created>("POST", "/v1/payments", {
      key: unique("k"),
      body: { ...body, achAuthorizationAccepted: true },
    });
    expect(paid.status).toBe(201);
    expect(paid.body.payments).toMatchObject([{ paymentRail: "PROVIDER", bankAccountId }]);
  });

  it("takes the documented bankAccountId alone, unless the authorization is declined", async () => {
    const payableId = await makeBill(sandbox);
    const body = { payableId, bankAccountId: await defaultBank() };
    const declined = await sandbox.api("POST", "/v1/payments", {
      key: unique("k"),
      body: { ...body, achAuthorizationAccepted: false },
    });
    expect(declined.status).toBe(422);
    const paid = await sandbox.api<Created>("POST", "/v1/payments", { key: unique("k"), body });
    expect(paid.status).toBe(201);
    expect(paid.body.payments).toMatchObject([{ paymentRail: "PROVIDER" }]);
  });

  it("takes the balance's fields together with the default bank account's id", async () => {
    const payableId = await makeBill(sandbox);
    const answer = await pay(sandbox, { payableId, bankAccountId: await defaultBank() });
    expect(answer.body.payments).toMatchObject([{ paymentRail: "SERVICE", bankAccountId: null }]);
  });

  it.each<[string, number, string, object]>([
    ["both payableId and contactId", 400, "payableId", { payableId: "x", contactId: "y" }],
    ["neither payableId nor contactId", 400, "payableId", {}],
    ["contactId without an amount", 400, "amountCents", { contactId: "x" }],
    ["an amount of zero", 422, "amountCents", { payableId: "x", amountCents: 0 }],
    ["a fraction of a cent", 422, "amountCents", { payableId: "x", amountCents: 1.5 }],
    ["an amount as text", 400, "amountCents", { payableId: "x", amountCents: "100" }],
    ["an unknown clearing", 422, "clearing", { payableId: "x", clearing: "FAST" }],
    [
      "a custom number of 22",
      422,
      "customNumber",
      { payableId: "x", customNumber: "n".repeat(22) },
    ],
    ["no date", 422, "scheduledAt", { payableId: "x", scheduledAt: "2030-02-30" }],
    ["an instant", 422, "scheduledAt", { payableId: "x", scheduledAt: "2030-01-01T09:00:00Z" }],
    ["a body that is a list", 400, "", []],
  ])("refuses %s with %i", async (_, status, field, body) => {
    const answer = await sandbox.api("POST", "/v1/payments", {
      key: unique("k"),
      body: Array.isArray(body) ? body : { ...fromBalance, ...body },
    });
    expect(answer).toMatchObject({
      status,
      body: { error: "validation_error", message: expect.any(String), details: { field } },
    });
  });

  it("needs a source, and one that exists", async () => {
    const payableId = await makeBill(sandbox);
    const send = (body: object) =>
      sandbox.api("POST", "/v1/payments", { key: unique("k"), body: { payableId, ...body } });
    expect((await send({})).status).toBe(400);
    expect((await send({ bankAccountId: "ba_none" })).status).toBe(404);
    expect((await send({ fundingSource: "piggy bank" })).status).toBe(422);
    expect((await send({ fundingSource: "balance", paymentRail: "PROVIDER" })).status).toBe(400);
    expect(await send({ fundingSource: "linked_bank", paymentRail: "SERVICE" })).toMatchObject({
      status: 403,
      body: { error: "feature_unavailable" },
    });
  });

  it("refuses a date that is not after today in New York", async () => {
    const payableId = await makeBill(sandbox);
    for (const days of [0, -1]) {
      const answer = await pay(sandbox, {
        payableId,
        scheduledAt: await newYorkDay(sandbox, days),
      });
      expect(answer).toMatchObject({ status: 422, body: { details: { field: "scheduledAt" } } });
    }
    const tomorrow = await newYorkDay(sandbox, 1);
    const answer = await pay(sandbox, { payableId, scheduledAt: tomorrow });
    expect(answer.body.payments).toMatchObject([{ status: "scheduled" }]);
  });

  it("answers 404 for a bill or contact that doesn't exist or is another organization's", async () => {
    const [, other] = await sandbox.control.reset("two-businesses");
    const payableId = await makeBill(sandbox);
    const answer = await sandbox.api("POST", "/v1/payments", {
      key: unique("k"),
      token: other?.token ?? "",
      body: { payableId, ...fromBalance },
    });
    expect(answer).toMatchObject({ status: 404, body: { error: "not_found" } });
    expect((await pay(sandbox, { payableId: "bill_none" })).status).toBe(404);
    expect((await pay(sandbox, { contactId: "con_none", amountCents: 1 })).status).toBe(404);
  });
});

describe("state refusals (API specification, section 7)", () => {
  it.each(["draft", "pending_approval", "declined", "blocked", "void"])(
    "needs the approval of a bill that is %s",
    async (status) => {
      const payableId = await makeBill(sandbox, { status });
      expect(await pay(sandbox, { payableId })).toMatchObject({
        status: 409,
        body: { error: "approval_required", details: { status } },
      });
    },
  );

  it("does not pay a vendor without a bank account, or one that is archived or gone", async () => {
    const without = await makeVendor(sandbox, { bankAccount: undefined });
    const archived = await makeVendor(sandbox);
    await sandbox.api("POST", `/v1/contacts/${archived}/archive`);
    const revoked = await makeVendor(sandbox);
    await sandbox.control.changeContact(revoked, { status: "revoked" });
    const payer = await makeVendor(sandbox);
    await sandbox.control.changeContact(payer, { paymentDirection: "can_pay" });
    const bills = await Promise.all(
      [without, archived, revoked, payer, null].map((contactId) =>
        makeBill(sandbox, { contactId }),
      ),
    );
    for (const payableId of bills) {
      expect(await pay(sandbox, { payableId })).toMatchObject({
        status: 422,
        body: { error: "contact_not_payable" },
      });
    }
  });

  it("refuses an amount above what is owed, and one that is on its way already", async () => {
    const payableId = await makeBill(sandbox, { totalAmountCents: 1_000 });
    expect(await pay(sandbox, { payableId, amountCents: 1_001 })).toMatchObject({
      status: 422,
      body: { error: "validation_error", details: { field: "amountCents" } },
    });
    await pay(sandbox, { payableId, amountCents: 700 });
    const inProgress = { status: 409, body: { error: "payment_in_progress" } };
    expect(await pay(sandbox, { payableId, amountCents: 301 })).toMatchObject(inProgress);
    expect((await pay(sandbox, { payableId })).status).toBe(201);
    expect(await pay(sandbox, { payableId })).toMatchObject(inProgress);
    await sandbox.control.advance("P7D");
    expect(await pay(sandbox, { payableId })).toMatchObject({
      status: 422,
      body: { error: "validation_error" },
    });
  });

  it("knows when the balance is too small, but reserves nothing for scheduled payments", async () => {
    const bills = await Promise.all(
      [600_000_00, 600_000_00, 600_000_00].map((totalAmountCents) =>
        makeBill(sandbox, { totalAmountCents }),
      ),
    );
    expect((await pay(sandbox, { payableId: bills[0] })).status).toBe(201);
    expect(await pay(sandbox, { payableId: bills[1] })).toMatchObject({
      status: 409,
      body: { error: "insufficient_balance", details: { availableCents: 400_000_00 } },
    });
    const scheduledAt = await newYorkDay(sandbox, 1);
    expect((await pay(sandbox, { payableId: bills[2], scheduledAt })).status).toBe(201);
    const { body } = await sandbox.api("GET", "/v1/balance");
    expect(body["availableCents"]).toBe(400_000_00);
  });

  it("refuses by the business's state, and again accepts when it has passed", async () => {
    const payableId = await makeBill(sandbox, { totalAmountCents: 1_000 });
    const part = { payableId, amountCents: 100 };
    const states: [object, object, number, string, object?][] = [
      [{ paymentsLocked: true }, { paymentsLocked: false }, 409, "payments_locked"],
      [{ setup: "incomplete" }, { setup: "complete" }, 409, "setup_incomplete"],
      [{ verification: "suspended" }, { verification: "verified" }, 409, "setup_incomplete"],
      [
        { features: { balance: false } },
        { features: { balance: true } },
        403,
        "feature_unavailable",
      ],
      [
        { features: { acceleratedClearing: false } },
        { features: { acceleratedClearing: true } },
        403,
        "feature_unavailable",
        { clearing: "NEXT_AVAILABLE" },
      ],
    ];
    for (const [bad, good, status, error, more] of states) {
      const key = unique("k");
      await sandbox.control.changeBusiness({ ...bad });
      const refused = await pay(sandbox, { ...part, ...more }, key);
      expect(refused).toMatchObject({ status, body: { error } });
      await sandbox.control.changeBusiness({ ...good });
      expect((await pay(sandbox, { ...part, ...more }, key)).status).toBe(201);
    }
  });

  it("asks an unverified business to finish its set-up", async () => {
    await sandbox.control.reset("unverified");
    const payableId = await makeBill(sandbox);
    expect(await pay(sandbox, { payableId })).toMatchObject({
      status: 409,
      body: { error: "setup_incomplete" },
    });
    expect(await sandbox.api("GET", "/v1/balance")).toMatchObject({
      status: 409,
      body: { error: "setup_required", details: { actionUrl: expect.any(String) } },
    });
    await sandbox.control.changeBusiness({ verification: "verified", balanceCents: 100_000 });
    expect((await pay(sandbox, { payableId })).status).toBe(201);
  });
});

describe("listing payments", () => {
  it("pages newest first without repeating or skipping, and filters", async () => {
    const contactId = await makeVendor(sandbox);
    const bills = [];
    for (let i = 0; i < 7; i += 1) bills.push(await makeBill(sandbox, { contactId }));
    for (const payableId of bills) await pay(sandbox, { payableId });
    await pay(sandbox, { payableId: await makeBill(sandbox) });
    const seen: string[] = [];
    for (let page = 1; page <= 3; page += 1) {
      const { body } = await sandbox.api<Page<Payment>>(
        "GET",
        `/v1/payments?contactId=${contactId}&pageSize=3&page=${page}`,
      );
      expect(body.totalCount).toBe(7);
      seen.push(...body.items.map(({ payableId }) => payableId ?? ""));
    }
    expect(seen).toEqual(bills.toReversed());
    const list = (query: string) => sandbox.api<Page<Payment>>("GET", `/v1/payments?${query}`);
    expect((await list("status=pending")).body.totalCount).toBe(8);
    expect((await list("status=completed")).body.totalCount).toBe(0);
    const first = (await list(`payableId=${bills[0]}`)).body.items[0]?.createdAt ?? "";
    expect((await list(`createdAfter=${first}`)).body.totalCount).toBeGreaterThanOrEqual(1);
    expect((await list(`createdBefore=${first}`)).body.items).not.toContainEqual(
      expect.objectContaining({ payableId: bills[0] }),
    );
    expect((await list(`createdAfter=${first}&payableId=${bills[0]}`)).body.totalCount).toBe(1);
  });

  it.each([
    ["page=0", 422],
    ["pageSize=0", 422],
    ["pageSize=101", 422],
    ["page=two", 400],
    ["status=paid", 422],
    ["createdAfter=yesterday", 422],
  ])("refuses ?%s with %i", async (query, status) => {
    const answer = await sandbox.api("GET", `/v1/payments?${query}`);
    expect(answer).toMatchObject({ status, body: { error: "validation_error" } });
  });
});
