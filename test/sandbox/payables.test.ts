import { expect } from "vitest";
import type { Json, TestSandbox } from "../support/sandbox.ts";
import { sandboxTest } from "./sandbox-test.ts";
import { makeBill, makeVendor, type Page } from "./world.ts";

const it = sandboxTest("blank");

const create = (sandbox: TestSandbox, body: object) =>
  sandbox.api("POST", "/v1/payables", { body });
const submit = (sandbox: TestSandbox, id: unknown) =>
  sandbox.api("POST", `/v1/payables/${String(id)}/submit`);

it("a new bill is a draft whose total is the sum of its items", async ({ sandbox }) => {
  const contactId = await makeVendor(sandbox, { displayName: "Acme" });
  const answer = await create(sandbox, {
    contactId,
    dueDate: "2030-02-01",
    issueDate: "2030-01-01",
    customNumber: "INV-7",
    description: "Paper",
    items: [
      { name: "Paper", quantity: 3, unitAmountCents: 250 },
      { name: "Ink", description: "black", quantity: 1, unitAmountCents: 1_999 },
    ],
  });
  expect(answer).toMatchObject({ status: 201 });
  expect(answer.body).toEqual({
    id: expect.any(String),
    publicId: expect.any(String),
    status: "draft",
    paymentStatus: "none",
    totalAmountCents: 2_749,
    amountPaidCents: 0,
    remainingAmountCents: 2_749,
    dueDate: "2030-02-01",
    issueDate: "2030-01-01",
    customNumber: "INV-7",
    description: "Paper",
    contact: { id: contactId, displayName: "Acme" },
    items: [
      { name: "Paper", description: null, quantity: 3, unitAmountCents: 250, totalCents: 750 },
      { name: "Ink", description: "black", quantity: 1, unitAmountCents: 1_999, totalCents: 1_999 },
    ],
  });
  const read = await sandbox.api("GET", `/v1/payables/${String(answer.body["id"])}`);
  expect(read.body).toEqual(answer.body);
  expect((await sandbox.api("GET", `/v1/payables/${String(read.body["publicId"])}`)).status).toBe(
    404,
  );
});

it.for<[object, number]>([
  [{}, 400],
  [{ totalAmountCents: 0 }, 422],
  [{ totalAmountCents: "100" }, 400],
  [{ totalAmountCents: 100, dueDate: "01/02/2030" }, 422],
  [{ totalAmountCents: 100, items: [{ name: "A", quantity: 1, unitAmountCents: 99 }] }, 422],
  [{ items: [{ name: "A", unitAmountCents: 99 }] }, 400],
  [{ items: [{ name: "A", quantity: 1, unitAmountCents: 0 }] }, 422],
  [{ totalAmountCents: 100, contactId: "con_none" }, 404],
])("creating the bill %j is refused with %i", async ([body, status], { sandbox }) => {
  expect((await create(sandbox, body)).status).toBe(status);
});

it("a complete draft can be submitted for approval, once", async ({ sandbox }) => {
  const contactId = await makeVendor(sandbox);
  const draft = await create(sandbox, { contactId, totalAmountCents: 500 });
  const { id } = draft.body;
  expect(await submit(sandbox, id)).toMatchObject({
    status: 200,
    body: { status: "pending_approval", items: [] },
  });
  expect(await submit(sandbox, id)).toMatchObject({
    status: 422,
    body: { error: "validation_error" },
  });
  const orphan = await create(sandbox, { totalAmountCents: 500 });
  expect((await submit(sandbox, orphan.body["id"])).status).toBe(422);
  const vague = await create(sandbox, { contactId, items: [{ quantity: 1, unitAmountCents: 5 }] });
  expect((await submit(sandbox, vague.body["id"])).status).toBe(422);
  expect((await submit(sandbox, "bill_none")).status).toBe(404);
});

it("bills are listed newest first without their items, by status and search", async ({
  sandbox,
}) => {
  const contactId = await makeVendor(sandbox, { displayName: "Acme Paper" });
  const rent = await makeBill(sandbox, { description: "Rent for May", status: "draft" });
  const paper = await makeBill(sandbox, { contactId, customNumber: "P-77" });
  const list = async (query: string) =>
    (await sandbox.api<Page<Json>>("GET", `/v1/payables?${query}`)).body;
  const ids = async (query: string) => (await list(query)).items.map(({ id }) => id);
  expect(await ids("")).toEqual([paper, rent]);
  expect((await list("")).items[0]).not.toHaveProperty("items");
  expect((await list("")).items[0]).toMatchObject({ contact: { displayName: "Acme Paper" } });
  expect(await ids("status=draft")).toEqual([rent]);
  expect(await ids("search=rent")).toEqual([rent]);
  expect(await ids("search=p-77")).toEqual([paper]);
  expect(await ids("search=acme")).toEqual([paper]);
  expect(await ids("search=e")).toEqual([paper, rent]);
  expect(await ids("search=or%20M")).toEqual([rent]);
  expect(await ids("search=%22rent%22%20OR%20acme")).toEqual([]);
  await sandbox.control.changePayable(rent, { description: "Lease for 100% of May" });
  expect(await ids("search=rent")).toEqual([]);
  expect(await ids("search=100%25%20of")).toEqual([rent]);
  expect(await list("pageSize=1&page=2")).toMatchObject({ items: [{ id: rent }], totalCount: 2 });
  expect((await sandbox.api("GET", "/v1/payables?status=paid")).status).toBe(422);
});

it("a bill that is paid outside the service moves no money through it", async ({ sandbox }) => {
  const payableId = await makeBill(sandbox, { totalAmountCents: 1_000 });
  const recorded = await sandbox.control.payOutside(payableId, 400);
  expect(recorded).toMatchObject({ status: "completed", paymentRail: null, amountCents: 400 });
  await sandbox.control.payOutside(payableId);
  expect((await sandbox.api("GET", `/v1/payables/${payableId}`)).body).toMatchObject({
    amountPaidCents: 1_000,
    paymentStatus: "settled",
  });
  expect(await sandbox.control.ledger()).toEqual([]);
});

it("a list's totalCount follows changes of status and survives a restart", async ({ sandbox }) => {
  const [, other] = await sandbox.control.reset("two-businesses");
  const businessId = other?.businessId ?? "";
  await sandbox.control.createPayable({ businessId, totalAmountCents: 100 });
  const ids: string[] = [];
  for (const status of ["draft", "draft", "pending_approval", "approved"]) {
    ids.push((await sandbox.control.createPayable({ totalAmountCents: 100, status })).id);
  }
  await sandbox.control.changePayable(ids[0] ?? "", { status: "approved" });
  await sandbox.control.changePayable(ids[1] ?? "", { status: "void" });
  await sandbox.control.changePayable(ids[1] ?? "", { totalAmountCents: 200 });
  const counts = async () =>
    Promise.all(
      ["", "status=draft", "status=approved", "status=void", "status=declined"].map(
        async (query) =>
          (await sandbox.api<Page<Json>>("GET", `/v1/payables?${query}`)).body.totalCount,
      ),
    );
  expect(await counts()).toEqual([4, 0, 2, 1, 0]);
  await sandbox.restart();
  expect(await counts()).toEqual([4, 0, 2, 1, 0]);
});
