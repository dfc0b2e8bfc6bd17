import { expect } from "vitest";
import { makeDeposits } from "../../../activities/deposit/make-deposit.ts";
import type { PayRunPlaybook } from "../../../src/contracts/playbook.ts";
import { takeTopUpDecision } from "../../../src/decisions/take-top-up.ts";
import { bankCsv, bankDaysCsv } from "../../../src/reports/bank-csv.ts";
import type { PaymentsClient } from "../../../src/payments-api/index.ts";
import { getRun, type Run } from "../../../src/store/runs/runs.ts";
import { topUpsOf } from "../../../src/store/deposits/deposits.ts";
import { nextQuietMonday } from "../../support/quiet-monday.ts";
import { type MoneyWorld, test } from "../money-world.ts";
import { POLICY } from "../planning-world.ts";

test.beforeEach(async ({ world }) => {
  await world.control.setClock(nextQuietMonday());
  world.achAuthorization = { acceptedBy: "A. Owner", acceptedAt: "2026-01-05" };
});

async function settle(world: MoneyWorld, runId: string): Promise<void> {
  await world.pay(runId);
  await world.control.advance("P9D");
  await world.follow(runId);
  await world.follow(runId);
}

function readerOf(world: MoneyWorld, client: PaymentsClient = world.context().clientOf("acme")) {
  const { profile } = world.world;
  const profiles = { byBusinessId: () => profile, get: () => profile, all: () => [profile] };
  return { store: world.store, profiles, clientOf: () => client };
}

async function runOf(world: MoneyWorld, runId: string): Promise<Run> {
  const run = await getRun(world.store.db, runId);
  if (run === undefined) throw new Error("no run");
  return run;
}

async function bankTable(
  world: MoneyWorld,
  runId: string,
  client: PaymentsClient = world.context().clientOf("acme"),
): Promise<string> {
  let table = "";
  for await (const part of await bankCsv(readerOf(world, client), await runOf(world, runId)))
    table += part;
  return table;
}

/** Pays from the balance, which a deposit approved by an owner tops up. */
const FROM_BALANCE: Partial<PayRunPlaybook> = {
  pay: {
    ...POLICY.pay,
    from: "balance",
    topUp: {
      from: "default",
      by: ["owner"],
      quorum: 1,
      atMostCents: 5_000_000,
      arrivalBusinessDays: null,
    },
  },
  late: "next-business-day",
};

/** Creates a run of two bills of $100 each, with half of the money in the balance. */
async function shortRun(world: MoneyWorld): Promise<string> {
  await world.control.changeBusiness({ balanceCents: 10_000 });
  return (await world.approvedRun([{}, {}], FROM_BALANCE)).runId;
}

async function depositFor(world: MoneyWorld, runId: string): Promise<string> {
  const run = await runOf(world, runId);
  const { hash = "" } = (await topUpsOf(world.store.db, runId)).at(-1) ?? {};
  const clock = await world.context().clockOf("acme").now();
  const principal = {
    tokenId: "t",
    name: "olga",
    roles: ["owner"],
    createdBy: "x",
    createdAtMs: 0,
  };
  const request = { decision: "approve", planHash: run.planHash ?? "", drop: [] } as const;
  const deciding = { run, request, principal, clock, nowMs: Date.now() };
  const about = { owner: runId, hash };
  await world.store.transaction((trx) => takeTopUpDecision(trx, deciding, about));
  await world.pay(runId);
  await makeDeposits(world.context(), { owner: runId, by: "test" });
  return (await topUpsOf(world.store.db, runId)).at(-1)?.transactionId ?? "";
}

async function arrive(world: MoneyWorld, runId: string): Promise<void> {
  await world.control.advance("P5D");
  await makeDeposits(world.context(), { owner: runId, by: "test" });
}

