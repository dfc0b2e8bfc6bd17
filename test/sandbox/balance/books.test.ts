import { isDeepStrictEqual } from "node:util";
import { fc } from "@fast-check/vitest";
import { expect } from "vitest";
import { netCreditByPayable, type TestSandbox } from "../../support/sandbox.ts";
import type { LedgerEntry } from "../../support/sandbox/ledger.ts";
import { sharedSandboxTest } from "../sandbox-test.ts";
import {
  makeBill,
  makeVendor,
  newYorkDay,
  type Page,
  pay,
  type Payment,
  unique,
} from "../world.ts";

const test = sharedSandboxTest();

const openingCents = 30_000_000;

interface Transfer {
  id: string;
  type: "deposit" | "withdrawal";
  status: string;
  amountCents: number;
}

interface World {
  contactId: string;
  bankAccountId: string;
  bills: string[];
}

type Step =
  | { do: "pay"; amountCents: number; bank: boolean; days: number }
  | { do: "transfer"; kind: "deposits" | "withdrawals"; amountCents: number }
  | { do: "plan"; outcome: "settle" | "fail" | "return" | "hold"; code: string; bill: number }
  | { do: "plan-transfer"; outcome: "settle" | "fail" | "return"; code: string; transfer: number }
  | { do: "cancel"; payment: number }
  | { do: "retry"; bill: number }
  | { do: "leap"; hours: number };

const cents = fc.oneof(
  fc.integer({ min: 1, max: 5_000 }),
  fc.constant(15_000_000),
  fc.constant(openingCents),
);
const code = fc.constantFrom("R01", "R02", "R10", "R99");

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("pay" as const),
      amountCents: cents,
      bank: fc.boolean(),
      days: fc.integer({ min: 0, max: 3 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("transfer" as const),
      kind: fc.constantFrom("deposits" as const, "withdrawals" as const),
      amountCents: cents,
    }),
  },
  fc.record({
    do: fc.constant("plan" as const),
    outcome: fc.constantFrom(
      "settle" as const,
      "fail" as const,
      "return" as const,
      "hold" as const,
    ),
    code,
    bill: fc.nat(5),
  }),
  fc.record({
    do: fc.constant("plan-transfer" as const),
    outcome: fc.constantFrom("settle" as const, "fail" as const, "return" as const),
    code,
    transfer: fc.nat(5),
  }),
  fc.record({ do: fc.constant("cancel" as const), payment: fc.nat(20) }),
  fc.record({ do: fc.constant("retry" as const), bill: fc.nat(5) }),
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("leap" as const),
      hours: fc.oneof(fc.integer({ min: 1, max: 120 }), fc.constant(24)),
    }),
  },
);

function at<T>(items: readonly T[], index: number): T | undefined {
  return items[index % Math.max(1, items.length)];
}

async function payments(sandbox: TestSandbox): Promise<Payment[]> {
  return (await sandbox.api<Page<Payment>>("GET", "/v1/payments?pageSize=100")).body.items;
}

async function transfers(sandbox: TestSandbox): Promise<Transfer[]> {
  const path = "/v1/balance/transactions?pageSize=100";
  return (await sandbox.api<Page<Transfer>>("GET", path)).body.items;
}

async function take(sandbox: TestSandbox, action: Step, world: World): Promise<void> {
  const { contactId, bankAccountId, bills } = world;
  switch (action.do) {
    case "pay": {
      const { amountCents: totalAmountCents, bank, days } = action;
      const payableId = await makeBill(sandbox, { contactId, totalAmountCents });
      bills.push(payableId);
      const source = { paymentRail: "PROVIDER", bankAccountId, achAuthorizationAccepted: true };
      await pay(sandbox, {
        payableId,
        ...(bank && { fundingSource: undefined, ...source }),
        ...(days > 0 && { scheduledAt: await newYorkDay(sandbox, days) }),
      });
      return;
    }
    case "transfer":
      await sandbox.api("POST", `/v1/balance/${action.kind}`, {
        key: unique("transfer"),
        body: { amountCents: action.amountCents, bankAccountId },
      });
      return;
    case "plan": {
      const match = { payableId: at(bills, action.bill) ?? "bill_none" };
      await sandbox.control.outcome({ match, outcome: action.outcome, code: action.code });
      return;
    }
    case "plan-transfer": {
      const transactionId = at(await transfers(sandbox), action.transfer)?.id ?? "txn_none";
      const { outcome, code } = action;
      await sandbox.control.outcome({ match: { transactionId }, outcome, code });
      return;
    }
    case "cancel": {
      const id = at(await payments(sandbox), action.payment)?.id ?? "pay_none";
      await sandbox.api("POST", `/v1/payments/${id}/cancel`, { key: unique("cancel") });
      return;
    }
    case "retry": {
      const id = at(bills, action.bill) ?? "bill_none";
      await sandbox.api("POST", `/v1/payables/${id}/retry-payment`, { key: unique("retry") });
      return;
    }
    case "leap":
      await sandbox.control.advance(`PT${action.hours}H`);
  }
}

