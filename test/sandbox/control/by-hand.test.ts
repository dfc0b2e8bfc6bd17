import { describe, expect } from "vitest";
import type { Json, TestSandbox } from "../../support/sandbox.ts";
import { sandboxTest } from "../sandbox-test.ts";
import { bankDetails, makeBill, makeVendor, type Page, pay } from "../world.ts";

const it = sandboxTest("blank").extend("endpointId", async ({ sandbox }) => {
  const body = { url: "http://127.0.0.1:9/hook" };
  const endpoint = await sandbox.api<{ id: string }>("POST", "/v1/webhook-endpoints", { body });
  return endpoint.body.id;
});

/** Returns the types of a resource's events, oldest first. */
async function eventsOf(sandbox: TestSandbox, endpointId: string, id: string): Promise<string[]> {
  const path = `/v1/webhook-endpoints/${endpointId}/deliveries?pageSize=100`;
  const { body } = await sandbox.api<Page<{ requestBody: string }>>("GET", path);
  return body.items
    .map(({ requestBody }) => JSON.parse(requestBody) as { type: string; data: { id: string } })
    .filter(({ data }) => data.id === id)
    .map(({ type }) => type)
    .toReversed();
}

const get = async (sandbox: TestSandbox, path: string) => (await sandbox.api(`GET`, path)).body;

describe("what people do to a bill", () => {
  it.for<[string, string, string[]]>([
    ["draft", "pending_approval", []],
    ["draft", "approved", ["payable.approved"]],
    ["pending_approval", "approved", ["payable.approved"]],
    ["pending_approval", "declined", ["payable.declined"]],
    ["pending_approval", "blocked", []],
    ["pending_approval", "void", ["payable.cancelled"]],
    ["approved", "pending_approval", ["payable.approval_reset"]],
    ["approved", "draft", ["payable.approval_reset"]],
    ["approved", "void", ["payable.cancelled"]],
    ["approved", "approved", []],
    ["declined", "pending_approval", []],
    ["declined", "approved", ["payable.approved"]],
    ["blocked", "approved", ["payable.approved"]],
  ])(
    "a bill that is taken from %s to %s sends the events %j",
    async ([before, after, told], { sandbox, endpointId }) => {
      const id = await makeBill(sandbox, { status: before });
      const changed = await sandbox.control.changePayable(id, { status: after });
      expect(changed["status"]).toBe(after);
      expect(await get(sandbox, `/v1/payables/${id}`)).toEqual(changed);
      expect(await eventsOf(sandbox, endpointId, id)).toEqual(["payable.created", ...told]);
    },
  );

  it("a bill submitted through the API can be paid only once people have approved it", async ({
    sandbox,
  }) => {
    const contactId = await makeVendor(sandbox);
    const body = { contactId, items: [{ name: "Paper", quantity: 2, unitAmountCents: 50 }] };
    const { id } = (await sandbox.api<{ id: string }>("POST", "/v1/payables", { body })).body;
    await sandbox.api("POST", `/v1/payables/${id}/submit`);
    expect((await pay(sandbox, { payableId: id })).body["error"]).toBe("approval_required");
    await sandbox.control.changePayable(id, { status: "approved" });
    expect((await pay(sandbox, { payableId: id })).status).toBe(201);
  });

  it("every field of a bill can be edited, and its items set the total", async ({ sandbox }) => {
    const id = await makeBill(sandbox);
    const contactId = await makeVendor(sandbox, { displayName: "Other Vendor" });
    const edited = await sandbox.control.changePayable(id, {
      contactId,
      dueDate: "2031-01-02",
      issueDate: "2030-12-02",
      customNumber: "INV-1",
      description: "Paper and ink",
      items: [
        { name: "Paper", quantity: 3, unitAmountCents: 100 },
        { name: "Ink", description: "blue", quantity: 1, unitAmountCents: 50 },
      ],
    });
    expect(edited).toMatchObject({
      status: "approved",
      totalAmountCents: 350,
      remainingAmountCents: 350,
      dueDate: "2031-01-02",
      issueDate: "2030-12-02",
      customNumber: "INV-1",
      description: "Paper and ink",
      contact: { id: contactId, displayName: "Other Vendor" },
      items: [{ totalCents: 300 }, { totalCents: 50, description: "blue" }],
    });
    expect(await get(sandbox, `/v1/payables/${id}`)).toEqual(edited);
  });

  it("a bill's total can't be set below what has been paid on it", async ({ sandbox }) => {
    const id = await makeBill(sandbox, { totalAmountCents: 1_000 });
    await sandbox.control.payOutside(id, 400);
    await expect(sandbox.control.changePayable(id, { totalAmountCents: 399 })).rejects.toThrow(
      "422",
    );
    const changed = await sandbox.control.changePayable(id, { totalAmountCents: 400 });
    expect(changed).toMatchObject({ remainingAmountCents: 0, paymentStatus: "settled" });
  });

  it("a scheduled payment fails if its bill is no longer approved on its date", async ({
    sandbox,
    endpointId,
  }) => {
    for (const status of ["declined", "void", "blocked", "pending_approval"]) {
      const id = await makeBill(sandbox);
      const { bank } = await sandbox.control.clock();
      const inAWeek = new Date(Date.parse(bank) + 7 * 86_400_000).toISOString().slice(0, 10);
      await pay(sandbox, { payableId: id, scheduledAt: inAWeek });
      await sandbox.control.changePayable(id, { status });
      await sandbox.control.advance("P9D");
      expect(await get(sandbox, `/v1/payables/${id}`)).toMatchObject({ paymentStatus: "failed" });
      expect(await eventsOf(sandbox, endpointId, id)).toContain("payable.payment.failed");
    }
  });
});

