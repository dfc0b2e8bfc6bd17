import { expect } from "vitest";
import type { Json, TestSandbox } from "../../support/sandbox.ts";
import { sandboxTest } from "../sandbox-test.ts";
import { WebhookApi } from "../webhooks/receiver.ts";
import { makeBill, makeVendor, type Page } from "../world.ts";
import { type Invoice, Invoices, items } from "./invoices.ts";

const it = sandboxTest("blank").extend("invoices", ({ sandbox }) => new Invoices(sandbox));

async function list(sandbox: TestSandbox, query = ""): Promise<Page<Invoice>> {
  return (await sandbox.api<Page<Invoice>>("GET", `/v1/invoices${query}`)).body;
}

it("an invoice is returned with every field", async ({ sandbox, invoices }) => {
  const customerId = await makeVendor(sandbox, { displayName: "Payer Inc." });
  const answer = await invoices.post("", {
    customerId,
    items,
    dueDate: "2031-02-28",
    issueDate: "2031-01-31",
    customNumber: "2031/7",
    description: "As agreed",
  });
  expect(answer.status).toBe(201);
  expect(answer.body).toEqual({
    id: expect.any(String),
    publicId: "INV-000001",
    status: "draft",
    paymentStatus: "none",
    totalAmountCents: 100_000,
    amountPaidCents: 0,
    remainingAmountCents: 100_000,
    dueDate: "2031-02-28",
    issueDate: "2031-01-31",
    customNumber: "2031/7",
    description: "As agreed",
    customer: { id: customerId, displayName: "Payer Inc." },
    paymentLink: { enabled: false, url: expect.stringMatching(/^https:/), expiresAt: null },
    dashboardUrl: expect.stringContaining(answer.body.id),
    items: [
      { ...items[0], totalCents: 80_000 },
      { ...items[1], description: null, totalCents: 20_000 },
    ],
  });
  expect(await invoices.get(answer.body.id)).toEqual(answer.body);
});

it("an invited customer of an invoice has no id until they have joined", async ({
  sandbox,
  invoices,
}) => {
  const customer = { displayName: "Invited LLC", email: "pay@invited.example" };
  const { body } = await invoices.post("", { customer, totalAmountCents: 500 });
  expect(body.customer).toEqual({ id: null, displayName: "Invited LLC" });
  expect(body["items"]).toEqual([]);
  const joined = await invoices.act(body.id, { action: "join" });
  expect(joined.customer).toEqual({ id: expect.any(String), displayName: "Invited LLC" });
  const contact = await sandbox.api("GET", `/v1/contacts/${joined.customer.id}`);
  expect(contact.body).toMatchObject({ type: "business", paymentDirection: "can_pay" });
  await expect(invoices.act(body.id, { action: "join" })).rejects.toThrow("422");
});

it("a bill's id or an unknown id returns 404 on every invoice path", async ({
  sandbox,
  invoices,
}) => {
  const billId = await makeBill(sandbox);
  for (const id of [billId, "inv_none"]) {
    const read = await sandbox.api("GET", `/v1/invoices/${id}`);
    expect(read.status).toBe(404);
    expect(read.body["error"]).toBe("not_found");
    for (const write of ["send", "void", "mark-paid", "payment-link"]) {
      expect((await invoices.post(`/${id}/${write}`)).status).toBe(404);
    }
  }
  const { id } = await invoices.create();
  expect((await sandbox.api("GET", `/v1/payables/${id}`)).status).toBe(404);
});

it.for<[string, (customerId: string) => Json, number, string]>([
  ["no customer", () => ({ items }), 400, "customerId"],
  [
    "two customers",
    (customerId) => ({ customerId, customer: { displayName: "B" }, items }),
    400,
    "customerId",
  ],
  ["neither items nor a total", (customerId) => ({ customerId }), 400, "totalAmountCents"],
  [
    "a total of nothing",
    (customerId) => ({ customerId, totalAmountCents: 0 }),
    422,
    "totalAmountCents",
  ],
  [
    "a total that its items contradict",
    (customerId) => ({ customerId, items, totalAmountCents: 7 }),
    422,
    "totalAmountCents",
  ],
  [
    "a date that there is not",
    (customerId) => ({ customerId, items, dueDate: "2031-02-30" }),
    422,
    "dueDate",
  ],
  [
    "a text as an amount",
    (customerId) => ({ customerId, totalAmountCents: "12" }),
    400,
    "totalAmountCents",
  ],
])("an invoice with %s is refused", async ([_, body, status, field], { invoices }) => {
  const answer = await invoices.post("", body(await invoices.customer()));
  expect(answer.status).toBe(status);
  expect(answer.body["error"]).toBe("validation_error");
  expect(answer.body["details"]).toMatchObject({ field });
});

