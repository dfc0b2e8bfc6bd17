import { describe, expect } from "vitest";
import { netCreditByPayable } from "../support/sandbox.ts";
import { mondayTest } from "./sandbox-test.ts";
import { billNow, makeBill, makeVendor, movesOf, onlyPayment, pay, statusesOf } from "./world.ts";

const it = mondayTest();

describe("a payment's way to settlement", () => {
  it("a payment is pending, then processing, and settles after two banking days", async ({
    sandbox,
  }) => {
    const payableId = await makeBill(sandbox, { totalAmountCents: 5_000 });
    expect((await pay(sandbox, { payableId })).body.payments[0]?.status).toBe("pending");
    await sandbox.control.advance("PT5S");
    expect(await onlyPayment(sandbox, payableId)).toMatchObject({
      status: "processing",
      processedAt: null,
    });
    expect(await billNow(sandbox, payableId)).toMatchObject({
      paymentStatus: "processing",
      amountPaidCents: 0,
      remainingAmountCents: 5_000,
    });
    await sandbox.control.setClock("2029-03-14T12:29:00Z");
    expect((await onlyPayment(sandbox, payableId)).status).toBe("processing");
    await sandbox.control.setClock("2029-03-14T12:30:00Z");
    expect(await onlyPayment(sandbox, payableId)).toMatchObject({
      status: "completed",
      processedAt: "2029-03-14T12:30:00.000Z",
      updatedAt: "2029-03-14T12:30:00.000Z",
    });
    expect(await billNow(sandbox, payableId)).toMatchObject({
      paymentStatus: "settled",
      amountPaidCents: 5_000,
      remainingAmountCents: 0,
    });
    expect(await movesOf(sandbox, payableId)).toEqual(["debit", "credit"]);
  });

  it("a payment with accelerated clearing settles on the next banking day", async ({ sandbox }) => {
    const payableId = await makeBill(sandbox);
    await pay(sandbox, { payableId, clearing: "NEXT_AVAILABLE" });
    await sandbox.control.setClock("2029-03-13T12:30:00Z");
    expect(await statusesOf(sandbox, payableId)).toEqual(["completed"]);
  });

  it("settlement skips weekends and holidays", async ({ sandbox }) => {
    // Friday before Memorial Day: Tuesday is the first banking day, Wednesday the second.
    await sandbox.control.setClock("2029-05-25T14:00:00Z");
    const payableId = await makeBill(sandbox);
    await pay(sandbox, { payableId });
    await sandbox.control.advance("P30D");
    expect((await onlyPayment(sandbox, payableId)).processedAt).toBe("2029-05-30T12:30:00.000Z");
  });

  it("a payment executes at 9:00 New York on its date, before and after daylight saving ends", async ({
    sandbox,
  }) => {
    await sandbox.control.setClock("2029-10-30T14:00:00Z");
    const summer = await makeBill(sandbox);
    const winter = await makeBill(sandbox);
    await pay(sandbox, { payableId: summer, scheduledAt: "2029-11-02" });
    await pay(sandbox, { payableId: winter, scheduledAt: "2029-11-06" });
    expect((await onlyPayment(sandbox, summer)).scheduledAt).toBe("2029-11-02T13:00:00.000Z");
    expect((await onlyPayment(sandbox, winter)).scheduledAt).toBe("2029-11-06T14:00:00.000Z");
    expect(await billNow(sandbox, summer)).toMatchObject({ paymentStatus: "scheduled" });
    await sandbox.control.setClock("2029-11-02T12:59:00Z");
    expect(await statusesOf(sandbox, summer)).toEqual(["scheduled"]);
    await sandbox.control.setClock("2029-11-02T13:00:00Z");
    expect(await statusesOf(sandbox, summer)).toEqual(["processing"]);
    await sandbox.control.setClock("2029-11-06T14:00:00Z");
    expect(await statusesOf(sandbox, winter)).toEqual(["processing"]);
  });

  it("each step of a payment has its own instant, even if the clock leaps a month", async ({
    sandbox,
  }) => {
    const early = await makeBill(sandbox);
    const late = await makeBill(sandbox);
    await pay(sandbox, { payableId: late, scheduledAt: "2029-03-20" });
    await pay(sandbox, { payableId: early });
    await sandbox.control.advance("P30D");
    expect((await onlyPayment(sandbox, early)).processedAt).toBe("2029-03-14T12:30:00.000Z");
    expect((await onlyPayment(sandbox, late)).processedAt).toBe("2029-03-22T12:30:00.000Z");
    const ledger = await sandbox.control.ledger();
    expect(ledger.map(({ kind, payableId, at }) => [kind, payableId, at])).toEqual([
      ["debit", early, expect.stringContaining("2029-03-12T14:00")],
      ["credit", early, "2029-03-14T12:30:00.000Z"],
      ["debit", late, "2029-03-20T13:00:00.000Z"],
      ["credit", late, "2029-03-22T12:30:00.000Z"],
    ]);
  });

  it("a payment moves on by itself while the bank clock runs fast", async ({ sandbox }) => {
    const payableId = await makeBill(sandbox);
    await pay(sandbox, { payableId });
    await sandbox.control.setScale(86_400);
    await expect.poll(() => statusesOf(sandbox, payableId)).toEqual(["completed"]);
    const { body } = await sandbox.api("GET", "/v1/balance");
    expect(body).toMatchObject({ reservedCents: 0, pendingOutboundCents: 0 });
  });

  it("a scheduled payment fails without moving money if the balance has become too small", async ({
    sandbox,
  }) => {
    const payableId = await makeBill(sandbox, { totalAmountCents: 900_000 });
    await pay(sandbox, { payableId, scheduledAt: "2029-03-13" });
    await sandbox.control.changeBusiness({ balanceCents: 899_999 });
    await sandbox.control.advance("P1D");
    expect(await onlyPayment(sandbox, payableId)).toMatchObject({
      status: "failed",
      failureReason: "Insufficient balance",
    });
    expect(await movesOf(sandbox, payableId)).toEqual([]);
    expect(await billNow(sandbox, payableId)).toMatchObject({ paymentStatus: "failed" });
  });

  it("a scheduled payment fails if its bill was voided or its vendor archived", async ({
    sandbox,
  }) => {
    const contactId = await makeVendor(sandbox);
    const voided = await makeBill(sandbox);
    const orphaned = await makeBill(sandbox, { contactId });
    for (const payableId of [voided, orphaned]) {
      await pay(sandbox, { payableId, scheduledAt: "2029-03-13" });
    }
    await sandbox.control.changePayable(voided, { status: "void" });
    await sandbox.api("POST", `/v1/contacts/${contactId}/archive`);
    await sandbox.control.advance("P1D");
    expect(await statusesOf(sandbox, voided)).toEqual(["failed"]);
    expect(await statusesOf(sandbox, orphaned)).toEqual(["failed"]);
    expect(await sandbox.control.ledger()).toEqual([]);
  });

  it("a partly paid bill counts its settled payments, and settles with the last one", async ({
    sandbox,
  }) => {
    const payableId = await makeBill(sandbox, { totalAmountCents: 1_000 });
    await pay(sandbox, { payableId, amountCents: 400 });
    await sandbox.control.advance("P7D");
    expect(await billNow(sandbox, payableId)).toMatchObject({
      amountPaidCents: 400,
      remainingAmountCents: 600,
      paymentStatus: "none",
    });
    await pay(sandbox, { payableId });
    await sandbox.control.advance("P7D");
    expect(await billNow(sandbox, payableId)).toMatchObject({
      amountPaidCents: 1_000,
      paymentStatus: "settled",
    });
  });
});

