import { expect } from "vitest";
import type { Json, TestSandbox } from "../../support/sandbox.ts";
import { sandboxTest } from "../sandbox-test.ts";
import { WebhookApi } from "../webhooks/receiver.ts";
import type { Page } from "../world.ts";
import { Accounting } from "./books.ts";

interface Contact extends Json {
  id: string;
  displayName: string;
  status: string;
}
interface Payable extends Json {
  id: string;
  status: string;
  customNumber: string | null;
  totalAmountCents: number;
  contact: { id: string | null; displayName: string | null };
}

const it = sandboxTest("blank").extend("accounting", async ({ sandbox }) => {
  const accounting = new Accounting(sandbox);
  await accounting.connect();
  return accounting;
});

async function contacts(sandbox: TestSandbox): Promise<Contact[]> {
  return (await sandbox.api<Page<Contact>>("GET", "/v1/contacts?pageSize=100")).body.items;
}

async function payables(sandbox: TestSandbox): Promise<Payable[]> {
  return (await sandbox.api<Page<Payable>>("GET", "/v1/payables?pageSize=100")).body.items;
}

async function billOf(sandbox: TestSandbox, customNumber: string): Promise<Payable> {
  const found = (await payables(sandbox)).find((payable) => payable.customNumber === customNumber);
  if (found === undefined) throw new Error(`no bill ${customNumber}`);
  return found;
}

const status = async (accounting: Accounting) =>
  (await accounting.get(`/${accounting.id}/sync/status`)).body;

it("a sync runs on the bank clock, one at a time, and its status shows the latest", async ({
  sandbox,
  accounting,
}) => {
  expect(await status(accounting)).toMatchObject({ id: null, status: "not_started", results: {} });
  const { status: code, body } = await accounting.post(`/${accounting.id}/sync`);
  expect(code).toBe(201);
  expect(body).toMatchObject({
    status: "running",
    entityTypes: ["vendors", "bankAccounts", "invoices"],
    finishedAt: null,
  });
  const twice = await accounting.post(`/${accounting.id}/sync/vendors`);
  expect(twice.status).toBe(409);
  expect(twice.body).toMatchObject({
    error: "sync_in_progress",
    details: { syncId: body["id"] },
  });
  await sandbox.control.advance("PT10S");
  const none = { created: 0, updated: 0, unchanged: 0, skipped: 0, pushed: 0 };
  expect(await status(accounting)).toMatchObject({
    id: body["id"],
    status: "succeeded",
    finishedAt: expect.any(String),
    results: {
      vendors: { ...none, created: 5 },
      bankAccounts: { ...none, created: 2 },
      invoices: { ...none, created: 6 },
    },
  });
});

it("a sync makes contacts from vendors with an event each, and no duplicates when repeated", async ({
  sandbox,
  receiver,
  accounting,
}) => {
  await new WebhookApi(sandbox).create(receiver.url);
  await accounting.sync("vendors");
  const made = await contacts(sandbox);
  expect(made.map(({ displayName }) => displayName).toSorted()).toEqual([
    "Bluebird Office Supply",
    "Harbor Freight Lines",
    "Kestrel Cloud Hosting",
    "Maple Street Landlords",
    "Quarry & Sons Masonry",
  ]);
  expect(made.find((c) => c.displayName === "Kestrel Cloud Hosting")).toMatchObject({
    type: "payee",
    emails: ["invoices@kestrel.example"],
    bankAccount: { last4: "3177" },
    paymentReady: true,
  });
  await receiver.until(5);
  const told = receiver.received.map(({ event }) => event);
  expect(told.map(({ type }) => type)).toEqual(Array(5).fill("contact.created"));
  expect(new Set(told.map(({ data }) => data.id))).toEqual(new Set(made.map(({ id }) => id)));
  expect(await accounting.sync("vendors")).toMatchObject({ vendors: { created: 0, unchanged: 5 } });
  expect(await contacts(sandbox)).toHaveLength(5);
  expect(await payables(sandbox)).toEqual([]);
});

