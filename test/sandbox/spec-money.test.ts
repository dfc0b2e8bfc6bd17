import { createHash } from "node:crypto";
import { expect } from "vitest";
import { type Json, netCreditByPayable, type TestSandbox } from "../support/sandbox.ts";
import { sharedSandboxTest } from "./sandbox-test.ts";
import { fromBalance, newYorkDay, type Page, type Payment } from "./world.ts";

// A storm of random payments, cancels, retries, returns, holds, faults and kills. Afterwards the
// bank's ledger, the payments, the bills, the balance and the events must agree.

const startCents = 500_000_000;
const vendors = 12;
const bills = 40;
const rounds = 240;

/** Numbers that are the same in every run. */
class Dice {
  #draws = 0;

  below(limit: number): number {
    this.#draws += 1;
    const digest = createHash("sha256").update(`storm ${this.#draws}`).digest();
    return digest.readUInt32BE(0) % limit;
  }

  pick<T>(options: readonly T[]): T {
    const picked = options[this.below(options.length)];
    if (picked === undefined) throw new Error("nothing to pick from");
    return picked;
  }
}

const dice = new Dice();

const it = sharedSandboxTest().extend("sandbox", async ({ sandbox }) => {
  await sandbox.control.reset({
    businesses: [
      {
        name: "Storm Company",
        balanceCents: startCents,
        bankAccounts: [
          { id: "ba_storm", name: "Operating", accountNumberLast4: "1111", isDefault: true },
        ],
        contacts: Array.from({ length: vendors }, (_, i) => ({
          id: `vendor${i}`,
          displayName: `Vendor ${i}`,
          bankAccount: { last4: "2222" },
        })),
        payables: Array.from({ length: bills }, (_, i) => ({
          id: `bill${i}`,
          contactId: `vendor${i % vendors}`,
          totalAmountCents: i % 9 === 0 ? 25_000_000 + i : 1_000 + dice.below(900_000),
          dueDate: "2030-01-01",
        })),
        // Nothing listens there: the test reads the list of deliveries.
        webhookEndpoints: [{ url: "http://127.0.0.1:9/", events: ["*"] }],
      },
    ],
  });
  const longLived = { expiresInSeconds: 1_000_000_000 };
  sandbox.business.token = await sandbox.control.token(undefined, longLived);
  await sandbox.control.faults(
    [
      {
        method: "POST",
        path: "/v1/payments",
        when: "after",
        effect: "drop",
        probability: 0.15,
        seed: 1,
      },
      {
        method: "POST",
        path: "/v1/payments",
        when: "before",
        effect: "status",
        status: 503,
        probability: 0.1,
        seed: 2,
      },
      {
        method: "POST",
        path: "/v1/payments",
        when: "after",
        effect: "status",
        status: 500,
        probability: 0.1,
        seed: 3,
      },
      {
        method: "POST",
        path: "/v1/payments",
        when: "during",
        effect: "partial",
        probability: 0.05,
        seed: 4,
      },
      {
        method: "POST",
        path: "/v1/payments/*/cancel",
        when: "after",
        effect: "malformed",
        probability: 0.2,
        seed: 5,
      },
    ],
    { lose: 1 },
  );
  return sandbox;
});

async function all<T>(sandbox: TestSandbox, path: string): Promise<T[]> {
  const items: T[] = [];
  for (let page = 1; ; page += 1) {
    const joined = `${path}?page=${page}&pageSize=100`;
    const { body } = await sandbox.api<Page<T>>("GET", joined);
    items.push(...body.items);
    if (items.length >= body.totalCount) return items;
  }
}

/** Sends a write as a careful client does: with the same key until the response is final. */
async function send(sandbox: TestSandbox, path: string, key: string, body: Json): Promise<void> {
  for (let attempt = 0; attempt < 6; attempt += 1) {
    const answer = await sandbox.api("POST", path, { key, body }).catch(() => undefined);
    if (answer !== undefined && answer.status < 500 && answer.body["error"] !== undefined) return;
    if (answer !== undefined && answer.status < 300) return;
  }
}

