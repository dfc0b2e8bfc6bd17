import { fc, test as property } from "@fast-check/vitest";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { netCreditByPayable, startSandbox, type TestSandbox } from "../support/sandbox.ts";
import { makeBill, makeVendor, newYorkDay, type Page, pay, type Payment, unique } from "./world.ts";

let sandbox: TestSandbox;
beforeAll(async () => {
  sandbox = await startSandbox();
});
afterAll(() => sandbox.stop());
beforeEach(() => sandbox.control.reset("blank"));

interface Balance {
  availableCents: number;
  cashCents: number;
  reservedCents: number;
  pendingOutboundCents: number;
}

const openingCents = 100_000_000;

async function checkBooks(): Promise<void> {
  const { body: balance } = await sandbox.api<Balance>("GET", "/v1/balance");
  const ledger = await sandbox.control.ledger();
  const { body: list } = await sandbox.api<Page<Payment>>("GET", "/v1/payments?pageSize=100");
  const fromBalance = new Set(
    list.items.filter(({ paymentRail }) => paymentRail === "SERVICE").map(({ id }) => id),
  );
  const credited = new Set(
    ledger.filter(({ kind }) => kind === "credit").map(({ paymentId }) => paymentId),
  );
  let cash = openingCents;
  for (const { kind, paymentId, amountCents } of ledger) {
    if (paymentId === null || !fromBalance.has(paymentId)) continue;
    if (kind === "debit") cash -= amountCents;
    if (kind === "refund" || (kind === "return" && !credited.has(paymentId))) cash += amountCents;
  }
  expect(balance.cashCents).toBe(cash);
  expect(balance.availableCents).toBe(balance.cashCents - balance.reservedCents);
  const paid = new Map<string, number>();
  for (const { status, payableId, amountCents } of list.items) {
    if (status !== "completed" || payableId === null) continue;
    paid.set(payableId, (paid.get(payableId) ?? 0) + amountCents);
  }
  const net = [...netCreditByPayable(ledger)].filter(([, cents]) => cents !== 0);
  expect(new Map(net)).toEqual(paid);
  expect(await sandbox.control.health()).toMatchObject({ ok: true });
}

it("shows the balance's parts, and where to look at it", async () => {
  expect((await sandbox.api("GET", "/v1/balance")).body).toEqual({
    status: "open",
    availableCents: openingCents,
    cashCents: openingCents,
    reservedCents: 0,
    pendingInboundCents: 0,
    pendingInboundPassThroughCents: 0,
    pendingOutboundCents: 0,
    isReady: true,
    canSendPayments: true,
    sameDayAch: {
      inbound: expect.any(Boolean),
      outbound: expect.any(Boolean),
      maxAmountCents: 100_000_000,
    },
    linkedBank: { bankName: expect.any(String), last4: expect.any(String) },
    dashboardUrl: expect.any(String),
  });
});

it("reserves from creation, and is on its way from debit to settlement", async () => {
  const payableId = await makeBill(sandbox, { totalAmountCents: 5_000 });
  const balance = async () => (await sandbox.api<Balance>("GET", "/v1/balance")).body;
  await pay(sandbox, { payableId });
  expect(await balance()).toMatchObject({ cashCents: openingCents, reservedCents: 5_000 });
  await sandbox.control.advance("PT1M");
  expect(await balance()).toMatchObject({
    cashCents: openingCents - 5_000,
    reservedCents: 0,
    pendingOutboundCents: 5_000,
  });
  await sandbox.control.advance("P7D");
  expect(await balance()).toMatchObject({
    cashCents: openingCents - 5_000,
    pendingOutboundCents: 0,
  });
});

it("lists the balance, the linked bank and each verified bank with the fields to pay from them", async () => {
  const { body } = await sandbox.api<Page<Record<string, unknown>>>("GET", "/v1/funding-sources");
  const { body: banks } = await sandbox.api<Page<{ id: string }>>("GET", "/v1/bank-accounts");
  expect(body.items).toMatchObject([
    {
      id: "balance",
      rail: "SERVICE",
      kind: "balance",
      availableCents: openingCents,
      isDefault: true,
      canPay: true,
      unavailableReason: null,
      pay: { paymentRail: "SERVICE", fundingSource: "balance" },
    },
    { id: "linked_bank", canPay: false, unavailableReason: "bank_funding_unavailable" },
    {
      id: banks.items[0]?.id,
      rail: "PROVIDER",
      kind: "bank",
      canPay: true,
      pay: { paymentRail: "PROVIDER", bankAccountId: banks.items[0]?.id },
    },
  ]);
});

