import { describe, expect } from "vitest";
import { sandboxTest } from "./sandbox-test.ts";
import {
  type Created,
  defaultBank,
  fromBalance,
  makeBill,
  makeVendor,
  newYorkDay,
  type Page,
  pay,
  type Payment,
  paymentsOf,
  unique,
} from "./world.ts";

const it = sandboxTest("blank");

describe("creating a payment (API specification, section 4)", () => {
  it("paying a bill returns 201 with a payment of the remaining amount", async ({ sandbox }) => {
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

  it("an amount above $100,000 is split into payments that add up to it", async ({ sandbox }) => {
    const payableId = await makeBill(sandbox, { totalAmountCents: 250_000_01 });
    const { body } = await pay(sandbox, { payableId });
    expect(body.payments.map(({ amountCents }) => amountCents)).toEqual([
      100_000_00, 100_000_00, 50_000_01,
    ]);
    const whole = await makeBill(sandbox, { totalAmountCents: 100_000_00 });
    expect((await pay(sandbox, { payableId: whole })).body.payments).toHaveLength(1);
  });

  it("a bill can be paid in part, then the rest", async ({ sandbox }) => {
    const payableId = await makeBill(sandbox, { totalAmountCents: 1_000 });
    expect((await pay(sandbox, { payableId, amountCents: 400 })).status).toBe(201);
    const rest = await pay(sandbox, { payableId });
    expect(rest.body.payments.map(({ amountCents }) => amountCents)).toEqual([600]);
  });

  it("a direct payment to a contact generates an approved bill", async ({ sandbox }) => {
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

  it("a verified bank account is debited only if the ACH debit authorization is accepted", async ({
    sandbox,
  }) => {
    const payableId = await makeBill(sandbox);
    const bankAccountId = await defaultBank(sandbox);
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

  it("the documented bankAccountId alone is enough, unless the authorization is declined", async ({
    sandbox,
  }) => {
    const payableId = await makeBill(sandbox);
    const body = { payableId, bankAccountId: await defaultBank(sandbox) };
    const declined = await sandbox.api("POST", "/v1/payments", {
      key: unique("k"),
      body: { ...body, achAuthorizationAccepted: false },
    });
    expect(declined.status).toBe(422);
    const paid = await sandbox.api<Created>("POST", "/v1/payments", { key: unique("k"), body });
    expect(paid.status).toBe(201);
    expect(paid.body.payments).toMatchObject([{ paymentRail: "PROVIDER" }]);
  });

  it("a payment from the balance may also name the default bank account", async ({ sandbox }) => {
    const payableId = await makeBill(sandbox);
    const answer = await pay(sandbox, { payableId, bankAccountId: await defaultBank(sandbox) });
    expect(answer.body.payments).toMatchObject([{ paymentRail: "SERVICE", bankAccountId: null }]);
  });

  it.for<[string, number, string, object]>([
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
  ])("a payment with %s is refused with %i", async ([_, status, field, body], { sandbox }) => {
    const answer = await sandbox.api("POST", "/v1/payments", {
      key: unique("k"),
      body: Array.isArray(body) ? body : { ...fromBalance, ...body },
    });
    expect(answer).toMatchObject({
      status,
      body: { error: "validation_error", message: expect.any(String), details: { field } },
    });
  });

  it("a payment needs a funding source that exists and that may be used", async ({ sandbox }) => {
    const payableId = await makeBill(sandbox);
    const send = (body: object) =>
      sandbox.api("POST", "/v1/payments", { key: unique("k"), body: { payableId, ...body } });
    expect((await send({})).status).toBe(400);
    expect((await send({ bankAccountId: "ba_none" })).status).toBe(404);
    expect((await send({ fundingSource: "piggy bank" })).status).toBe(422);
    for (const fundingSource of ["balance", "linked_bank", "ba_none"]) {
      expect(await send({ fundingSource, bankAccountId: "ba_none" })).toMatchObject({
        status: 404,
        body: { error: "not_found" },
      });
    }
    expect((await send({ paymentRail: "SERVICE", bankAccountId: "ba_none" })).status).toBe(404);
    expect(await paymentsOf(sandbox, payableId)).toEqual([]);
    expect((await send({ fundingSource: "balance", paymentRail: "PROVIDER" })).status).toBe(400);
    expect(await send({ fundingSource: "linked_bank", paymentRail: "SERVICE" })).toMatchObject({
      status: 403,
      body: { error: "feature_unavailable" },
    });
  });

  it("a payment can't be scheduled for today in New York or earlier", async ({ sandbox }) => {
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

  it("paying an unknown bill or contact, or another organization's, returns 404", async ({
    sandbox,
  }) => {
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

describe("listing payments", () => {
  it("payments are listed newest first without repeats or gaps, and can be filtered", async ({
    sandbox,
  }) => {
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

  it.for([
    ["page=0", 422],
    ["pageSize=0", 422],
    ["pageSize=101", 422],
    ["page=two", 400],
    ["status=paid", 422],
    ["createdAfter=yesterday", 422],
  ])("listing payments with ?%s is refused with %i", async ([query, status], { sandbox }) => {
    const answer = await sandbox.api("GET", `/v1/payments?${query}`);
    expect(answer).toMatchObject({ status, body: { error: "validation_error" } });
  });
});