describe("what a bank does otherwise", () => {
  it("R01 fails a payment after one banking day: the debit returns, the payee gets nothing", async ({
    sandbox,
  }) => {
    const payableId = await makeBill(sandbox);
    await sandbox.control.outcome({ match: { payableId }, outcome: "fail", code: "R01" });
    await pay(sandbox, { payableId });
    await sandbox.control.advance("P1D");
    expect(await onlyPayment(sandbox, payableId)).toMatchObject({
      status: "failed",
      failureReason: "R01 Insufficient funds",
      updatedAt: "2029-03-13T12:30:00.000Z",
    });
    expect(await movesOf(sandbox, payableId)).toEqual(["debit", "return"]);
    expect(netCreditByPayable(await sandbox.control.ledger()).get(payableId) ?? 0).toBe(0);
    const { body } = await sandbox.api("GET", "/v1/balance");
    expect(body).toMatchObject({ cashCents: 100_000_000, availableCents: 100_000_000 });
  });

  it("R02 fails a payment: a debit, a credit, its return and a refund", async ({ sandbox }) => {
    const payableId = await makeBill(sandbox);
    await sandbox.control.outcome({ match: { payableId }, outcome: "fail", code: "R02" });
    await pay(sandbox, { payableId });
    await sandbox.control.advance("P7D");
    expect((await onlyPayment(sandbox, payableId)).failureReason).toBe("R02 Account closed");
    expect(await movesOf(sandbox, payableId)).toEqual(["debit", "credit", "return", "refund"]);
    expect(netCreditByPayable(await sandbox.control.ledger()).get(payableId)).toBe(0);
    const { body } = await sandbox.api("GET", "/v1/balance");
    expect(body).toMatchObject({ cashCents: 100_000_000 });
  });

  it("an outcome is used up after `times` payments, parts of a split included, newest rule first", async ({
    sandbox,
  }) => {
    const payableId = await makeBill(sandbox, { totalAmountCents: 250_000_00 });
    await sandbox.control.outcome({ match: { payableId }, outcome: "fail", code: "R03" });
    await sandbox.control.outcome({ match: { payableId }, outcome: "settle", times: 2 });
    await pay(sandbox, { payableId });
    await sandbox.control.advance("P7D");
    expect(await statusesOf(sandbox, payableId)).toEqual(["completed", "completed", "failed"]);
    expect(await billNow(sandbox, payableId)).toMatchObject({ amountPaidCents: 200_000_00 });
  });

  it("a return takes back a completed payment later and makes the bill a clawback", async ({
    sandbox,
  }) => {
    const payableId = await makeBill(sandbox, { totalAmountCents: 5_000 });
    await sandbox.control.outcome({
      match: { payableId },
      outcome: "return",
      code: "R10",
      after: "P20D",
    });
    await pay(sandbox, { payableId });
    await sandbox.control.advance("P10D");
    expect(await billNow(sandbox, payableId)).toMatchObject({
      amountPaidCents: 5_000,
      paymentStatus: "settled",
    });
    await sandbox.control.advance("P20D");
    expect(await onlyPayment(sandbox, payableId)).toMatchObject({
      status: "returned",
      failureReason: "R10 Customer advises not authorized",
    });
    expect(await billNow(sandbox, payableId)).toMatchObject({
      amountPaidCents: 0,
      remainingAmountCents: 5_000,
      paymentStatus: "clawback",
    });
    expect(await movesOf(sandbox, payableId)).toEqual(["debit", "credit", "return", "refund"]);
  });

  it("an outcome also applies to payments that are in progress when it is set", async ({
    sandbox,
  }) => {
    const failing = await makeBill(sandbox);
    const returning = await makeBill(sandbox);
    for (const payableId of [failing, returning]) await pay(sandbox, { payableId });
    await sandbox.control.advance("PT1M");
    const { id } = await onlyPayment(sandbox, failing);
    await sandbox.control.outcome({ match: { paymentId: id }, outcome: "fail", code: "R02" });
    await sandbox.control.advance("P7D");
    expect(await statusesOf(sandbox, failing)).toEqual(["failed"]);
    expect(await statusesOf(sandbox, returning)).toEqual(["completed"]);
    await sandbox.control.outcome({ match: { payableId: returning }, outcome: "return" });
    expect(await statusesOf(sandbox, returning)).toEqual(["returned"]);
  });

  it("an outcome waits for the bill's next payment, even after an earlier one settled", async ({
    sandbox,
  }) => {
    const payableId = await makeBill(sandbox, { totalAmountCents: 1_000 });
    await pay(sandbox, { payableId, amountCents: 400 });
    await sandbox.control.advance("P7D");
    await sandbox.control.outcome({ match: { payableId }, outcome: "fail", code: "R02", times: 1 });
    await pay(sandbox, { payableId });
    await sandbox.control.advance("P7D");
    expect(await statusesOf(sandbox, payableId)).toEqual(["completed", "failed"]);
  });

  it("a vendor's return outcome applies to its later payments, not to its past ones", async ({
    sandbox,
  }) => {
    const contactId = await makeVendor(sandbox);
    const past = await makeBill(sandbox, { contactId });
    await pay(sandbox, { payableId: past });
    await sandbox.control.advance("P7D");
    await sandbox.control.outcome({ match: { contactId }, outcome: "return", code: "R03" });
    const later = await makeBill(sandbox, { contactId });
    await pay(sandbox, { payableId: later });
    await sandbox.control.advance("P14D");
    expect(await statusesOf(sandbox, past)).toEqual(["completed"]);
    expect(await statusesOf(sandbox, later)).toEqual(["returned"]);
  });

  it("a hold lasts for `after`, then the payment goes on", async ({ sandbox }) => {
    const payableId = await makeBill(sandbox);
    await sandbox.control.outcome({ match: { payableId }, outcome: "hold", after: "P3D" });
    await pay(sandbox, { payableId });
    await sandbox.control.advance("P2D");
    expect(await statusesOf(sandbox, payableId)).toEqual(["held"]);
    expect(await billNow(sandbox, payableId)).toMatchObject({ paymentStatus: "processing" });
    const { body } = await sandbox.api("GET", "/v1/balance");
    expect(body).toMatchObject({ cashCents: 100_000_000, reservedCents: 100_000 });
    await sandbox.control.advance("P7D");
    expect(await statusesOf(sandbox, payableId)).toEqual(["completed"]);
    expect(await movesOf(sandbox, payableId)).toEqual(["debit", "credit"]);
  });

  it("a hold without a time lasts until another outcome is set", async ({ sandbox }) => {
    const payableId = await makeBill(sandbox);
    await sandbox.control.outcome({ match: { payableId }, outcome: "hold" });
    await pay(sandbox, { payableId });
    await sandbox.control.advance("P60D");
    expect(await statusesOf(sandbox, payableId)).toEqual(["held"]);
    await sandbox.control.outcome({ match: { payableId }, outcome: "settle" });
    await sandbox.control.advance("P7D");
    expect(await statusesOf(sandbox, payableId)).toEqual(["completed"]);
  });
});
