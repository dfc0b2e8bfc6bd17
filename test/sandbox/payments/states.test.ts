import { describe, expect } from "vitest";
import { netCreditByPayable, type TestSandbox } from "../../support/sandbox.ts";
import { mondayTest } from "../sandbox-test.ts";
import {
  type Created,
  makeBill,
  movesOf,
  type Page,
  pay,
  type Payment,
  paymentsOf,
  statusesOf,
  unique,
} from "../world.ts";

const it = mondayTest({
  businesses: [
    {
      name: "States",
      balanceCents: 100_000_000,
      bankAccounts: [{ id: "ba_1" }],
      webhookEndpoints: [{ url: "http://127.0.0.1:9/", events: ["*"] }],
    },
  ],
}).extend("endpointId", ({ sandbox }) => sandbox.business.webhookEndpoints?.[0]?.id ?? "");

type Plan = Parameters<TestSandbox["control"]["outcome"]>[0];

/** Makes and pays a bill of $10.00, whose payment ends at the bank as planned. @returns its id. */
async function paid(
  sandbox: TestSandbox,
  plan: Partial<Plan> = {},
  body: object = {},
): Promise<string> {
  const payableId = await makeBill(sandbox, { totalAmountCents: 1_000 });
  if (plan.outcome !== undefined) {
    await sandbox.control.outcome({ match: { payableId }, ...plan, outcome: plan.outcome });
  }
  const answer = await pay(sandbox, { payableId, ...body });
  if (answer.status !== 201) throw new Error(answer.text);
  return payableId;
}

const fromBank = {
  fundingSource: undefined,
  paymentRail: "PROVIDER",
  bankAccountId: "ba_1",
  achAuthorizationAccepted: true,
};

async function cancel(sandbox: TestSandbox, payableId: string, key = unique("cancel")) {
  const [payment] = await paymentsOf(sandbox, payableId);
  return sandbox.api<Created>("POST", `/v1/payments/${payment?.id}/cancel`, { key });
}

/** Returns the types of the events about a bill after its creation, in order. */
async function eventsOf(
  sandbox: TestSandbox,
  endpointId: string,
  payableId: string,
): Promise<string[]> {
  const types: { type: string; sequence: bigint }[] = [];
  for (let page = 1; ; page += 1) {
    const { body } = await sandbox.api<Page<{ requestBody: string }>>(
      "GET",
      `/v1/webhook-endpoints/${endpointId}/deliveries?pageSize=100&page=${page}`,
    );
    for (const { requestBody } of body.items) {
      const event = JSON.parse(requestBody) as {
        type: string;
        sequence: string;
        data: { id: string };
      };
      if (event.data.id === payableId) {
        types.push({ type: event.type, sequence: BigInt(event.sequence) });
      }
    }
    if (page * 100 >= body.totalCount) break;
  }
  return types
    .toSorted((a, b) => (a.sequence < b.sequence ? -1 : 1))
    .map(({ type }) => type)
    .filter((type) => type !== "payable.created");
}

describe("the ten statuses of a payment (API specification, section 3)", () => {
  it("payments reach all ten statuses, and the bill's paymentStatus, amounts and events follow", async ({
    sandbox,
    endpointId,
  }) => {
    const bills = {
      completed: await paid(sandbox),
      failed: await paid(sandbox, { outcome: "fail", code: "R02" }),
      returned: await paid(sandbox, { outcome: "return", code: "R03", after: "PT1H" }),
      held: await paid(sandbox, { outcome: "hold" }),
      refunded: await paid(sandbox, { outcome: "hold" }),
      cancelled: await paid(sandbox, {}, { scheduledAt: "2029-03-20" }),
      scheduled: await paid(sandbox, {}, { scheduledAt: "2029-03-20" }),
      refund_pending: await paid(sandbox, { outcome: "hold" }, fromBank),
    };
    await sandbox.control.advance("P4D");
    for (const name of ["refunded", "cancelled", "refund_pending"] as const) {
      expect((await cancel(sandbox, bills[name])).status).toBe(200);
    }
    const processing = await paid(sandbox);
    await sandbox.control.advance("PT1M");
    const all = { ...bills, processing, pending: await paid(sandbox) };
    const expected: Record<string, [paymentStatus: string, paidCents: number, events: string[]]> = {
      pending: ["processing", 0, []],
      scheduled: ["scheduled", 0, ["payable.payment.scheduled"]],
      processing: ["processing", 0, []],
      held: ["processing", 0, []],
      completed: ["settled", 1_000, ["payable.paid"]],
      failed: ["failed", 0, ["payable.payment.failed"]],
      returned: ["clawback", 0, ["payable.paid", "payable.payment.reversed"]],
      cancelled: ["none", 0, ["payable.payment.scheduled"]],
      refund_pending: ["processing", 0, []],
      refunded: ["none", 0, []],
    };
    for (const [status, payableId] of Object.entries(all)) {
      const [paymentStatus, amountPaidCents, events] = expected[status] ?? ["", 0, []];
      expect(await statusesOf(sandbox, payableId)).toEqual([status]);
      const { body } = await sandbox.api("GET", `/v1/payables/${payableId}`);
      expect(body, status).toMatchObject({
        status: "approved",
        paymentStatus,
        amountPaidCents,
        remainingAmountCents: 1_000 - amountPaidCents,
      });
      expect(await eventsOf(sandbox, endpointId, payableId), status).toEqual(events);
      const list = await sandbox.api<Page<Payment>>("GET", `/v1/payments?status=${status}`);
      expect(list.body.items.map((payment) => payment.payableId)).toEqual([payableId]);
    }
  });

  it("events report each part of a bill that is paid and each part that is returned", async ({
    sandbox,
    endpointId,
  }) => {
    const payableId = await makeBill(sandbox, { totalAmountCents: 1_000 });
    await pay(sandbox, { payableId, amountCents: 300 });
    await sandbox.control.advance("P3D");
    await sandbox.control.outcome({ match: { payableId }, outcome: "return", after: "P1D" });
    const { body } = await sandbox.api("GET", `/v1/payables/${payableId}`);
    expect(body).toMatchObject({ paymentStatus: "none", amountPaidCents: 300 });
    await pay(sandbox, { payableId });
    await sandbox.control.advance("P9D");
    expect(await eventsOf(sandbox, endpointId, payableId)).toEqual([
      "payable.payment.partially_paid",
      "payable.payment.reversed",
      "payable.payment.partially_paid",
      "payable.payment.reversed",
    ]);
  });
});

