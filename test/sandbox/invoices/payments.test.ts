import { expect } from "vitest";
import type { Json, TestSandbox } from "../../support/sandbox.ts";
import { sandboxTest } from "../sandbox-test.ts";
import { type Receiver, WebhookApi } from "../webhooks/receiver.ts";
import { newYorkDay } from "../world.ts";
import { Invoices } from "./invoices.ts";
import { eventually } from "../../support/waits.ts";

const it = sandboxTest("blank").extend("invoices", ({ sandbox }) => new Invoices(sandbox));

const openingCents = 100_000_000;

async function balance(
  sandbox: TestSandbox,
): Promise<{ cashCents: number; pendingInboundCents: number }> {
  const { body } = await sandbox.api<{ cashCents: number; pendingInboundCents: number }>(
    "GET",
    "/v1/balance",
  );
  return { cashCents: body.cashCents, pendingInboundCents: body.pendingInboundCents };
}

async function kinds(sandbox: TestSandbox): Promise<string[]> {
  return (await sandbox.control.ledger()).map(({ kind }) => kind);
}

async function told(receiver: Receiver, type: string, id: string): Promise<void> {
  await eventually(`${type} of ${id} arrives`, () =>
    receiver.received.some(({ event }) => event.type === type && event.data.id === id),
  );
}

it("a customer's payment is first pending inbound, then cash in the balance", async ({
  sandbox,
  receiver,
  invoices,
}) => {
  await new WebhookApi(sandbox).create(receiver.url);
  const { id } = await invoices.open();
  expect(await invoices.act(id, { action: "pay" })).toMatchObject({
    status: "open",
    paymentStatus: "processing",
    amountPaidCents: 0,
  });
  expect(await kinds(sandbox)).toEqual(["debit"]);
  expect(await balance(sandbox)).toEqual({ cashCents: openingCents, pendingInboundCents: 100_000 });
  await sandbox.control.advance("P6D");
  expect(await invoices.get(id)).toMatchObject({
    status: "paid",
    paymentStatus: "settled",
    amountPaidCents: 100_000,
    remainingAmountCents: 0,
  });
  expect(await balance(sandbox)).toEqual({
    cashCents: openingCents + 100_000,
    pendingInboundCents: 0,
  });
  const ledger = await sandbox.control.ledger();
  expect(ledger.map(({ kind }) => kind)).toEqual(["debit", "credit"]);
  for (const entry of ledger) {
    expect(entry).toMatchObject({
      paymentId: null,
      payableId: null,
      transactionId: ledger[0]?.transactionId,
      businessId: sandbox.business.businessId,
      amountCents: 100_000,
    });
  }
  await told(receiver, "invoice.paid", id);
  expect(await sandbox.control.health()).toMatchObject({ ok: true });
});

it("a customer's payment settles on the second banking day", async ({ sandbox, invoices }) => {
  await sandbox.control.setClock("2031-06-06T16:00:00Z"); // a Friday
  const { id } = await invoices.open();
  await invoices.act(id, { action: "pay" });
  await sandbox.control.setClock("2031-06-10T12:29:59Z");
  expect(await invoices.get(id)).toMatchObject({ paymentStatus: "processing" });
  await sandbox.control.setClock("2031-06-10T12:30:00Z");
  expect(await invoices.get(id)).toMatchObject({ paymentStatus: "settled" });
});

it("an invoice can be paid in parts, and never above what is due", async ({
  sandbox,
  receiver,
  invoices,
}) => {
  await new WebhookApi(sandbox).create(receiver.url);
  const { id } = await invoices.open();
  await invoices.act(id, { action: "pay", amountCents: 60_000 });
  await expect(invoices.act(id, { action: "pay", amountCents: 40_001 })).rejects.toThrow("422");
  await sandbox.control.advance("P6D");
  expect(await invoices.get(id)).toMatchObject({
    status: "open",
    paymentStatus: "none",
    remainingAmountCents: 40_000,
  });
  await told(receiver, "invoice.payment.partially_paid", id);
  await invoices.act(id, { action: "pay" });
  await expect(invoices.act(id, { action: "pay" })).rejects.toThrow("on its way");
  await sandbox.control.advance("P6D");
  expect(await invoices.get(id)).toMatchObject({ status: "paid", amountPaidCents: 100_000 });
});

it("an invoice that is being paid can't be voided, declined or marked as paid", async ({
  invoices,
}) => {
  const { id } = await invoices.open();
  await invoices.act(id, { action: "pay" });
  for (const write of ["void", "mark-paid"]) {
    const answer = await invoices.post(`/${id}/${write}`);
    expect(answer.status).toBe(409);
    expect(answer.body["error"]).toBe("payment_in_progress");
  }
  await expect(invoices.act(id, { action: "decline" })).rejects.toThrow("payment_in_progress");
});

