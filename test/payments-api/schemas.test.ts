import { expect, test } from "vitest";
import { eventSchema } from "../../src/payments-api/index.ts";
import { payment, rejection, sendJson, startService } from "./local-service.ts";

async function answering(body: unknown) {
  const service = await startService((_received, response) => sendJson(response, 200, body));
  return service.client();
}

test("unknown fields are left out, and unknown values are kept", async () => {
  const client = await answering(payment("p", { status: "teleported", novelty: { a: 1 } }));
  const read = await client.payments.get("p");
  expect(read.status).toBe("teleported");
  expect(read).not.toHaveProperty("novelty");
});

test("absent and null fields read as null", async () => {
  const client = await answering({ id: "p", status: "held", amountCents: 5, failureReason: null });
  expect(await client.payments.get("p")).toEqual({
    id: "p",
    status: "held",
    amountCents: 5,
    contactId: null,
    payableId: null,
    bankAccountId: null,
    paymentRail: null,
    scheduledAt: null,
    processedAt: null,
    failureReason: null,
    createdAt: null,
    updatedAt: null,
  });
});

test("a field that is only shown may have any type, but one that says whose money it is may not", async () => {
  const shown = await answering(payment("p", { failureReason: { code: "R01" }, processedAt: 17 }));
  expect(await shown.payments.get("p")).toMatchObject({ failureReason: null, processedAt: null });
  const owned = await answering(payment("p", { payableId: 17 }));
  expect(await rejection(owned.payments.get("p"))).toMatchObject({
    code: "unexpected_answer",
    message: expect.stringContaining("payableId"),
  });
});

test.each([12.5, "1250", null, undefined, 2 ** 60])(
  "a payment with an amount of %j is refused",
  async (amount) => {
    const client = await answering(payment("p", { amountCents: amount }));
    expect(String(await rejection(client.payments.get("p")))).toContain("amountCents");
  },
);

test("the error of a malformed list item names its place", async () => {
  const client = await answering({
    items: [payment("a"), payment("b", { amountCents: "many" })],
    totalCount: 2,
  });
  const error = await rejection(client.payments.list());
  expect(error).toMatchObject({ name: "UnexpectedAnswerError", status: 200 });
  expect(String(error)).toContain("items[1].amountCents");
  expect(String(error)).not.toContain("many");
});

test("an item of the payables list needs no more than an id", async () => {
  const client = await answering({
    items: [{ id: "a" }, { id: "b", dueDate: null, totalAmountCents: "?", contact: { id: "c" } }],
    totalCount: 2,
  });
  const { items } = await client.payables.list();
  expect(items[0]?.dueDate).toBeUndefined();
  expect(items[1]).toMatchObject({ dueDate: null, contact: { id: "c", displayName: null } });
  expect(items[1]?.totalAmountCents).toBeUndefined();
});

test("a payable is read if it has the fields that paying needs", async () => {
  const client = await answering({
    id: "a",
    status: "approved",
    paymentStatus: "none",
    totalAmountCents: 100,
    amountPaidCents: 0,
  });
  expect(await client.payables.get("a")).toMatchObject({
    totalAmountCents: 100,
    remainingAmountCents: null,
    dueDate: null,
    contact: { id: null, displayName: null },
    items: [],
  });
});

test("a contact without a bank account reads as null, and a malformed bank account is refused", async () => {
  const contact = { id: "c", type: "payee", status: "active", paymentReady: false };
  expect(await (await answering(contact)).contacts.get("c")).toMatchObject({
    bankAccount: null,
    emails: [],
    updatedAt: null,
  });
  const odd = await answering({ ...contact, bankAccount: { last4: 6789 } });
  expect(String(await rejection(odd.contacts.get("c")))).toContain("bankAccount.last4");
});

test("bank accounts and webhook endpoints are read from a bare list or from inside an object", async () => {
  const account = { id: "ba", status: "verified", isDefault: true };
  expect(await (await answering([account])).bankAccounts.list()).toHaveLength(1);
  expect(await (await answering({ items: [account] })).bankAccounts.list()).toMatchObject([
    { id: "ba", isDefault: true, name: null },
  ]);
  for (const body of [{ items: [{ id: "we" }] }, { data: [{ id: "we" }] }]) {
    expect(await (await answering(body)).webhookEndpoints.list()).toMatchObject([{ id: "we" }]);
  }
});

test.each([
  ["itself", (record: unknown) => record],
  ["under its own name", (record: unknown) => ({ payment: record })],
  ["under data", (record: unknown) => ({ data: record })],
])("a single payment may be returned %s", async (_, wrap) => {
  const client = await answering(wrap(payment("p")));
  expect(await client.payments.get("p")).toMatchObject({ id: "p", amountCents: 12_500 });
});

test.each([{}, { ok: true }, null, { result: { verified: true } }])(
  "adding or verifying a bank account counts as done if the response is %j",
  async (body) => {
    const { bankAccounts } = await answering(body);
    const account = { accountNumber: "1234", routingNumber: "021000021" } as const;
    const made = await bankAccounts.create({ ...account, accountType: "checking" });
    expect(made).toBeUndefined();
    expect(await bankAccounts.verifyMicroDeposits("ba", [1, 2])).toBeUndefined();
  },
);

test("the time of the last accounting sync may have a different name", async () => {
  const status = await answering({ data: { lastSyncAt: "2026-11-20T12:00:00Z" } });
  expect((await status.accounting.getStatus("b")).lastSyncedAt).toBe("2026-11-20T12:00:00Z");
  const sync = await answering({ completedAt: "2026-11-20T12:00:00Z" });
  expect((await sync.accounting.getSyncStatus("b", "i")).finishedAt).toBe("2026-11-20T12:00:00Z");
});

test("the pay fields of a funding source are kept exactly as they are", async () => {
  const pay = { paymentRail: "SERVICE", fundingSource: "balance", nested: { a: [1] } };
  const client = await answering({
    items: [{ id: "balance", kind: "balance", canPay: true, pay, isDefault: true }],
  });
  expect((await client.fundingSources.list())[0]?.pay).toEqual(pay);
});

test("the balance is read if it has the fields that paying needs", async () => {
  const client = await answering({ status: "open", availableCents: 5, canSendPayments: true });
  expect(await client.balance.get()).toMatchObject({ availableCents: 5, reservedCents: null });
});

test("events of unknown types are accepted", () => {
  const event = { id: "evt_1", type: "moon.landed", data: { object: "moon", id: "m1" } };
  expect(eventSchema.parse({ ...event, sequence: "12345678901234567890", extra: 1 })).toEqual({
    ...event,
    sequence: "12345678901234567890",
    createdAt: null,
    businessId: null,
  });
  expect(eventSchema.parse({ ...event, sequence: "soon" }).sequence).toBeNull();
  expect(eventSchema.safeParse({ ...event, data: null }).success).toBe(false);
});