async function payOne(sandbox: TestSandbox, key: string): Promise<void> {
  const scheduledAt = await newYorkDay(sandbox, 1 + dice.below(9));
  const source =
    dice.below(4) === 0
      ? { paymentRail: "PROVIDER", bankAccountId: "ba_storm", achAuthorizationAccepted: true }
      : fromBalance;
  await send(sandbox, "/v1/payments", key, {
    payableId: `bill${dice.below(bills)}`,
    ...source,
    ...(dice.below(3) === 0 ? { amountCents: 1 + dice.below(400_000) } : {}),
    ...(dice.below(2) === 0 ? { scheduledAt } : {}),
    ...(dice.below(4) === 0 ? { clearing: "NEXT_AVAILABLE" } : {}),
  });
}

async function cancelOne(sandbox: TestSandbox, key: string): Promise<void> {
  const status = dice.pick(["held", "scheduled"]);
  const { body } = await sandbox.api<Page<Payment>>("GET", `/v1/payments?status=${status}`);
  if (body.items.length === 0) return;
  await send(sandbox, `/v1/payments/${dice.pick(body.items).id}/cancel`, key, { reason: "storm" });
}

async function planOne(sandbox: TestSandbox): Promise<void> {
  const rule = dice.pick([
    { outcome: "fail", code: "R01" },
    { outcome: "fail", code: "R02" },
    { outcome: "return", code: "R03", after: "P3D" },
    { outcome: "hold", after: "P2D" },
    { outcome: "hold" },
    { outcome: "settle" },
  ] as const);
  const match = { contactId: `vendor${dice.below(vendors)}` };
  await sandbox.control.outcome({ match, ...rule, times: 1 + dice.below(3) });
}

async function round(sandbox: TestSandbox, number: number): Promise<void> {
  const key = `storm-${number}`;
  const what = dice.below(20);
  if (what < 10) return payOne(sandbox, key);
  if (what < 12) return cancelOne(sandbox, key);
  if (what < 14)
    return send(sandbox, `/v1/payables/bill${dice.below(bills)}/retry-payment`, key, {});
  if (what < 16) return planOne(sandbox);
  await sandbox.control.advance(dice.pick(["PT3H", "P1D", "P4D"]));
}

it("after a storm of faults the ledger, payments, bills, balance and events agree", async ({
  sandbox,
}) => {
  for (let number = 0; number < rounds; number += 1) {
    await round(sandbox, number);
    if (number === 60) await sandbox.restart("SIGKILL");
    if (number === 170) await sandbox.restart("SIGTERM");
  }
  const payments = await all<Payment>(sandbox, "/v1/payments");
  expect(payments.length).toBeGreaterThan(40);
  await checkStory(sandbox);
  await sandbox.control.advance("P40D");
  await checkStory(sandbox);
});

async function checkStory(sandbox: TestSandbox): Promise<void> {
  const payments = await all<Payment>(sandbox, "/v1/payments");
  const ledger = await sandbox.control.ledger();
  expect(await sandbox.control.health()).toMatchObject({
    ok: true,
    bank: { refusals: [], queued: 0 },
  });
  const kindsByPayment = new Map<string, string[]>();
  for (const { paymentId, kind } of ledger) {
    kindsByPayment.set(paymentId ?? "", [...(kindsByPayment.get(paymentId ?? "") ?? []), kind]);
  }
  for (const payment of payments) {
    const kinds = (kindsByPayment.get(payment.id) ?? []).join(" ");
    expect(storiesOf(payment), `${payment.status} ${payment.failureReason}: ${kinds}`).toContain(
      kinds,
    );
  }
  checkBalance(payments, ledger, (await sandbox.api("GET", "/v1/balance")).body);
  await checkBills(sandbox, payments, netCreditByPayable(ledger));
  await checkEvents(sandbox, payments);
}

