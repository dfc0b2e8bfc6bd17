import { describe, expect } from "vitest";
import type { Json, TestSandbox } from "../support/sandbox.ts";
import { sandboxTest } from "./sandbox-test.ts";
import { bankDetails, makeVendor, type Page } from "./world.ts";

const it = sandboxTest("blank");

const create = (sandbox: TestSandbox, body: object) =>
  sandbox.api("POST", "/v1/contacts", { body });

describe("creating a contact", () => {
  it("creating a contact returns 201 with the contact, without its write-only fields", async ({
    sandbox,
  }) => {
    const answer = await create(sandbox, {
      displayName: "Acme Paper",
      emails: ["ap@acme.example"],
      phone: "+1 555 0100",
      address: { streetOne: "1 Main St", city: "Springfield", stateCode: "IL", zipCode: "62701" },
      bankAccount: bankDetails,
      taxInfo: { legalName: "Acme Paper LLC", taxIdType: "ein", taxId: "12-3456789" },
    });
    expect(answer.status).toBe(201);
    expect(answer.body).toEqual({
      id: expect.any(String),
      type: "payee",
      status: "active",
      displayName: "Acme Paper",
      emails: ["ap@acme.example"],
      phone: "+1 555 0100",
      paymentDirection: "can_be_paid",
      netTerms: null,
      bankAccount: { last4: "6789" },
      taxInfo: { legalName: "Acme Paper LLC", taxIdType: "ein", taxIdMask: "6789" },
      paymentReady: true,
      createdAt: expect.any(String),
      updatedAt: null,
      archivedAt: null,
    });
    expect(answer.text).not.toContain(bankDetails.accountNumber);
    const read = await sandbox.api("GET", `/v1/contacts/${String(answer.body["id"])}`);
    expect(read.body).toEqual(answer.body);
  });

  it("a contact without a bank account is not ready for payments", async ({ sandbox }) => {
    expect((await create(sandbox, { displayName: "Acme" })).body).toMatchObject({
      paymentReady: false,
      bankAccount: null,
      taxInfo: null,
      emails: [],
    });
  });

  it("a contact with an existing name or email is refused unless duplicates are allowed", async ({
    sandbox,
  }) => {
    await create(sandbox, { displayName: "Acme", emails: ["ap@acme.example"] });
    const twins = [{ displayName: "ACME" }, { displayName: "Other", emails: ["AP@acme.example"] }];
    for (const twin of twins) {
      expect((await create(sandbox, twin)).status).toBe(409);
      expect((await create(sandbox, { ...twin, allowDuplicates: true })).status).toBe(201);
    }
  });

  it.for<[object, number]>([
    [{}, 400],
    [{ displayName: 5 }, 400],
    [{ displayName: "" }, 422],
    [{ displayName: "A", emails: Array.from({ length: 6 }, (_, i) => `a${i}@b.example`) }, 422],
    [{ displayName: "A", emails: ["nobody"] }, 422],
    [{ displayName: "A", address: { streetOne: "1 Main St" } }, 400],
    [{ displayName: "A", bankAccount: { ...bankDetails, routingNumber: "12345678" } }, 422],
    [{ displayName: "A", bankAccount: { accountNumber: "12345" } }, 400],
    [{ displayName: "A", taxInfo: { legalName: "A", taxIdType: "itin", taxId: "123456789" } }, 422],
  ])("creating the contact %j is refused with %i", async ([body, status], { sandbox }) => {
    expect(await create(sandbox, body)).toMatchObject({
      status,
      body: { error: "validation_error" },
    });
  });
});

