import { expect } from "vitest";
import type { Json } from "../../support/sandbox.ts";
import { sandboxTest } from "../sandbox-test.ts";
import { makeVendor, type Page } from "../world.ts";
import { Accounting } from "./books.ts";

const it = sandboxTest("blank").extend("accounting", async ({ sandbox }) => {
  const accounting = new Accounting(sandbox);
  await accounting.connect();
  return accounting;
});

const mapVendor = (accounting: Accounting, connectionId: unknown, accountingVendorId: unknown) =>
  accounting.post(`/${accounting.id}/vendors/mappings`, { connectionId, accountingVendorId });
const mapBank = (
  accounting: Accounting,
  fundingSourceId: unknown,
  accountingBankAccountId: unknown,
) =>
  accounting.post(`/${accounting.id}/bank-accounts/mappings`, {
    fundingSourceId,
    accountingBankAccountId,
  });

it("invoice-fields lists which payable field is which field of an accounting bill", async ({
  accounting,
}) => {
  const { status, body } = await accounting.get<{ items: Json[] }>(
    `/${accounting.id}/invoice-fields`,
  );
  expect(status).toBe(200);
  expect(body.items).toContainEqual({
    payableField: "dueDate",
    accountingField: "dueDate",
    direction: "from_accounting",
  });
});

it("a contact mapped to a vendor gets the vendor's bills and is not changed by a sync", async ({
  sandbox,
  accounting,
}) => {
  const contactId = await makeVendor(sandbox, { displayName: "Our own name" });
  const answer = await mapVendor(accounting, contactId, "vendor-4");
  expect(answer.status).toBe(201);
  expect(answer.body).toEqual({
    accountingIntegrationId: accounting.id,
    connectionId: contactId,
    accountingVendorId: "vendor-4",
    accountingVendorName: "Maple Street Landlords",
    mappedAt: expect.any(String),
  });
  await accounting.record({ entityType: "vendors", id: "vendor-4", email: "x@maple.example" });
  expect(await accounting.sync()).toMatchObject({ vendors: { created: 4, unchanged: 1 } });
  const { body } = await sandbox.api<Page<Json>>("GET", "/v1/payables?search=RENT");
  expect(body.items).toMatchObject([{ contact: { id: contactId, displayName: "Our own name" } }]);
});

it("a mapping replaces one that a sync chose, but not one that a person made", async ({
  sandbox,
  accounting,
}) => {
  await accounting.sync();
  const mine = await makeVendor(sandbox);
  expect((await mapVendor(accounting, mine, "vendor-1")).status).toBe(201);
  expect((await mapVendor(accounting, mine, "vendor-1")).status).toBe(201);
  const taken = await mapVendor(accounting, await makeVendor(sandbox), "vendor-1");
  expect(taken.status).toBe(409);
  expect(taken.body).toMatchObject({ error: "mapping_exists", details: { mappedTo: mine } });
  const second = await mapVendor(accounting, mine, "vendor-2");
  expect(second.body).toMatchObject({
    error: "mapping_exists",
    details: { mappedTo: "vendor-1" },
  });
});

it("funding sources, including the balance, can be mapped to accounts of the books", async ({
  sandbox,
  accounting,
}) => {
  const { body } = await sandbox.api<{ items: { id: string }[] }>("GET", "/v1/bank-accounts");
  const bankId = body.items[0]?.id;
  expect(await mapBank(accounting, "balance", "account-2")).toMatchObject({
    status: 201,
    body: {
      fundingSourceId: "balance",
      accountingBankAccountId: "account-2",
      accountingBankAccountName: "1010 Payroll",
    },
  });
  expect((await mapBank(accounting, bankId, "account-2")).status).toBe(409);
  expect((await mapBank(accounting, bankId, "account-1")).status).toBe(201);
  expect(await accounting.sync("bankAccounts")).toMatchObject({ bankAccounts: { unchanged: 2 } });
});

it("mapping an unknown contact, vendor, source or account returns 404", async ({
  sandbox,
  accounting,
}) => {
  const contactId = await makeVendor(sandbox);
  for (const answer of [
    await mapVendor(accounting, "con_none", "vendor-1"),
    await mapVendor(accounting, contactId, "vendor-none"),
    await mapBank(accounting, "ba_none", "account-1"),
    await mapBank(accounting, "balance", "account-none"),
  ]) {
    expect(answer.status).toBe(404);
    expect(answer.body).toMatchObject({ error: "not_found" });
  }
});

it("an invalid mapping is refused with the name of the field", async ({ accounting }) => {
  expect((await mapVendor(accounting, undefined, "vendor-1")).body).toMatchObject({
    details: { field: "connectionId" },
  });
  expect((await mapVendor(accounting, "con_1", 4)).body).toMatchObject({
    details: { field: "accountingVendorId" },
  });
  expect((await mapBank(accounting, "balance", undefined)).body).toMatchObject({
    details: { field: "accountingBankAccountId" },
  });
  expect((await mapBank(accounting, "", "account-1")).status).toBe(422);
});

it("a mapping needs a connection", async ({ sandbox, accounting }) => {
  await sandbox.api("DELETE", accounting.path("/disconnect"));
  const answer = await mapBank(accounting, "balance", "account-1");
  expect(answer.status).toBe(409);
  expect(answer.body).toMatchObject({ error: "accounting_not_connected" });
});
