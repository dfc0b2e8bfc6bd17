import { expect } from "vitest";
import { PeriodReportBody, type PeriodReport } from "../../../src/api/period-report.ts";
import { bankCsv } from "../../../src/reports/bank-csv.ts";
import { periodCsv, periodReport } from "../../../src/reports/period-report.ts";
import { getRun } from "../../../src/store/runs/runs.ts";
import { inDays } from "../planning-world.ts";
import { test } from "../vendors-scene.ts";
import type { MoneyWorld } from "../money-world.ts";

function reader(world: MoneyWorld) {
  const { profile } = world.world;
  const client = world.context().clientOf("acme");
  const profiles = { byBusinessId: () => profile, get: () => profile, all: () => [profile] };
  return { store: world.store, profiles, clientOf: () => client };
}

async function reported(world: MoneyWorld, from: string, to: string): Promise<PeriodReport> {
  const report = await periodReport(reader(world), world.world.profile, { from, to });
  return PeriodReportBody.parse(report);
}

async function csv(world: MoneyWorld, from: string, to: string): Promise<string[][]> {
  const table = await periodCsv(reader(world), world.world.profile, { from, to });
  return table
    .trim()
    .split("\r\n")
    .slice(1)
    .map((row) => row.split(","));
}

/** Returns the date and the cents of each row of these runs' bank tables. */
async function bankRows(
  world: MoneyWorld,
  runIds: readonly string[],
): Promise<{ date: string; cents: number }[]> {
  const rows = [];
  for (const runId of runIds) {
    const run = await getRun(world.store.db, runId);
    if (run === undefined) throw new Error("no run");
    let table = "";
    for await (const part of await bankCsv(reader(world), run)) table += part;
    for (const row of table.trim().split("\r\n").slice(1)) {
      const [date = "", , debit = "", credit = ""] = row.split(",");
      rows.push({ date, cents: Math.round((Number(credit) - Number(debit)) * 100) });
    }
  }
  return rows;
}

const sum = (numbers: readonly number[]) => numbers.reduce((all, one) => all + one, 0);

test("a period report's sums match the bank tables and the store, by vendor, account and day", async ({
  scene,
  world,
}) => {
  const { runId, payableIds } = await world.approvedRun([
    { totalAmountCents: 12_345 },
    { contactId: "v2", totalAmountCents: 25_000_000 },
    { contactId: "v2", totalAmountCents: 700 },
    { contactId: "v3", totalAmountCents: 88_01 },
  ]);
  const [, , , refused = ""] = payableIds;
  await world.control.outcome({ match: { payableId: refused }, outcome: "fail", code: "R02" });
  await scene.settle(runId);
  const part = await world.plannedRun([{ totalAmountCents: 90_000 }], {}, 33_33);
  await world.approve(part.runId);
  await scene.settle(part.runId);

  const [from, to] = [inDays(0), inDays(60)];
  const report = await reported(world, from, to);
  const rows = await bankRows(world, [runId, part.runId]);
  expect(report.payments.netCents).toBe(sum(rows.map(({ cents }) => cents)));
  for (const list of [report.vendors, report.accounts, report.days]) {
    expect(sum(list.map(({ netCents }) => netCents))).toBe(report.payments.netCents);
    expect(sum(list.map(({ debits, credits }) => debits + credits))).toBe(rows.length);
  }
  expect(report.vendors).toMatchObject([
    { vendor: "Two", bills: 2, netCents: -25_000_700, settledCents: 25_000_700 },
    { vendor: "=One & Sons", bills: 2, netCents: -15_678, settledCents: 15_678 },
    { vendor: "Three", bills: 1, debitCents: 8_801, creditCents: 8_801, settledCents: 0 },
  ]);
  const stored = await world.store.db
    .selectFrom("run_lines")
    .select("amount_cents")
    .where("state", "=", "settled")
    .execute();
  expect(sum(report.vendors.map(({ settledCents }) => settledCents))).toBe(
    sum(stored.map((row) => row.amount_cents)),
  );
  const table = await csv(world, from, to);
  expect(Math.round(sum(table.map((row) => Number(row.at(-1)))) * 100)).toBe(
    report.payments.netCents,
  );
  expect(table.map((row) => row[5])).toContain("'=One & Sons");
});

test("a period report counts each payment exactly on its statement's day", async ({
  scene,
  world,
}) => {
  const { runId } = await world.approvedRun([{}, { contactId: "v2" }]);
  await scene.settle(runId);
  const date = (await bankRows(world, [runId]))[0]?.date ?? "";
  const dayBefore = new Date(Date.parse(date) - 86_400_000).toISOString().slice(0, 10);
  const dayAfter = new Date(Date.parse(date) + 86_400_000).toISOString().slice(0, 10);
  expect((await reported(world, date, date)).payments).toMatchObject({
    debits: 2,
    netCents: -20_000,
  });
  expect((await reported(world, "2020-01-01", dayBefore)).payments.debits).toBe(0);
  expect((await reported(world, dayAfter, "2100-01-01")).payments.debits).toBe(0);
  expect((await reported(world, date, date)).days).toMatchObject([{ date, debits: 2 }]);
});

test("a period report counts returned money in the period of its return", async ({ world }) => {
  const { runId, payableId } = await world.approvedRun([{}]);
  const late = { outcome: "return", code: "R10", after: "P58D" } as const;
  await world.control.outcome({ match: { payableId }, ...late });
  await world.pay(runId);
  await world.control.advance("P9D");
  await world.follow(runId);
  await world.control.advance("P70D");
  await world.follow(runId);
  const back = (await bankRows(world, [runId])).find(({ cents }) => cents > 0);
  if (back === undefined) throw new Error("nothing came back");
  const report = await reported(world, back.date, back.date);
  expect(report.payments).toMatchObject({ debits: 0, credits: 1, creditCents: 10_000 });
});

test("a period report of days without movements says so", async ({ world }) => {
  expect(await reported(world, "2020-01-01", "2020-01-31")).toMatchObject({
    ...{ business: "acme", from: "2020-01-01", to: "2020-01-31" },
    payments: { debits: 0, netCents: 0 },
    ...{ vendors: [], accounts: [], days: [] },
  });
});