describe("a scheduled payment", () => {
  it("a scheduled payment runs at 9:00 New York on its date, even on a holiday", async ({
    sandbox,
  }) => {
    await sandbox.control.setClock("2029-12-20T15:00:00Z");
    const christmas = await paid(sandbox, {}, { scheduledAt: "2029-12-25" });
    await sandbox.control.setClock("2029-12-25T13:59:59Z");
    expect(await statusesOf(sandbox, christmas)).toEqual(["scheduled"]);
    await sandbox.control.setClock("2029-12-25T14:00:00Z");
    expect(await statusesOf(sandbox, christmas)).toEqual(["processing"]);
    await sandbox.control.advance("P9D");
    expect(await paymentsOf(sandbox, christmas)).toMatchObject([
      { status: "completed", processedAt: "2029-12-27T13:30:00.000Z" },
    ]);
  });

  it("a scheduled payment runs at 9:00 local time when daylight saving begins", async ({
    sandbox,
  }) => {
    await sandbox.control.setClock("2030-03-06T15:00:00Z");
    const [before, after] = [
      await paid(sandbox, {}, { scheduledAt: "2030-03-08" }),
      await paid(sandbox, {}, { scheduledAt: "2030-03-11" }),
    ];
    expect(await paymentsOf(sandbox, before)).toMatchObject([
      { scheduledAt: "2030-03-08T14:00:00.000Z" },
    ]);
    expect(await paymentsOf(sandbox, after)).toMatchObject([
      { scheduledAt: "2030-03-11T13:00:00.000Z" },
    ]);
    await sandbox.control.setClock("2030-03-11T12:59:59Z");
    expect(await statusesOf(sandbox, after)).toEqual(["scheduled"]);
    await sandbox.control.setClock("2030-03-11T13:00:00Z");
    expect(await statusesOf(sandbox, after)).toEqual(["processing"]);
  });
});

describe("a held payment", () => {
  it("a held payment of an external provider goes on with the money it has already taken", async ({
    sandbox,
  }) => {
    const payableId = await paid(sandbox, { outcome: "hold", after: "P1D" }, fromBank);
    await sandbox.control.advance("PT1M");
    expect(await statusesOf(sandbox, payableId)).toEqual(["held"]);
    expect(await movesOf(sandbox, payableId)).toEqual(["debit"]);
    await sandbox.control.advance("P7D");
    expect(await statusesOf(sandbox, payableId)).toEqual(["completed"]);
    expect(await movesOf(sandbox, payableId)).toEqual(["debit", "credit"]);
  });

  it("a cancelled hold of an external provider is refunded on the second banking day", async ({
    sandbox,
  }) => {
    const payableId = await paid(sandbox, { outcome: "hold" }, fromBank);
    // Friday: the second banking day after it is Tuesday.
    await sandbox.control.setClock("2029-03-16T14:00:00Z");
    await cancel(sandbox, payableId);
    await sandbox.control.setClock("2029-03-20T12:29:59Z");
    expect(await statusesOf(sandbox, payableId)).toEqual(["refund_pending"]);
    await sandbox.control.setClock("2029-03-20T12:30:00Z");
    expect(await statusesOf(sandbox, payableId)).toEqual(["refunded"]);
  });

  it("a held payment fails if the balance is emptied before the service releases it", async ({
    sandbox,
  }) => {
    const payableId = await paid(sandbox, { outcome: "hold" });
    await sandbox.control.advance("PT1M");
    await sandbox.control.changeBusiness({ balanceCents: 999 });
    await sandbox.control.outcome({ match: { payableId }, outcome: "settle" });
    expect(await paymentsOf(sandbox, payableId)).toMatchObject([
      { status: "failed", failureReason: "Insufficient balance" },
    ]);
    expect(await sandbox.control.health()).toMatchObject({ ok: true });
  });
});