it("a sync makes draft payables and their vendors from bills, and no duplicates when repeated", async ({
  sandbox,
  receiver,
  accounting,
}) => {
  await new WebhookApi(sandbox).create(receiver.url);
  await accounting.sync("invoices");
  expect(await payables(sandbox)).toHaveLength(6);
  expect(await billOf(sandbox, "INV-20417")).toMatchObject({
    status: "draft",
    totalAmountCents: 85_000,
    dueDate: expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
    contact: { id: expect.any(String), displayName: "Harbor Freight Lines" },
  });
  await receiver.until(11);
  const types = receiver.received.map(({ event }) => event.type).toSorted();
  expect(types).toEqual([
    ...Array<string>(5).fill("contact.created"),
    ...Array<string>(6).fill("payable.created"),
  ]);
  expect(await accounting.sync()).toMatchObject({
    vendors: { unchanged: 5 },
    invoices: { created: 0, unchanged: 6 },
  });
  expect(await payables(sandbox)).toHaveLength(6);
  expect(await contacts(sandbox)).toHaveLength(5);
  const { id } = await billOf(sandbox, "RENT");
  const submitted = await sandbox.api("POST", `/v1/payables/${id}/submit`);
  expect(submitted.body).toMatchObject({ status: "pending_approval" });
});

it("a sync brings what is new or has changed in the books", async ({
  sandbox,
  receiver,
  accounting,
}) => {
  await accounting.sync();
  const vendor = await accounting.record({ entityType: "vendors", displayName: "Newcomer" });
  const lines = [{ name: "Advice", quantity: 1, unitAmountCents: 12_300 }];
  await accounting.record({
    entityType: "invoices",
    vendorId: vendor.id,
    number: "N-1",
    dueDate: "2031-03-01",
    lines,
  });
  await accounting.record({ entityType: "vendors", id: "vendor-2", email: "new@bluebird.example" });
  await accounting.record({ entityType: "vendors", id: "vendor-5", active: false });
  await accounting.record({ entityType: "invoices", id: "bill-4", dueDate: "2031-04-01" });
  await new WebhookApi(sandbox).create(receiver.url);
  expect(await accounting.sync()).toMatchObject({
    vendors: { created: 1, updated: 2, unchanged: 3 },
    invoices: { created: 1, updated: 1, unchanged: 5 },
  });
  expect(await billOf(sandbox, "N-1")).toMatchObject({
    totalAmountCents: 12_300,
    dueDate: "2031-03-01",
    contact: { displayName: "Newcomer" },
  });
  expect(await billOf(sandbox, "RENT")).toMatchObject({ dueDate: "2031-04-01" });
  const all = await contacts(sandbox);
  expect(all.find((c) => c.displayName === "Bluebird Office Supply")).toMatchObject({
    emails: ["new@bluebird.example"],
  });
  expect(all.find((c) => c.displayName === "Quarry & Sons Masonry")?.status).toBe("archived");
  await receiver.until(5);
  expect(receiver.received.map(({ event }) => event.type).toSorted()).toEqual([
    "contact.archived",
    "contact.created",
    "contact.updated",
    "contact.updated",
    "payable.created",
  ]);
});

it("a sync resets the approval of a bill that the books changed, and cancels a void one", async ({
  sandbox,
  receiver,
  accounting,
}) => {
  await accounting.sync();
  const [rent, wall] = [await billOf(sandbox, "RENT"), await billOf(sandbox, "118")];
  await sandbox.control.changePayable(rent.id, { status: "approved" });
  await sandbox.control.changePayable(wall.id, { status: "approved" });
  await new WebhookApi(sandbox).create(receiver.url);
  const lines = [{ name: "Rent", quantity: 1, unitAmountCents: 700_000 }];
  await accounting.record({ entityType: "invoices", id: "bill-4", lines });
  await accounting.record({ entityType: "invoices", id: "bill-6", status: "void" });
  await accounting.sync("invoices");
  expect(await billOf(sandbox, "RENT")).toMatchObject({
    status: "pending_approval",
    totalAmountCents: 700_000,
  });
  expect(await billOf(sandbox, "118")).toMatchObject({ status: "void" });
  await receiver.until(2);
  const told = receiver.received.map(({ event }) => `${event.type} ${event.data.id}`);
  expect(told.toSorted()).toEqual([
    `payable.approval_reset ${rent.id}`,
    `payable.cancelled ${wall.id}`,
  ]);
});

