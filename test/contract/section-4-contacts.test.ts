import { describe, expect } from "vitest";
import { onSandbox, writes } from "./sentences.ts";
import { contractWorld, newKey, refusal, unique } from "./world.ts";

const world = contractWorld();

describe("contacts (API specification, sections 2, 3 and 4)", () => {
  writes("POST /v1/contacts answers an active contact whose updatedAt is null", async () => {
    const displayName = unique("Ada Ltd");
    const contact = await world.contact({ displayName });
    expect(contact).toMatchObject({ type: "payee", status: "active", displayName });
    expect(contact.updatedAt).toBeNull();
    expect(contact.archivedAt).toBeNull();
  });

  writes(
    "account, routing and tax numbers are never returned, only their last four digits",
    async () => {
      const contact = await world.contact({
        displayName: unique("Masked Ltd"),
        bankAccount: {
          accountNumber: "99887766554433",
          routingNumber: "021000021",
          accountType: "savings",
        },
        taxInfo: { legalName: "Masked Ltd", taxIdType: "ein", taxId: "123456789" },
      });
      expect(contact.bankAccount).toEqual({ last4: "4433" });
      expect(contact.taxInfo?.taxIdMask).toBe("6789");
      const { text } = await world.api("GET", `/v1/contacts/${contact.id}`);
      expect(text).not.toContain("99887766554433");
      expect(text).not.toContain("123456789");
    },
  );

  writes(
    "paymentReady is true when a bank account is on file and the contact is active",
    async () => {
      const { client } = world;
      const without = await world.contact({ displayName: unique("No account") });
      expect(without.paymentReady).toBe(false);
      const id = await world.vendor();
      expect((await client.contacts.get(id)).paymentReady).toBe(true);
      expect((await client.contacts.archive(id)).paymentReady).toBe(false);
    },
  );

  writes(
    "a contact matching an existing name is refused with 409 unless allowDuplicates is true",
    async () => {
      const displayName = unique("Twin");
      await world.contact({ displayName });
      expect((await refusal(world.contact({ displayName }))).status).toBe(409);
      const twin = await world.contact({ displayName, allowDuplicates: true });
      expect(twin.displayName).toBe(displayName);
    },
  );

  writes("PATCH replaces the whole list of emails and sets updatedAt", async () => {
    const { contacts } = world.client;
    const { id } = await world.contact({ displayName: unique("Mail"), emails: ["a@x.test"] });
    const changed = await contacts.update(id, { emails: ["b@x.test"], netTerms: 30 }, newKey());
    expect(changed.emails).toEqual(["b@x.test"]);
    expect(changed.netTerms).toBe(30);
    expect(changed.updatedAt).not.toBeNull();
  });

  writes("more than five emails and negative netTerms are refused", async () => {
    const { contacts } = world.client;
    const emails = Array.from({ length: 6 }, (_each, index) => `m${index}@x.test`);
    const many = await refusal(world.contact({ displayName: unique("Six mails"), emails }));
    expect([400, 422]).toContain(many.status);
    const { id } = await world.contact({ displayName: unique("Terms") });
    expect([400, 422]).toContain((await refusal(contacts.update(id, { netTerms: -1 }))).status);
  });

  writes(
    "an archived contact has archivedAt set, and unarchive makes it active again",
    async () => {
      const { contacts } = world.client;
      const id = await world.vendor();
      const archived = await contacts.archive(id, newKey());
      expect(archived.status).toBe("archived");
      expect(archived.archivedAt).not.toBeNull();
      await contacts.unarchive(id);
      expect(await contacts.get(id)).toMatchObject({ status: "active", archivedAt: null });
    },
  );

  onSandbox("revoked contacts are listed only with status=revoked", async () => {
    const { contacts } = world.client;
    const id = await world.vendor();
    await world.sandbox.control.changeContact(id, { status: "revoked" });
    const ids = async (status?: string): Promise<string[]> => {
      const { items } = await contacts.list({ status, pageSize: 100 });
      return items.map((each) => each.id);
    };
    expect(await ids()).not.toContain(id);
    expect(await ids("revoked")).toEqual([id]);
  });

  writes("search matches the display name", async () => {
    const { contacts } = world.client;
    const displayName = unique("Zymurgy Supplies");
    const { id } = await world.contact({ displayName });
    const { items, totalCount } = await contacts.list({ search: displayName });
    expect(items.map((each) => each.id)).toEqual([id]);
    expect(totalCount).toBe(1);
  });
});