describe("what a contact may have", () => {
  const emails = (count: number) => Array.from({ length: count }, (_, i) => `a${i}@b.example`);
  const address = {
    streetOne: "1 Main St",
    city: "Springfield",
    stateCode: "IL",
    zipCode: "62701",
  };
  const without = (field: string) => ({ address: { ...address, [field]: undefined } });

  it.for<[Json, number, string?]>([
    [{ emails: emails(5) }, 201],
    [{ emails: emails(6) }, 422, "emails"],
    [{ emails: "a@b.example" }, 400, "emails"],
    [{ phone: 5550100 }, 400, "phone"],
    [{ address: { ...address, streetTwo: "Suite 5" } }, 201],
    [without("streetOne"), 400, "address.streetOne"],
    [without("city"), 400, "address.city"],
    [without("stateCode"), 400, "address.stateCode"],
    [without("zipCode"), 400, "address.zipCode"],
    [{ address: { ...address, stateCode: "Illinois" } }, 422, "address.stateCode"],
    [{ bankAccount: { accountNumber: "12345", routingNumber: "021000021" } }, 201],
    [{ bankAccount: { ...bankDetails, accountType: "savings" } }, 201],
    [{ bankAccount: { ...bankDetails, accountType: "loan" } }, 422, "bankAccount.accountType"],
    [
      { bankAccount: { ...bankDetails, routingNumber: "0210000210" } },
      422,
      "bankAccount.routingNumber",
    ],
    [{ taxInfo: { taxIdType: "ein", taxId: "12-3456789" } }, 400, "taxInfo.legalName"],
    [{ taxInfo: { legalName: "A", taxId: "12-3456789" } }, 400, "taxInfo.taxIdType"],
    [{ taxInfo: { legalName: "A", taxIdType: "ssn" } }, 400, "taxInfo.taxId"],
    [{ taxInfo: { legalName: "A", taxIdType: "ssn", taxId: "123-45-6789" } }, 201],
    [{ allowDuplicates: "yes" }, 400, "allowDuplicates"],
  ])(
    "creating a contact with %j returns %i, naming the field %s if it is refused",
    async ([fields, status, field], { sandbox }) => {
      const answer = await create(sandbox, { displayName: "Acme", ...fields });
      expect(answer.status).toBe(status);
      if (field !== undefined) expect(answer.body["details"]).toMatchObject({ field });
      expect(answer.text).not.toContain("123-45-6789");
    },
  );

  it.for<[Json, number]>([
    [{ netTerms: 0 }, 200],
    [{ netTerms: -1 }, 422],
    [{ netTerms: "30" }, 400],
    [{ emails: emails(5) }, 200],
    [{ emails: [] }, 200],
    [{ emails: emails(6) }, 422],
    [{ displayName: "Other" }, 200],
    [{ displayName: "" }, 422],
    [{ address }, 200],
    [{ address: { streetOne: "1 Main St" } }, 400],
  ])("changing a contact by %j returns %i", async ([changes, status], { sandbox }) => {
    const id = await makeVendor(sandbox, { emails: emails(1) });
    const answer = await sandbox.api("PATCH", `/v1/contacts/${id}`, { body: changes });
    expect(answer.status).toBe(status);
    if (status === 200 && "emails" in changes)
      expect(answer.body["emails"]).toEqual(changes["emails"]);
  });
});

describe("listing contacts", () => {
  const list = async (sandbox: TestSandbox, query = "") =>
    (await sandbox.api<Page<Json>>("GET", `/v1/contacts?${query}`)).body;
  const names = async (sandbox: TestSandbox, query: string) =>
    (await list(sandbox, query)).items.map(({ displayName }) => displayName);

  it("a list of contacts has active and archived ones, and revoked ones only on request", async ({
    sandbox,
  }) => {
    await create(sandbox, { displayName: "Active" });
    const archived = await makeVendor(sandbox, { displayName: "Archived" });
    await sandbox.api("POST", `/v1/contacts/${archived}/archive`);
    const revoked = await makeVendor(sandbox, { displayName: "Revoked" });
    await sandbox.control.changeContact(revoked, { status: "revoked" });
    expect(await names(sandbox, "")).toEqual(["Archived", "Active"]);
    expect(await names(sandbox, "status=revoked")).toEqual(["Revoked"]);
    expect(await names(sandbox, "status=archived")).toEqual(["Archived"]);
    expect(await names(sandbox, "type=business")).toEqual([]);
  });

  it("a search of contacts matches names and emails literally, ignoring case", async ({
    sandbox,
  }) => {
    await create(sandbox, { displayName: "100% Paper_Co", emails: ["sales@paper.example"] });
    await create(sandbox, { displayName: "1000 Paperclips" });
    expect(await names(sandbox, "search=100%25")).toEqual(["100% Paper_Co"]);
    expect(await names(sandbox, "search=PAPER_")).toEqual(["100% Paper_Co"]);
    expect(await names(sandbox, "search=sales%40")).toEqual(["100% Paper_Co"]);
    expect(await names(sandbox, "search=paper")).toHaveLength(2);
    expect(await names(sandbox, "search=%27%20OR%201%3D1%20--")).toEqual([]);
  });

  it("a search is narrowed by type and status, and finds no contact by an email that is not shown", async ({
    sandbox,
  }) => {
    await sandbox.control.reset({
      businesses: [
        {
          name: "A",
          contacts: [
            { displayName: "Acme Paper", emails: ["ap@acme.example"] },
            { displayName: "Acme Group", type: "business", emails: ["group@acme.example"] },
            { displayName: "Acme Past", status: "archived" },
            { displayName: "Acme Gone", status: "revoked" },
          ],
        },
      ],
    });
    expect(await names(sandbox, "search=acme")).toHaveLength(3);
    expect(await names(sandbox, "search=acme&type=business")).toEqual(["Acme Group"]);
    expect(await names(sandbox, "search=acme&type=payee&status=active")).toEqual(["Acme Paper"]);
    expect(await names(sandbox, "search=acme&status=revoked")).toEqual(["Acme Gone"]);
    expect(await names(sandbox, "search=acme.example")).toEqual(["Acme Paper"]);
    for (const [query, status] of [
      ["pageSize=100", 200],
      ["pageSize=101", 422],
      ["pageSize=0", 422],
      ["page=0", 422],
      ["page=one", 400],
      ["type=vendor", 422],
      ["status=deleted", 422],
    ] as const) {
      expect((await sandbox.api("GET", `/v1/contacts?${query}`)).status, query).toBe(status);
    }
  });

  it("contacts are listed in pages of 25 by default", async ({ sandbox }) => {
    for (let i = 0; i < 27; i += 1) await create(sandbox, { displayName: `Vendor ${i}` });
    expect((await list(sandbox)).items).toHaveLength(25);
    expect(await list(sandbox, "page=2")).toMatchObject({ totalCount: 27 });
    expect(await names(sandbox, "page=14&pageSize=2")).toEqual(["Vendor 0"]);
    expect((await list(sandbox, "page=100")).items).toEqual([]);
  });
});