/** Returns the bank ledger's net cents by `account day`, for both accounts. */
async function netByDay(world: MoneyWorld): Promise<Map<string, number>> {
  const sums = new Map<string, number>();
  const ledger = await world.control.ledger();
  const add = (account: string, at: string, cents: number) => {
    const day = new Intl.DateTimeFormat("sv", { timeZone: "America/New_York" });
    const key = `${account} ${day.format(new Date(at))}`;
    sums.set(key, (sums.get(key) ?? 0) + cents);
  };
  const credited = new Set(
    ledger.flatMap(({ kind, transactionId }) => (kind === "credit" ? transactionId : [])),
  );
  for (const { kind, at, amountCents, paymentId, transactionId } of ledger) {
    if (paymentId !== null) {
      if (kind === "debit") add("balance", at, -amountCents);
      continue;
    }
    const hadArrived = credited.has(transactionId);
    if (kind === "debit") add("bank_main", at, -amountCents);
    if (kind === "credit") add("balance", at, amountCents);
    if (kind === "refund" || (kind === "return" && !hadArrived)) add("bank_main", at, amountCents);
    if (kind === "return" && hadArrived) add("balance", at, -amountCents);
  }
  return sums;
}

test("a deposit is on both statements, and each account's days match the bank's ledger", async ({
  world,
}) => {
  const runId = await shortRun(world);
  const bounce = { match: { bankAccountId: "bank_main" }, outcome: "fail", code: "R01", times: 1 };
  await world.control.outcome(bounce as Parameters<typeof world.control.outcome>[0]);
  const bounced = await depositFor(world, runId);
  await arrive(world, runId);
  await world.follow(runId);
  await world.pay(runId);
  const arrived = await depositFor(world, runId);
  expect(await bankTable(world, runId)).toMatch(
    new RegExp(
      `,debit,100\\.00,,,.*on its way\\),bank_main,-100\\.00,deposit,${arrived},on-its-way`,
    ),
  );
  await arrive(world, runId);
  await settle(world, runId);
  await world.control.outcome({
    match: { transactionId: arrived },
    outcome: "return",
    code: "R10",
    times: 1,
  } as Parameters<typeof world.control.outcome>[0]);
  await world.control.changeBusiness({ balanceCents: 50_000 });
  await world.control.advance("P3D");

  const table = await bankTable(world, runId);
  const rows = table.trim().split("\r\n").slice(1);
  const of = (id: string) =>
    rows.filter((row) => row.split(",").includes(id)).map((row) => row.split(",")[1]);
  expect(of(bounced)).toEqual(["debit", "return"]);
  expect(new Set(of(arrived))).toEqual(new Set(["debit", "deposit", "deposit-returned", "return"]));
  const days = (await bankDaysCsv(readerOf(world), await runOf(world, runId))).trim().split("\r\n");
  expect(days[0]).toBe("account,source,date,debits,debit_usd,credits,credit_usd,net_usd");
  const shown = days.slice(1).map((day) => {
    const cells = day.split(",");
    return [`${cells[0]} ${cells[2]}`, Math.round(Number(cells.at(-1)) * 100)] as const;
  });
  expect(new Map(shown)).toEqual(await netByDay(world));
});

test("if the service says nothing of a deposit, the table shows what Payrun knows of it", async ({
  world,
}) => {
  const runId = await shortRun(world);
  const transactionId = await depositFor(world, runId);
  const client = world.context().clientOf("acme");
  const listAll = () => Promise.resolve([{ id: transactionId }]);
  const silent = { payments: client.payments, balance: { transactions: { listAll } } };
  const row = new RegExp(
    `debit,100\\.00,.*,bank_main,-100\\.00,deposit,${transactionId},on-its-way`,
  );
  expect(await bankTable(world, runId, silent as unknown as PaymentsClient)).toMatch(row);
  const refusing = { listAll: () => Promise.reject(new Error("no")) };
  const closed = { payments: client.payments, balance: { transactions: refusing } };
  await expect(bankTable(world, runId, closed as unknown as PaymentsClient)).rejects.toThrow(
    "The deposits can't be read: no",
  );
});