it("a payment that the customer scheduled waits for its date, even over a restart", async ({
  sandbox,
  receiver,
  invoices,
}) => {
  await new WebhookApi(sandbox).create(receiver.url);
  const { id } = await invoices.open();
  const today = await newYorkDay(sandbox, 0);
  await expect(invoices.act(id, { action: "pay", on: today })).rejects.toThrow("tomorrow");
  const on = await newYorkDay(sandbox, 3);
  expect(await invoices.act(id, { action: "pay", on })).toMatchObject({
    paymentStatus: "scheduled",
  });
  await told(receiver, "invoice.payment.scheduled", id);
  expect(await kinds(sandbox)).toEqual([]);
  await sandbox.restart("SIGKILL");
  await sandbox.control.advance("P4D");
  expect(await kinds(sandbox)).toContain("debit");
  await sandbox.control.advance("P6D");
  expect(await invoices.get(id)).toMatchObject({ status: "paid", paymentStatus: "settled" });
});

it("an invoice stays open if the customer's bank returns the debit", async ({
  sandbox,
  receiver,
  invoices,
}) => {
  await new WebhookApi(sandbox).create(receiver.url);
  const { id } = await invoices.open();
  await invoices.act(id, { action: "pay", outcome: "fail", code: "R01" });
  await sandbox.control.advance("P5D");
  expect(await invoices.get(id)).toMatchObject({
    status: "open",
    paymentStatus: "failed",
    amountPaidCents: 0,
  });
  expect(await kinds(sandbox)).toEqual(["debit", "return"]);
  expect(await balance(sandbox)).toEqual({ cashCents: openingCents, pendingInboundCents: 0 });
  await told(receiver, "invoice.payment.failed", id);
  await invoices.act(id, { action: "pay" });
  await sandbox.control.advance("P6D");
  expect(await invoices.get(id)).toMatchObject({ status: "paid", paymentStatus: "settled" });
});

it("a settled payment that the customer's bank takes back reopens the invoice as a clawback", async ({
  sandbox,
  receiver,
  invoices,
}) => {
  await new WebhookApi(sandbox).create(receiver.url);
  const { id } = await invoices.open();
  await invoices.act(id, { action: "pay", outcome: "return", code: "R10", after: "P20D" });
  await sandbox.control.advance("P10D");
  expect(await invoices.get(id)).toMatchObject({ status: "paid", paymentStatus: "settled" });
  await sandbox.control.advance("P20D");
  expect(await invoices.get(id)).toMatchObject({
    status: "open",
    paymentStatus: "clawback",
    amountPaidCents: 0,
    remainingAmountCents: 100_000,
  });
  expect(await kinds(sandbox)).toEqual(["debit", "credit", "return", "refund"]);
  expect(await balance(sandbox)).toEqual({ cashCents: openingCents, pendingInboundCents: 0 });
  await told(receiver, "invoice.payment.reversed", id);
  expect(await sandbox.control.health()).toMatchObject({ ok: true });
});

it("a clawback waits until the balance has the money again", async ({ sandbox, invoices }) => {
  await sandbox.control.reset({ businesses: [{ name: "Poor", balanceCents: 0 }] });
  const { id } = await invoices.given();
  await invoices.act(id, { action: "pay", outcome: "return", after: "P20D" });
  await sandbox.control.advance("P10D");
  await sandbox.control.changeBusiness({ balanceCents: 99_999 });
  await sandbox.control.advance("P30D");
  expect(await invoices.get(id)).toMatchObject({ status: "paid" });
  await sandbox.control.changeBusiness({ balanceCents: 100_001 });
  await sandbox.control.advance("P5D");
  expect(await invoices.get(id)).toMatchObject({ status: "open", paymentStatus: "clawback" });
  expect(await balance(sandbox)).toMatchObject({ cashCents: 1 });
  expect(await sandbox.control.health()).toMatchObject({ ok: true });
});

it("a payment is held for review before any money moves, then released or rejected", async ({
  sandbox,
  invoices,
}) => {
  const [released, rejected, timed] = [
    await invoices.open(),
    await invoices.open(),
    await invoices.open(),
  ];
  for (const { id } of [released, rejected]) {
    expect(await invoices.act(id, { action: "pay", outcome: "hold" })).toMatchObject({
      status: "open",
      paymentStatus: "held",
    });
  }
  await invoices.act(timed.id, { action: "pay", outcome: "hold", after: "P1D" });
  expect(await kinds(sandbox)).toEqual([]);
  expect(await invoices.act(released.id, { action: "release" })).toMatchObject({
    paymentStatus: "processing",
  });
  expect(await invoices.act(rejected.id, { action: "reject" })).toMatchObject({
    status: "open",
    paymentStatus: "none",
  });
  await expect(invoices.act(rejected.id, { action: "release" })).rejects.toThrow("held");
  await sandbox.control.advance("P8D");
  for (const { id } of [released, timed]) {
    expect(await invoices.get(id)).toMatchObject({ status: "paid" });
  }
  expect((await kinds(sandbox)).toSorted()).toEqual(["credit", "credit", "debit", "debit"]);
});