function sum(items: readonly { amountCents: number }[]): number {
  return items.reduce((total, { amountCents }) => total + amountCents, 0);
}

/** Returns the balance's cash in cents, computed from the bank's ledger alone. */
function cashBy(
  ledger: readonly LedgerEntry[],
  fromBalance: ReadonlySet<string>,
  typeOf: ReadonlyMap<string, string>,
): number {
  const credited = new Set(
    ledger
      .filter(({ kind }) => kind === "credit")
      .map(({ paymentId, transactionId }) => paymentId ?? transactionId),
  );
  let cash = openingCents;
  for (const { kind, paymentId, transactionId, amountCents } of ledger) {
    const wasCredited = credited.has(paymentId ?? transactionId);
    const goesBack = kind === "return" && wasCredited;
    if (typeOf.get(transactionId ?? "") === "deposit") {
      if (kind === "credit") cash += amountCents;
      if (goesBack) cash -= amountCents;
      continue;
    }
    if (transactionId === null && !fromBalance.has(paymentId ?? "")) continue;
    if (kind === "debit") cash -= amountCents;
    if (kind === "refund" || (kind === "return" && !wasCredited)) cash += amountCents;
  }
  return cash;
}

/** Reads the books again if the bank booked something between the reads. */
async function readBooks(sandbox: TestSandbox) {
  for (;;) {
    const { body: balance } = await sandbox.api("GET", "/v1/balance");
    const ledger = await sandbox.control.ledger();
    const all = await payments(sandbox);
    const moved = await transfers(sandbox);
    const { body: since } = await sandbox.api("GET", "/v1/balance");
    const ledgerSince = await sandbox.control.ledger();
    const isSame = ledger.length === ledgerSince.length && isDeepStrictEqual(balance, since);
    if (isSame) return { balance, ledger, all, moved };
  }
}

async function checkBooks(sandbox: TestSandbox): Promise<void> {
  const { balance, ledger, all, moved } = await readBooks(sandbox);
  const service = all.filter(({ paymentRail }) => paymentRail === "SERVICE");
  const debited = new Set(
    ledger
      .filter(({ kind }) => kind === "debit")
      .map(({ paymentId, transactionId }) => paymentId ?? transactionId),
  );
  const moving = [
    ...service.filter(({ status }) => ["pending", "processing", "held"].includes(status)),
    ...moved.filter(
      ({ type, status }) => type === "withdrawal" && ["pending", "processing"].includes(status),
    ),
  ];
  const arriving = moved.filter(
    ({ type, status }) => type === "deposit" && ["pending", "processing"].includes(status),
  );
  const cashCents = cashBy(
    ledger,
    new Set(service.map(({ id }) => id)),
    new Map(moved.map(({ id, type }) => [id, type])),
  );
  const reservedCents = sum(moving.filter(({ id }) => !debited.has(id)));
  expect(balance).toMatchObject({
    cashCents,
    reservedCents,
    availableCents: cashCents - reservedCents,
    pendingInboundCents: sum(arriving),
    pendingOutboundCents: sum(moving.filter(({ id }) => debited.has(id))),
  });
  expect(cashCents).toBeGreaterThanOrEqual(0);
  const paid = new Map<string, number>();
  for (const { status, payableId, amountCents } of all) {
    if (status !== "completed" || payableId === null) continue;
    paid.set(payableId, (paid.get(payableId) ?? 0) + amountCents);
  }
  const net = [...netCreditByPayable(ledger)].filter(([, netCents]) => netCents !== 0);
  expect(new Map(net)).toEqual(paid);
  expect(await sandbox.control.health()).toMatchObject({ ok: true, bank: { refusals: [] } });
}

test("the balance adds up with the bank's ledger after each step, whatever is paid, moved, held, cancelled, returned and retried", async ({
  sandbox,
}) => {
  const steps = fc.array(step, { minLength: 6, maxLength: 24 });
  const property = fc.asyncProperty(steps, async (taken) => {
    await sandbox.control.reset({
      businesses: [
        { name: "Books", balanceCents: openingCents, bankAccounts: [{ id: "ba_books" }] },
      ],
    });
    const world = { contactId: await makeVendor(sandbox), bankAccountId: "ba_books", bills: [] };
    for (const action of taken) {
      await take(sandbox, action, world);
      await checkBooks(sandbox);
    }
    await sandbox.control.advance("P60D");
    await checkBooks(sandbox);
  });
  await fc.assert(property, { numRuns: 14 });
});