it("an invoice for an unknown or archived customer is refused", async ({ sandbox, invoices }) => {
  expect((await invoices.post("", { customerId: "con_none", items })).status).toBe(404);
  const customerId = await invoices.customer();
  await sandbox.api("POST", `/v1/contacts/${customerId}/archive`);
  const archived = await invoices.post("", { customerId, items });
  expect([archived.status, archived.body["details"]]).toEqual([422, { field: "customerId" }]);
});

it("sending a draft invoice opens it, and it can be sent only once", async ({ invoices }) => {
  const { id } = await invoices.create();
  const sent = await invoices.post(`/${id}/send`);
  expect([sent.status, sent.body.status]).toEqual([200, "open"]);
  const again = await invoices.post(`/${id}/send`);
  expect(again.status).toBe(422);
  expect(again.body).toMatchObject({ error: "validation_error", details: { status: "open" } });
  const unnamed = await invoices.create({ items: [{ quantity: 1, unitAmountCents: 5 }] });
  expect((await invoices.post(`/${unnamed.id}/send`)).status).toBe(422);
});

it("only a draft or an open invoice can be voided", async ({ invoices }) => {
  for (const make of [() => invoices.create(), () => invoices.open()]) {
    const { id } = await make();
    expect((await invoices.post(`/${id}/void`)).body.status).toBe("void");
    expect((await invoices.post(`/${id}/void`)).status).toBe(422);
  }
  const paid = await invoices.given({ status: "paid" });
  expect((await invoices.post(`/${paid.id}/void`)).body["details"]).toMatchObject({
    status: "paid",
  });
});

it("an open invoice can be declined by its customer or blocked by the customer's business", async ({
  invoices,
}) => {
  for (const [action, status] of [
    ["decline", "declined"],
    ["block", "blocked"],
  ]) {
    const { id } = await invoices.open();
    expect(await invoices.act(id, { action })).toMatchObject({ status, paymentStatus: "none" });
    await expect(invoices.act(id, { action: "pay" })).rejects.toThrow("422");
    const other = await invoices.open();
    expect(await invoices.act(other.id, { status })).toMatchObject({ status });
  }
  const draft = await invoices.create();
  await expect(invoices.act(draft.id, { action: "decline" })).rejects.toThrow("422");
});

it("an invoice can be marked as paid, in parts or as a whole, and no money moves", async ({
  sandbox,
  invoices,
}) => {
  const { id } = await invoices.open();
  const part = await invoices.post(`/${id}/mark-paid`, { amountCents: 30_000 });
  expect(part.body).toMatchObject({
    status: "open",
    paymentStatus: "none",
    amountPaidCents: 30_000,
    remainingAmountCents: 70_000,
  });
  const tooMuch = await invoices.post(`/${id}/mark-paid`, { amountCents: 70_001 });
  expect([tooMuch.status, tooMuch.body["details"]]).toEqual([422, { field: "amountCents" }]);
  expect((await invoices.post(`/${id}/void`)).status).toBe(422);
  const rest = await invoices.post(`/${id}/mark-paid`);
  expect(rest.body).toMatchObject({
    status: "paid",
    paymentStatus: "settled",
    remainingAmountCents: 0,
  });
  expect((await invoices.post(`/${id}/mark-paid`)).status).toBe(422);
  const draft = await invoices.create();
  expect((await invoices.post(`/${draft.id}/mark-paid`)).status).toBe(422);
  expect(await sandbox.control.ledger()).toEqual([]);
});

it("a payment link is enabled only while it is on and unexpired and the invoice can be paid", async ({
  sandbox,
  invoices,
}) => {
  const { id, paymentLink } = await invoices.create();
  const enabled = async () => (await invoices.get(id)).paymentLink.enabled;
  expect(await enabled()).toBe(false);
  await invoices.post(`/${id}/send`);
  expect(await enabled()).toBe(true);
  const off = await invoices.post(`/${id}/payment-link`, { enabled: false });
  expect(off.body.paymentLink).toEqual({ ...paymentLink, enabled: false });
  const { bank } = await sandbox.control.clock();
  const expiresAt = new Date(Date.parse(bank) + 3_600_000).toISOString();
  const on = await invoices.post(`/${id}/payment-link`, { expiresAt });
  expect(on.body.paymentLink).toEqual({ ...paymentLink, enabled: true, expiresAt });
  await sandbox.control.advance("PT2H");
  expect(await enabled()).toBe(false);
  const past = await invoices.post(`/${id}/payment-link`, { expiresAt });
  expect([past.status, past.body["details"]]).toEqual([422, { field: "expiresAt" }]);
  await invoices.post(`/${id}/payment-link`);
  expect(await enabled()).toBe(true);
  await sandbox.control.changeBusiness({ setup: "incomplete" });
  expect(await enabled()).toBe(false);
  await sandbox.control.changeBusiness({ setup: "complete" });
  await invoices.post(`/${id}/mark-paid`);
  expect(await enabled()).toBe(false);
  expect((await invoices.post(`/${id}/payment-link`)).status).toBe(422);
  expect((await invoices.post(`/${id}/payment-link`, { enabled: "yes" })).status).toBe(400);
});