it("a cancel that fails after its effect is done, and its key is payment_unconfirmed", async ({
  sandbox,
}) => {
  const payableId = await paid(sandbox, {}, { scheduledAt: "2029-03-20" });
  await sandbox.control.faults([
    { path: "/v1/payments/*/cancel", when: "after", effect: "status", status: 500, times: 1 },
  ]);
  expect((await cancel(sandbox, payableId, "cancel-once")).status).toBe(500);
  expect(await cancel(sandbox, payableId, "cancel-once")).toMatchObject({
    status: 409,
    body: { error: "payment_unconfirmed" },
  });
  expect(await statusesOf(sandbox, payableId)).toEqual(["cancelled"]);
  expect(await cancel(sandbox, payableId)).toMatchObject({
    status: 409,
    body: { error: "payment_not_cancellable", details: { status: "cancelled" } },
  });
});

describe("a retry", () => {
  const retry = (sandbox: TestSandbox, payableId: string, key = unique("retry")) =>
    sandbox.api("POST", `/v1/payables/${payableId}/retry-payment`, { key });

  it("a retry refused for the business's state is accepted later under the same key", async ({
    sandbox,
  }) => {
    const payableId = await paid(sandbox, { outcome: "fail", code: "R01", times: 1 });
    await sandbox.control.advance("P2D");
    const key = unique("retry");
    const states: [object, object, string][] = [
      [{ paymentsLocked: true }, { paymentsLocked: false }, "payments_locked"],
      [{ setup: "incomplete" }, { setup: "complete" }, "setup_incomplete"],
      [{ balanceCents: 999 }, { balanceCents: 1_000 }, "insufficient_balance"],
      [{ features: { balance: false } }, { features: { balance: true } }, "feature_unavailable"],
    ];
    for (const [bad, good, error] of states) {
      await sandbox.control.changeBusiness({ ...bad });
      expect((await retry(sandbox, payableId, key)).body).toMatchObject({ error });
      await sandbox.control.changeBusiness({ ...good });
    }
    await sandbox.control.changePayable(payableId, { status: "pending_approval" });
    expect((await retry(sandbox, payableId, key)).body).toMatchObject({
      error: "approval_required",
    });
    await sandbox.control.changePayable(payableId, { status: "approved" });
    expect((await retry(sandbox, payableId, key)).status).toBe(201);
    await sandbox.control.advance("P3D");
    expect(await statusesOf(sandbox, payableId)).toEqual(["failed", "completed"]);
  });

  it("a retry pays a returned payment again from its original account", async ({ sandbox }) => {
    const payableId = await paid(sandbox, { outcome: "return", times: 1, after: "PT1H" }, fromBank);
    await sandbox.control.advance("P3D");
    expect((await retry(sandbox, payableId)).body).toMatchObject({
      payments: [{ amountCents: 1_000, paymentRail: "PROVIDER", bankAccountId: "ba_1" }],
    });
    await sandbox.control.advance("P7D");
    expect(await statusesOf(sandbox, payableId)).toEqual(["returned", "completed"]);
  });
});

it("a service that accepts double payments pays a bill again that is in progress or paid", async ({
  sandbox,
}) => {
  const payableId = await paid(sandbox);
  expect((await pay(sandbox, { payableId, amountCents: 1_000 })).status).toBe(409);
  await sandbox.control.changeBusiness({ acceptsDoublePayments: true });
  expect((await pay(sandbox, { payableId, amountCents: 1_000 })).status).toBe(201);
  await sandbox.control.advance("P7D");
  expect((await pay(sandbox, { payableId, amountCents: 1_000 })).status).toBe(201);
  await sandbox.control.advance("P7D");
  expect(netCreditByPayable(await sandbox.control.ledger()).get(payableId)).toBe(3_000);
  expect(await sandbox.control.health()).toMatchObject({ ok: true });
  await sandbox.control.changeBusiness({ acceptsDoublePayments: false });
  expect((await pay(sandbox, { payableId, amountCents: 1_000 })).status).toBe(422);
});