it("a sync skips a bill that is being paid, and marks it paid in the books afterwards", async ({
  sandbox,
  accounting,
}) => {
  await accounting.sync();
  const { id } = await billOf(sandbox, "KCH-0077");
  await sandbox.control.changePayable(id, { status: "approved" });
  const body = { payableId: id, paymentRail: "SERVICE", fundingSource: "balance" };
  const paid = await sandbox.api("POST", "/v1/payments", { key: "pay", body });
  expect(paid.status).toBe(201);
  const lines = [{ name: "Hosting", quantity: 1, unitAmountCents: 1 }];
  await accounting.record({ entityType: "invoices", id: "bill-3", lines });
  expect(await accounting.sync("invoices")).toMatchObject({ invoices: { skipped: 1 } });
  expect(await billOf(sandbox, "KCH-0077")).toMatchObject({ totalAmountCents: 129_900 });
  await sandbox.control.advance("P7D");
  expect(await accounting.sync("invoices")).toMatchObject({ invoices: { pushed: 1 } });
  const books = (await (
    await fetch(`${sandbox.url}/sandbox/accounting/${accounting.businessId}`)
  ).json()) as { invoices: Json[] };
  expect(books.invoices.find((bill) => bill["id"] === "bill-3")).toMatchObject({ status: "paid" });
  expect(await accounting.sync("invoices")).toMatchObject({ invoices: { pushed: 0 } });
});

it("a sync records a bill that the books call paid as paid outside the service", async ({
  sandbox,
  accounting,
}) => {
  await accounting.sync();
  await accounting.record({ entityType: "invoices", id: "bill-2", status: "paid" });
  await accounting.sync("invoices");
  expect(await billOf(sandbox, "BO-3391")).toMatchObject({
    paymentStatus: "settled",
    amountPaidCents: 18_930,
  });
  expect(await sandbox.control.ledger()).toEqual([]);
});

it("a sync uses a contact with the vendor's name instead of making a second", async ({
  sandbox,
  accounting,
}) => {
  const { body } = await sandbox.api<Contact>("POST", "/v1/contacts", {
    body: { displayName: "harbor freight lines" },
  });
  expect(await accounting.sync()).toMatchObject({ vendors: { created: 4, unchanged: 1 } });
  expect((await billOf(sandbox, "INV-20417")).contact.id).toBe(body.id);
  expect(await contacts(sandbox)).toHaveLength(5);
});

it("syncing an unknown entity type or an unknown integration is refused", async ({
  accounting,
}) => {
  const other = await accounting.post(`/${accounting.id}/sync/customers`);
  expect(other.status).toBe(422);
  expect(other.body).toMatchObject({
    error: "validation_error",
    details: { field: "entityType" },
  });
  expect((await accounting.post("/acct_none/sync")).status).toBe(404);
  expect((await accounting.get("/acct_none/sync/status")).status).toBe(404);
});

it("a sync that a restart interrupted is finished, and only once", async ({
  sandbox,
  accounting,
}) => {
  await accounting.post(`/${accounting.id}/sync`);
  await sandbox.restart("SIGKILL");
  await sandbox.control.advance("PT1M");
  expect(await status(accounting)).toMatchObject({ status: "succeeded" });
  expect(await contacts(sandbox)).toHaveLength(5);
  expect(await payables(sandbox)).toHaveLength(6);
});

it("an invalid record for the books is refused", async ({ accounting }) => {
  for (const record of [
    { entityType: "vendors" },
    { entityType: "bankAccounts" },
    { entityType: "invoices", vendorId: "vendor-1" },
    { entityType: "invoices", vendorId: "vendor-99", lines: [] },
    { entityType: "customers" },
  ]) {
    await expect(accounting.record(record)).rejects.toThrow(/4(00|22)/);
  }
});