describe("changing a contact", () => {
  it("changing a contact replaces the sent fields, keeps the others and sets updatedAt", async ({
    sandbox,
  }) => {
    const id = await makeVendor(sandbox, { emails: ["a@b.example"], phone: "1" });
    const answer = await sandbox.api("PATCH", `/v1/contacts/${id}`, {
      body: { emails: ["c@d.example"], netTerms: 30 },
    });
    expect(answer.body).toMatchObject({
      emails: ["c@d.example"],
      phone: "1",
      netTerms: 30,
      updatedAt: expect.any(String),
    });
    const bad = await sandbox.api("PATCH", `/v1/contacts/${id}`, { body: { netTerms: -1 } });
    expect(bad.status).toBe(422);
  });

  it("of a business contact only the name can be changed", async ({ sandbox }) => {
    await sandbox.control.reset({
      businesses: [{ name: "A", contacts: [{ id: "con_b", type: "business", displayName: "B" }] }],
    });
    const change = (body: object) => sandbox.api("PATCH", "/v1/contacts/con_b", { body });
    expect((await change({ phone: "1" })).status).toBe(422);
    expect((await change({ displayName: "C" })).body).toMatchObject({
      displayName: "C",
      emails: [],
      phone: null,
    });
  });

  it("a contact can be archived and restored, but a revoked contact can't be restored", async ({
    sandbox,
  }) => {
    const id = await makeVendor(sandbox);
    const path = `/v1/contacts/${id}`;
    const archived = await sandbox.api("POST", `${path}/archive`);
    expect(archived.body).toMatchObject({
      status: "archived",
      archivedAt: expect.any(String),
      paymentReady: false,
    });
    expect((await sandbox.api("POST", `${path}/archive`)).body).toEqual(archived.body);
    expect((await sandbox.api("POST", `${path}/unarchive`)).body).toMatchObject({
      status: "active",
      archivedAt: null,
      paymentReady: true,
    });
    await sandbox.control.changeContact(id, { status: "revoked" });
    expect((await sandbox.api("POST", `${path}/unarchive`)).status).toBe(422);
    expect((await sandbox.api("GET", path)).body).toMatchObject({ status: "revoked" });
  });

  it("changing a contact's bank account through the control API sets updatedAt", async ({
    sandbox,
  }) => {
    const id = await makeVendor(sandbox);
    const changed = await sandbox.control.changeContact(id, {
      bankAccount: { ...bankDetails, accountNumber: "000000004321" },
    });
    expect(changed).toMatchObject({
      bankAccount: { last4: "4321" },
      updatedAt: expect.any(String),
    });
    expect(await sandbox.control.changeContact(id, { bankAccount: null })).toMatchObject({
      bankAccount: null,
      paymentReady: false,
    });
  });
});