it("invoices are listed newest first, by page, status, customer and search", async ({
  sandbox,
  invoices,
}) => {
  const first = await invoices.create({ description: "Roof, 100% new" });
  const second = await invoices.open();
  const third = await invoices.open();
  const ids = async (query: string) => (await list(sandbox, query)).items.map(({ id }) => id);
  expect(await ids("")).toEqual([third.id, second.id, first.id]);
  expect(await list(sandbox, "?pageSize=2&page=2")).toMatchObject({
    items: [{ id: first.id }],
    totalCount: 3,
  });
  expect(await ids("?status=open")).toEqual([third.id, second.id]);
  expect(await ids(`?customerId=${second.customer.id}`)).toEqual([second.id]);
  expect(await ids("?search=100%25")).toEqual([first.id]);
  expect(await ids(`?search=${third.customer.displayName}`)).toEqual([third.id]);
  await invoices.post(`/${third.id}/mark-paid`);
  expect(await ids("?paymentStatus=settled")).toEqual([third.id]);
  expect((await sandbox.api("GET", "/v1/invoices?status=lost")).status).toBe(422);
});

it("each change of an invoice sends its own event", async ({ sandbox, receiver, invoices }) => {
  await new WebhookApi(sandbox).create(receiver.url, [
    "invoice.created",
    "invoice.sent",
    "invoice.updated",
    "invoice.voided",
    "invoice.declined",
    "invoice.blocked",
    "invoice.paid",
    "invoice.payment.partially_paid",
  ]);
  const { id } = await invoices.open();
  await invoices.post(`/${id}/payment-link`, { enabled: false });
  await invoices.post(`/${id}/mark-paid`, { amountCents: 1 });
  await invoices.post(`/${id}/mark-paid`);
  await invoices.act((await invoices.open()).id, { action: "decline" });
  await invoices.act((await invoices.open()).id, { action: "block" });
  await invoices.post(`/${(await invoices.create()).id}/void`);
  await receiver.until(13);
  const told = receiver.received
    .map(({ event }) => event)
    .toSorted((a, b) => (BigInt(a.sequence) < BigInt(b.sequence) ? -1 : 1));
  expect(told.map(({ type }) => type.slice("invoice.".length))).toEqual([
    "created",
    "sent",
    "updated",
    "payment.partially_paid",
    "paid",
    "created",
    "sent",
    "declined",
    "created",
    "sent",
    "blocked",
    "created",
    "voided",
  ]);
  expect(told[0]?.data).toEqual({ object: "invoice", id });
});

it("a write is replayed under its key, and the key is refused for another write", async ({
  invoices,
}) => {
  const { id } = await invoices.open();
  const body = { amountCents: 10 };
  const first = await invoices.post(`/${id}/mark-paid`, body, "key");
  expect((await invoices.post(`/${id}/mark-paid`, body, "key")).text).toBe(first.text);
  expect((await invoices.get(id)).amountPaidCents).toBe(10);
  const other = await invoices.post(`/${id}/void`, undefined, "key");
  expect(other.body["error"]).toBe("idempotency_conflict");
});

it("another organization's invoices are hidden, and sending needs a write scope", async ({
  sandbox,
  invoices,
}) => {
  await sandbox.control.reset("two-businesses");
  const { id } = await invoices.create();
  const token = sandbox.businesses[1]?.token ?? "";
  expect((await sandbox.api("GET", `/v1/invoices/${id}`, { token })).status).toBe(404);
  expect((await sandbox.api("POST", `/v1/invoices/${id}/send`, { token })).status).toBe(404);
  const foreign = await sandbox.api("GET", "/v1/invoices", { token });
  expect(foreign.body).toEqual({ items: [], totalCount: 0 });
  const reader = await sandbox.control.token(undefined, { scopes: ["invoices:read"] });
  const read = await sandbox.api("GET", `/v1/invoices/${id}`, { token: reader });
  expect(read.status).toBe(200);
  const send = await sandbox.api("POST", `/v1/invoices/${id}/send`, { token: reader });
  expect(send.status).toBe(403);
});
