import { expect } from "vitest";
import { sandboxTest } from "../sandbox-test.ts";
import { makeBill, type Page, pay } from "../world.ts";

const it = sandboxTest("blank");

interface Balance {
  availableCents: number;
  cashCents: number;
  reservedCents: number;
  pendingOutboundCents: number;
}

const openingCents = 100_000_000;

it("the balance shows its parts and the address of its dashboard", async ({ sandbox }) => {
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

it("a payment is reserved from its creation, then pending outbound until it settles", async ({
  sandbox,
}) => {
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

it("funding sources are the balance, the linked bank and verified banks, with fields to pay", async ({
  sandbox,
}) => {
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

it("bank accounts are listed and read without their full numbers", async ({ sandbox }) => {
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
