import { expect } from "vitest";
import { bankCsv } from "../../../src/reports/bank-csv.ts";
import type { PaymentsClient } from "../../../src/payments-api/index.ts";
import { getRun } from "../../../src/store/runs/runs.ts";
import { NEXT_DAY_RETRIES } from "../../support/next-day-retries.ts";
import { entriesOfPayer } from "../../support/sandbox.ts";
import { test } from "../vendors-scene.ts";
import type { MoneyWorld } from "../money-world.ts";

async function bankTable(
  world: MoneyWorld,
  runId: string,
  client: PaymentsClient = world.context().clientOf("acme"),
): Promise<string> {
  const run = await getRun(world.store.db, runId);
  if (run === undefined) throw new Error("no run");
  const { profile } = world.world;
  const profiles = { byBusinessId: () => profile, get: () => profile, all: () => [profile] };
  const clientOf = () => client;
  let table = "";
  for await (const part of await bankCsv({ store: world.store, profiles, clientOf }, run)) {
    table += part;
  }
  return table;
}

/** Returns the payer's statement by the bank's ledger: `PAYMENT debit|credit DOLLARS`. */
async function statement(world: MoneyWorld): Promise<string[]> {
  return entriesOfPayer(await world.control.ledger())
    .map(({ kind, paymentId, amountCents }) => {
      const side = kind === "debit" ? "debit" : "credit";
      return `${paymentId} ${side} ${(amountCents / 100).toFixed(2)}`;
    })
    .toSorted();
}

test("the bank table matches the bank's ledger to the cent, and has no cell that a spreadsheet runs", async ({
  scene,
  world,
}) => {
  await world.failurePlaybook(NEXT_DAY_RETRIES);
  const { runId, payableIds } = await world.approvedRun([
    { totalAmountCents: 12_345, description: "@SUM(A1:A9)" },
    { totalAmountCents: 25_000_000 },
    { contactId: "v2", totalAmountCents: 700 },
    { totalAmountCents: 4_321 },
    { contactId: "v3", totalAmountCents: 88_01 },
  ]);
  const [, , returned = "", retried = "", refused = ""] = payableIds;
  const fail = (payableId: string, outcome: "fail" | "return", code: string) =>
    world.control.outcome({ match: { payableId }, outcome, code, times: 1 });
  await fail(returned, "return", "R03");
  await fail(retried, "fail", "R01");
  await fail(refused, "fail", "R02");
  await world.pay(runId);
  await world.control.advance("P9D");
  await world.follow(runId);
  await world.follow(runId);
  for (const payableId of [retried, refused]) await world.look(payableId);
  await world.control.advance("P4D");
  expect((await world.look(retried)).phase).toBe("pay");
  await world.retry(retried);
  await world.control.advance("P9D");
  expect((await world.look(retried)).phase).toBe("ended");
  const part = await world.plannedRun([{ totalAmountCents: 90_000 }], {}, 33_33);
  await world.approve(part.runId);
  await scene.settle(part.runId);

  const tables = [await bankTable(world, runId), await bankTable(world, part.runId)];
  const rows = tables.flatMap((table) => table.trim().split("\r\n").slice(1));
  const written = rows.map((row) => {
    const [, entry, debit, credit, paymentId] = row.split(",");
    return `${paymentId} ${entry === "debit" ? `debit ${debit}` : `credit ${credit}`}`;
  });
  expect(written.toSorted()).toEqual(await statement(world));
  expect(written.filter((row) => row.endsWith("debit 43.21"))).toHaveLength(2);
  // The bill has settled by its second payment; the rows of its first one say that it failed.
  const states = rows.filter((row) => row.includes(",43.21,")).map((row) => row.split(",").at(-1));
  expect(states).toHaveLength(3);
  expect(states.filter((state) => state === "failed")).toHaveLength(2);
  expect(states).toContain("settled");
  expect(written.filter((row) => row.endsWith("debit 33.33"))).toHaveLength(1);
  expect(written.filter((row) => row.includes(" credit "))).toHaveLength(3);
  expect(tables[0]).toContain(",'=One & Sons,");
  expect(tables[0]).toContain(",'@SUM(A1:A9),");
});

test("the bank table reads payments that the service's list omits one by one, or fails", async ({
  scene,
  world,
}) => {
  const { runId } = await world.approvedRun([{ totalAmountCents: 55_55 }]);
  await scene.settle(runId);
  const whole = await bankTable(world, runId);
  expect(whole).toContain(",debit,55.55,");
  const { payments } = world.context().clientOf("acme");
  const listAll = () => Promise.resolve([]);
  const lagging = { payments: { listAll, get: payments.get.bind(payments) } };
  expect(await bankTable(world, runId, lagging as unknown as PaymentsClient)).toBe(whole);
  const get = () => Promise.reject(new Error("not found"));
  const forgetful = { payments: { listAll, get } } as unknown as PaymentsClient;
  await expect(bankTable(world, runId, forgetful)).rejects.toThrow(/lists no payment/);
});
