import { expect, test } from "vitest";
import { eventSchema } from "../../src/payments-api/index.ts";
import { payment, sendJson, startService } from "./local-service.ts";

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
  const held = { id: "p", status: "held", amountCents: 5, payableId: null, failureReason: null };
  const client = await answering(held);
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

test("a field that is only shown may have any type, but one that says whose money it is makes its payment unreadable", async () => {
  const shown = await answering(payment("p", { failureReason: { code: "R01" }, processedAt: 17 }));
  const read = await shown.payments.get("p");
  expect(read).toMatchObject({ failureReason: "unreadable", processedAt: null });
  expect(read.unreadable).toBeUndefined();
  const owned = await answering(payment("p", { payableId: 17 }));
  expect(await owned.payments.get("p")).toMatchObject({
    status: "unreadable",
    payableId: null,
    unreadable: { payableId: "17" },
  });
});

test.each([12.5, "1250", null, undefined, 2 ** 60, -5151, 0])(
  "a payment with an amount of %j is unreadable, and keeps its bill",
  async (amount) => {
    const client = await answering(payment("p", { amountCents: amount }));
    expect(await client.payments.get("p")).toMatchObject({
      ...{ id: "p", status: "unreadable", payableId: "pay_1" },
      unreadable: { amountCents: expect.any(String) },
    });
  },
);

test("an item of a list that is no record, or has no id, doesn't keep the others from being read", async () => {
  const items = [payment("a"), 7, payment("b", { id: { deep: 1 } }), null];
  const client = await answering({ items, totalCount: items.length });
  const { items: read } = await client.payments.list();
  expect(read.map(({ status }) => status)).toEqual([
    ...["scheduled", "unreadable", "unreadable", "unreadable"],
  ]);
  expect(read[2]).toMatchObject({ payableId: "pay_1", unreadable: { id: "a record" } });
  expect(new Set(read.map(({ id }) => id)).size).toBe(items.length);
  expect((await client.payments.list()).items).toEqual(read);
});

test("of a record that is shown several times, a field is read only if every showing has the same in it", async () => {
  const all = { id: "ba", status: "verified", type: "checking", name: "Main", isDefault: true };
  const { type: _, ...withoutType } = all;
  const items = [all, { ...all, name: "Other" }, withoutType, { ...all, institutionName: "Bank" }];
  const { bankAccounts } = await answering(items);
  expect(await bankAccounts.list()).toMatchObject([
    {
      ...{ id: "ba", status: "verified", isDefault: true },
      ...{ name: "unreadable", type: "unreadable", institutionName: "unreadable" },
    },
  ]);
  const odd = await answering([all, { ...all, status: "removed" }, all]);
  expect(await odd.bankAccounts.list()).toMatchObject([
    { id: "ba", status: "unreadable", unreadable: { status: "two values" } },
  ]);
});

test("a field that is called like something of every object is compared as any other", async () => {
  const fields = '"id":"b","toString":1';
  const body = `[{"id":"b"},{${fields},"__proto__":{"name":"Other"}},{${fields}}]`;
  const service = await startService((_received, response) => {
    response.writeHead(200, { "content-type": "application/json" }).end(body);
  });
  const [business, ...others] = await service.client().businesses.list();
  expect(others).toEqual([]);
  expect(business?.name).toBeUndefined();
  expect(business).toHaveProperty("toString", ["two values"]);
});

test("a text of a megabyte is cut, and an id that long is none", async () => {
  const long = "x".repeat(1_000_000);
  const client = await answering(payment("p", { failureReason: long, contactId: long }));
  const { failureReason, contactId, unreadable } = await client.payments.get("p");
  expect(failureReason).toHaveLength(2_001);
  expect(contactId).toBeNull();
  expect(unreadable?.["contactId"]?.length).toBeLessThan(50);
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

test("a contact without a bank account reads as null, and a malformed bank account can't be paid to", async () => {
  const contact = { id: "c", type: "payee", status: "active", paymentReady: false };
  expect(await (await answering(contact)).contacts.get("c")).toMatchObject({
    bankAccount: null,
    emails: [],
    updatedAt: null,
  });
  const odd = await answering({ ...contact, paymentReady: true, bankAccount: { last4: 6789 } });
  expect(await odd.contacts.get("c")).toMatchObject({
    ...{ status: "unreadable", paymentReady: false, bankAccount: null },
    unreadable: { bankAccount: "a record" },
  });
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
  expect(eventSchema.parse({ ...event, data: null }).data).toEqual({ object: null, id: null });
  expect(eventSchema.safeParse([event]).success).toBe(false);
});
