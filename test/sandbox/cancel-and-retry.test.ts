import { describe, expect } from "vitest";
import { netCreditByPayable, type TestSandbox } from "../support/sandbox.ts";
import { mondayTest } from "./sandbox-test.ts";
import {
  billNow,
  makeBill,
  movesOf,
  onlyPayment,
  pay,
  type Payment,
  paymentsOf,
  statusesOf,
  unique,
} from "./world.ts";

const it = mondayTest();

describe("cancelling (API specification, section 4)", () => {
  const cancel = (sandbox: TestSandbox, id: string, body?: object, key = unique("cancel")) =>
    sandbox.api<{ payment: Payment; message: string }>("POST", `/v1/payments/${id}/cancel`, {
      key,
      ...(body !== undefined && { body }),
    });

  it("a cancelled scheduled payment moves no money, and its bill can be paid again", async ({
    sandbox,
  }) => {
    const payableId = await makeBill(sandbox);
    await pay(sandbox, { payableId, scheduledAt: "2029-03-20" });
    const { id } = await onlyPayment(sandbox, payableId);
    const answer = await cancel(sandbox, id, { reason: "Wrong amount" });
    expect(answer).toMatchObject({
      status: 200,
      body: { payment: { id, status: "cancelled" }, message: expect.any(String) },
    });
    expect(await billNow(sandbox, payableId)).toMatchObject({ paymentStatus: "none" });
    expect((await pay(sandbox, { payableId })).status).toBe(201);
    await sandbox.control.advance("P30D");
    expect(await statusesOf(sandbox, payableId)).toEqual(["cancelled", "completed"]);
  });

  it("cancelling a payment that the service holds refunds it at once", async ({ sandbox }) => {
    const payableId = await makeBill(sandbox);
    await sandbox.control.outcome({ match: { payableId }, outcome: "hold" });
    await pay(sandbox, { payableId });
    await sandbox.control.advance("PT1M");
    const answer = await cancel(sandbox, (await onlyPayment(sandbox, payableId)).id);
    expect(answer.body.payment.status).toBe("refunded");
    expect(netCreditByPayable(await sandbox.control.ledger()).size).toBe(0);
    const { body } = await sandbox.api("GET", "/v1/balance");
    expect(body).toMatchObject({ availableCents: 100_000_000, reservedCents: 0 });
  });

  it("a cancelled hold of an external provider is refunded within three banking days", async ({
    sandbox,
  }) => {
    const { body: banks } = await sandbox.api<{ items: { id: string }[] }>(
      "GET",
      "/v1/bank-accounts",
    );
    const payableId = await makeBill(sandbox);
    await sandbox.control.outcome({ match: { payableId }, outcome: "hold" });
    await sandbox.api("POST", "/v1/payments", {
      key: unique("k"),
      body: {
        payableId,
        bankAccountId: banks.items[0]?.id,
        paymentRail: "PROVIDER",
        achAuthorizationAccepted: true,
      },
    });
    await sandbox.control.advance("PT1M");
    const answer = await cancel(sandbox, (await onlyPayment(sandbox, payableId)).id);
    expect(answer.body.payment.status).toBe("refund_pending");
    await sandbox.control.advance("P5D");
    expect(await statusesOf(sandbox, payableId)).toEqual(["refunded"]);
    expect(await movesOf(sandbox, payableId)).toEqual(["debit", "refund"]);
  });

  it("cancelling a processing or completed payment is refused with its status", async ({
    sandbox,
  }) => {
    const payableId = await makeBill(sandbox);
    await pay(sandbox, { payableId });
    const { id } = await onlyPayment(sandbox, payableId);
    const refused = (status: string) => ({
      status: 409,
      body: { error: "payment_not_cancellable", details: { status } },
    });
    await sandbox.control.advance("PT1M");
    expect(await cancel(sandbox, id)).toMatchObject(refused("processing"));
    await sandbox.control.advance("P7D");
    expect(await cancel(sandbox, id)).toMatchObject(refused("completed"));
    expect((await cancel(sandbox, "pay_none")).status).toBe(404);
  });

  it("cancelling one of a bill's several scheduled payments is refused", async ({ sandbox }) => {
    const payableId = await makeBill(sandbox, { totalAmountCents: 150_000_00 });
    await pay(sandbox, { payableId, scheduledAt: "2029-03-20" });
    const [first] = await paymentsOf(sandbox, payableId);
    expect(await cancel(sandbox, first?.id ?? "")).toMatchObject({
      status: 409,
      body: { error: "payment_not_cancellable", details: { status: "scheduled" } },
    });
  });

  it("a cancel takes a reason of up to 500 characters", async ({ sandbox }) => {
    const payableId = await makeBill(sandbox);
    await pay(sandbox, { payableId, scheduledAt: "2029-03-20" });
    const { id } = await onlyPayment(sandbox, payableId);
    expect(await cancel(sandbox, id, { reason: "r".repeat(501) })).toMatchObject({
      status: 422,
      body: { error: "validation_error" },
    });
    expect((await cancel(sandbox, id, { reason: "r".repeat(500) })).status).toBe(200);
  });
});

describe("retrying a failed payment", () => {
  const retry = (sandbox: TestSandbox, payableId: string, key = unique("retry")) =>
    sandbox.api<{ payableId: string; payments: Payment[] }>(
      "POST",
      `/v1/payables/${payableId}/retry-payment`,
      { key },
    );

  it("a retry pays the last failed payment's amount again as a new payment", async ({
    sandbox,
  }) => {
    const payableId = await makeBill(sandbox, { totalAmountCents: 5_000 });
    await sandbox.control.outcome({ match: { payableId }, outcome: "fail", code: "R01", times: 1 });
    await pay(sandbox, { payableId, amountCents: 3_000 });
    await sandbox.control.advance("P7D");
    const answer = await retry(sandbox, payableId);
    expect(answer).toMatchObject({
      status: 201,
      body: { payableId, payments: [{ amountCents: 3_000, paymentRail: "SERVICE" }] },
    });
    expect(await retry(sandbox, payableId)).toMatchObject({
      status: 409,
      body: { error: "payment_in_progress" },
    });
    await sandbox.control.advance("P7D");
    expect(await statusesOf(sandbox, payableId)).toEqual(["failed", "completed"]);
  });

  it("a retry is refused if the bill has no failed payment", async ({ sandbox }) => {
    const payableId = await makeBill(sandbox);
    expect(await retry(sandbox, payableId)).toMatchObject({
      status: 422,
      body: { error: "validation_error" },
    });
    expect((await retry(sandbox, "bill_none")).status).toBe(404);
  });
});