it("an invoice that is set to paid by hand settles at once, with its moves in the ledger", async ({
  sandbox,
  invoices,
}) => {
  const { id } = await invoices.open();
  expect(await invoices.act(id, { status: "paid" })).toMatchObject({
    status: "paid",
    paymentStatus: "settled",
  });
  expect(await kinds(sandbox)).toEqual(["debit", "credit"]);
  expect(await balance(sandbox)).toMatchObject({ cashCents: openingCents + 100_000 });
});

it("an invoice can't be paid if the business has no balance", async ({ sandbox, invoices }) => {
  await sandbox.control.reset("unverified");
  const { id } = await invoices.given();
  await expect(invoices.act(id, { action: "pay" })).rejects.toThrow("setup_required");
});

it.for<[Json, string, string[]]>([
  [{ status: "draft" }, "none", []],
  [{ status: "open" }, "none", []],
  [{ status: "paid" }, "settled", ["debit", "credit"]],
  [{ status: "void" }, "none", []],
  [{ status: "declined" }, "none", []],
  [{ status: "blocked" }, "none", []],
  [{ paymentStatus: "scheduled" }, "scheduled", []],
  [{ paymentStatus: "processing" }, "processing", ["debit"]],
  [{ paymentStatus: "held" }, "held", []],
  [{ paymentStatus: "failed" }, "failed", ["debit", "return"]],
  [{ paymentStatus: "clawback" }, "clawback", ["debit", "credit", "return", "refund"]],
  [{ amountPaidCents: 40_000 }, "none", ["debit", "credit"]],
])(
  "an invoice entered by hand as %o comes with the moves of its state",
  async ([given, payment, moved], { sandbox, receiver, invoices }) => {
    await new WebhookApi(sandbox).create(receiver.url, ["invoice.created"]);
    const invoice = await invoices.given(given);
    const status = given["status"] ?? "open";
    expect(invoice).toMatchObject({ status, paymentStatus: payment });
    expect(await kinds(sandbox)).toEqual(moved);
    expect(await sandbox.control.health()).toMatchObject({ ok: true });
    await told(receiver, "invoice.created", invoice.id);
  },
);

it("a fixture's invoices don't change the balance that the fixture names", async ({
  sandbox,
  invoices,
}) => {
  await sandbox.control.advance("P40D");
  await sandbox.control.reset({
    businesses: [
      {
        name: "Seller",
        balanceCents: 5_000,
        contacts: [{ id: "con_buyer", displayName: "Buyer" }],
        invoices: [
          { id: "inv_open", customerId: "con_buyer", totalAmountCents: 700, dueDate: "2031-01-01" },
          { id: "inv_paid", customerId: "con_buyer", totalAmountCents: 900, status: "paid" },
          {
            id: "inv_moving",
            customer: { displayName: "Somebody" },
            totalAmountCents: 800,
            paymentStatus: "processing",
          },
        ],
      },
    ],
  });
  expect(await balance(sandbox)).toEqual({ cashCents: 5_000, pendingInboundCents: 800 });
  expect(await invoices.get("inv_open")).toMatchObject({
    status: "open",
    dueDate: "2031-01-01",
    customer: { id: "con_buyer", displayName: "Buyer" },
  });
  expect(await invoices.get("inv_paid")).toMatchObject({ status: "paid", amountPaidCents: 900 });
  await sandbox.control.advance("P6D");
  expect(await invoices.get("inv_moving")).toMatchObject({ status: "paid" });
  expect(await balance(sandbox)).toEqual({ cashCents: 5_800, pendingInboundCents: 0 });
});

it("an invalid action on an invoice is refused", async ({ invoices }) => {
  const { id } = await invoices.open();
  await expect(invoices.act("inv_none", { action: "pay" })).rejects.toThrow("404");
  await expect(invoices.act(id, {})).rejects.toThrow("400");
  await expect(invoices.act(id, { action: "frame" })).rejects.toThrow("422");
  await expect(invoices.act(id, { action: "pay", status: "paid" })).rejects.toThrow("400");
  await expect(invoices.given({ status: "paid", amountPaidCents: 5 })).rejects.toThrow("422");
});