/** Returns the sequences of ledger entries that a payment of this status may have. */
function storiesOf({ status, failureReason }: Payment): string[] {
  switch (status) {
    case "pending":
    case "scheduled":
    case "cancelled":
      return [""];
    case "processing":
    case "refund_pending":
      return ["debit"];
    case "held":
      return ["", "debit"];
    case "refunded":
      return ["", "debit refund"];
    case "completed":
      return ["debit credit"];
    case "returned":
      return ["debit credit return refund"];
    default:
      if (failureReason?.startsWith("R01") === true) return ["debit return"];
      return failureReason?.startsWith("R02") === true ? ["debit credit return refund"] : [""];
  }
}

function checkBalance(
  payments: readonly Payment[],
  ledger: readonly { kind: string; paymentId: string | null; amountCents: number }[],
  balance: Json,
): void {
  const fromService = new Set(
    payments.filter(({ paymentRail }) => paymentRail === "SERVICE").map(({ id }) => id),
  );
  const credited = new Set(ledger.filter(({ kind }) => kind === "credit").map((e) => e.paymentId));
  let cashCents = startCents;
  for (const { kind, paymentId, amountCents } of ledger) {
    if (!fromService.has(paymentId ?? "")) continue;
    if (kind === "debit") cashCents -= amountCents;
    if (kind === "refund" || (kind === "return" && !credited.has(paymentId)))
      cashCents += amountCents;
  }
  expect(balance["cashCents"]).toBe(cashCents);
  expect(Number(balance["cashCents"]) - Number(balance["reservedCents"])).toBe(
    balance["availableCents"],
  );
  const processing = payments.filter(
    ({ id, status }) => fromService.has(id) && status === "processing",
  );
  const outCents = processing.reduce((sum, { amountCents }) => sum + amountCents, 0);
  expect(balance["pendingOutboundCents"]).toBe(outCents);
}

async function checkBills(
  sandbox: TestSandbox,
  payments: readonly Payment[],
  netCredit: ReadonlyMap<string, number>,
): Promise<void> {
  const moving = new Set(["pending", "scheduled", "processing", "held", "refund_pending"]);
  for (const bill of await all<Json & { id: string }>(sandbox, "/v1/payables")) {
    const own = payments.filter(({ payableId }) => payableId === bill.id);
    const sum = (holds: (payment: Payment) => boolean) =>
      own.filter(holds).reduce((cents, { amountCents }) => cents + amountCents, 0);
    const settledCents = sum(({ status }) => status === "completed");
    expect(bill["amountPaidCents"], bill.id).toBe(settledCents);
    expect(netCredit.get(bill.id) ?? 0, bill.id).toBe(settledCents);
    expect(settledCents + sum(({ status }) => moving.has(status)), bill.id).toBeLessThanOrEqual(
      Number(bill["totalAmountCents"]),
    );
  }
}

async function checkEvents(sandbox: TestSandbox, payments: readonly Payment[]): Promise<void> {
  const [endpoint] = sandbox.business.webhookEndpoints ?? [];
  const path = `/v1/webhook-endpoints/${endpoint?.id}/deliveries`;
  const deliveries = await all<{ requestBody: string }>(sandbox, path);
  const events = deliveries.map(
    ({ requestBody }) => JSON.parse(requestBody) as { type: string; sequence: string },
  );
  expect(new Set(events.map(({ sequence }) => sequence)).size).toBe(events.length);
  const told = (...types: string[]) => events.filter(({ type }) => types.includes(type)).length;
  const having = (...statuses: string[]) =>
    payments.filter(({ status }) => statuses.includes(status)).length;
  expect(told("payable.payment.failed")).toBe(having("failed"));
  expect(told("payable.payment.reversed")).toBe(having("returned"));
  expect(told("payable.paid", "payable.payment.partially_paid")).toBe(
    having("completed", "returned"),
  );
}