describe("what people do to a contact", () => {
  it.for<[Json, string | null, boolean]>([
    [{ bankAccount: { last4: "4321" } }, "4321", true],
    [{ bankAccount: { accountNumber: "000055556666" } }, "6666", true],
    [{ bankAccount: { ...bankDetails, accountNumber: "000011112222" } }, "2222", true],
    [{ bankAccount: null }, null, false],
  ])(
    "changing a contact by %j sends an event and sets whether it can be paid",
    async ([changes, last4, isReady], { sandbox, endpointId }) => {
      const id = await makeVendor(sandbox);
      await sandbox.control.changeContact(id, changes);
      const contact = await get(sandbox, `/v1/contacts/${id}`);
      expect(contact).toMatchObject({
        bankAccount: last4 === null ? null : { last4 },
        paymentReady: isReady,
        updatedAt: expect.any(String),
      });
      expect(await eventsOf(sandbox, endpointId, id)).toEqual([
        "contact.created",
        "contact.updated",
      ]);
    },
  );

  it("a contact without a bank account can be paid once it has one", async ({ sandbox }) => {
    const answer = await sandbox.api("POST", "/v1/contacts", { body: { displayName: "Bare" } });
    const id = String(answer.body["id"]);
    const changed = await sandbox.control.changeContact(id, { bankAccount: { last4: "1234" } });
    expect(changed).toMatchObject({ paymentDirection: "can_be_paid", paymentReady: true });
    expect((await pay(sandbox, { contactId: id, amountCents: 5 })).status).toBe(201);
  });

  it("archiving, restoring and revoking a contact send their events", async ({
    sandbox,
    endpointId,
  }) => {
    const id = await makeVendor(sandbox);
    const archived = await sandbox.control.changeContact(id, { status: "archived" });
    expect(archived).toMatchObject({ archivedAt: expect.any(String), paymentReady: false });
    const again = await sandbox.control.changeContact(id, { status: "archived" });
    expect(again["archivedAt"]).toBe(archived["archivedAt"]);
    const restored = await sandbox.control.changeContact(id, { status: "active" });
    expect(restored).toMatchObject({ archivedAt: null, paymentReady: true });
    await sandbox.control.changeContact(id, { status: "revoked" });
    expect(await eventsOf(sandbox, endpointId, id)).toEqual([
      "contact.created",
      "contact.archived",
      "contact.updated",
      "contact.unarchived",
      "contact.updated",
    ]);
  });
});