it("lists and reads bank accounts without their full numbers", async () => {
  const { body } = await sandbox.api<Page<{ id: string }>>("GET", "/v1/bank-accounts");
  expect(body.items).toEqual([
    {
      id: expect.any(String),
      status: "verified",
      type: "checking",
      connectionType: "manual",
      name: expect.any(String),
      institutionName: expect.any(String),
      accountNumberLast4: expect.stringMatching(/^\d{4}$/),
      routingNumberLast4: expect.stringMatching(/^\d{4}$/),
      isDefault: true,
      microDepositsInitiatedAt: expect.any(String),
      microDepositsCompletedAt: expect.any(String),
      verificationAttempts: 0,
    },
  ]);
  const one = await sandbox.api("GET", `/v1/bank-accounts/${body.items[0]?.id}`);
  expect(one.body).toEqual(body.items[0]);
  expect((await sandbox.api("GET", "/v1/bank-accounts/ba_none")).status).toBe(404);
});

type Step =
  | { do: "pay"; amountCents: number; bank: boolean; days: number }
  | { do: "outcome"; outcome: "settle" | "fail" | "return" | "hold"; code: string; bill: number }
  | { do: "cancel"; payment: number }
  | { do: "retry"; bill: number }
  | { do: "advance"; hours: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("pay" as const),
      amountCents: fc.oneof(fc.integer({ min: 1, max: 5_000 }), fc.constant(15_000_000)),
      bank: fc.boolean(),
      days: fc.integer({ min: 0, max: 3 }),
    }),
  },
  fc.record({
    do: fc.constant("outcome" as const),
    outcome: fc.constantFrom(
      "settle" as const,
      "fail" as const,
      "return" as const,
      "hold" as const,
    ),
    code: fc.constantFrom("R01", "R02", "R10", "R99"),
    bill: fc.nat(5),
  }),
  fc.record({ do: fc.constant("cancel" as const), payment: fc.nat(20) }),
  fc.record({ do: fc.constant("retry" as const), bill: fc.nat(5) }),
  fc.record({ do: fc.constant("advance" as const), hours: fc.integer({ min: 1, max: 120 }) }),
);

async function take(action: Step, bills: string[], contactId: string): Promise<void> {
  const of = (index: number) => bills[index % Math.max(1, bills.length)] ?? "bill_none";
  switch (action.do) {
    case "pay": {
      const payableId = await makeBill(sandbox, {
        contactId,
        totalAmountCents: action.amountCents,
      });
      bills.push(payableId);
      const { body } = await sandbox.api<Page<{ id: string }>>("GET", "/v1/bank-accounts");
      const source = action.bank
        ? {
            paymentRail: "PROVIDER",
            fundingSource: undefined,
            bankAccountId: body.items[0]?.id,
            achAuthorizationAccepted: true,
          }
        : {};
      const date = action.days === 0 ? {} : { scheduledAt: await newYorkDay(sandbox, action.days) };
      await pay(sandbox, { payableId, ...source, ...date });
      return;
    }
    case "outcome":
      await sandbox.control.outcome({
        match: { payableId: of(action.bill) },
        outcome: action.outcome,
        code: action.code,
      });
      return;
    case "cancel": {
      const { body } = await sandbox.api<Page<Payment>>("GET", "/v1/payments?pageSize=100");
      const id = body.items[action.payment % Math.max(1, body.items.length)]?.id ?? "pay_none";
      await sandbox.api("POST", `/v1/payments/${id}/cancel`, { key: unique("cancel") });
      return;
    }
    case "retry":
      await sandbox.api("POST", `/v1/payables/${of(action.bill)}/retry-payment`, {
        key: unique("retry"),
      });
      return;
    case "advance":
      await sandbox.control.advance(`PT${action.hours}H`);
  }
}

property.prop([fc.array(step, { minLength: 5, maxLength: 25 })], { numRuns: 15 })(
  "adds up with the bank's ledger whatever is paid, held, cancelled, returned and retried",
  async (steps) => {
    await sandbox.control.reset("blank");
    const contactId = await makeVendor(sandbox);
    const bills: string[] = [];
    for (const action of steps) await take(action, bills, contactId);
    await checkBooks();
    await sandbox.control.advance("P60D");
    await checkBooks();
  },
);
