import { afterAll, expect, test } from "vitest";
import type { ActionContext } from "../../../src/actions/context.ts";
import type { PayableHistory } from "../../../src/api/history.ts";
import type { RunStatus, StateSums } from "../../../src/api/runs.ts";
import { runLines } from "../../../src/cli/show/run.ts";
import type { LineState } from "../../../src/contracts/line-states.ts";
import { newYorkDate } from "../../../src/domain/clock/new-york.ts";
import { isException } from "../../../src/domain/runs/exceptions.ts";
import { bankCsv } from "../../../src/reports/bank-csv.ts";
import { periodReport } from "../../../src/reports/period-report.ts";
import { reportCsv, reportOf } from "../../../src/reports/report.ts";
import { FIRST_PAGE, statusOf } from "../../../src/reports/status/run.ts";
import { topUpsOf } from "../../../src/store/deposits/deposits.ts";
import { entriesOfPayer, netCreditByPayable } from "../../support/sandbox.ts";
import { explainIn } from "../explain.ts";
import { type Bill, type FullRun, goOn, NAMES, startFullRun, theRun } from "./full-run.ts";

let scene: FullRun;
afterAll(() => scene.stop());

/** What the verdict on a bill says for each state of its line in the run. */
const VERDICTS: Partial<Record<LineState, PayableHistory["paidOnce"]["verdict"]>> = {
  settled: "paid-once",
  scheduled: "on-its-way",
  held: "on-its-way",
  unknown: "unknown",
};

/** Payments in these states have left the balance, and have not come back. */
const GONE = ["processing", "completed"];

function reader() {
  const { money } = scene;
  const { profile } = money.world;
  return {
    store: money.store,
    profiles: { byBusinessId: () => profile, get: () => profile, all: () => [profile] },
    clientOf: () => money.world.context().clientOf("acme"),
    clocks: { read: () => money.context().clockOf("acme").now() } as unknown as Clocks,
  };
}
type Clocks = ActionContext["clocks"];

/** Returns the rows of a table, each by column name. */
function rowsOf(table: string): Record<string, string>[] {
  const [head = [], ...rows] = table
    .trim()
    .split("\r\n")
    .map((line) =>
      [...line.matchAll(/("(?:[^"]|"")*"|[^,]*)(?:,|$)/g)].map(([, cell = ""]) =>
        cell.replace(/^"(.*)"$/, "$1"),
      ),
    );
  return rows.map((cells) =>
    Object.fromEntries(head.map((name, index) => [name, cells[index] ?? ""])),
  );
}

async function textOf(parts: AsyncIterable<string>): Promise<string> {
  let text = "";
  for await (const part of parts) text += part;
  return text;
}

const sum = (numbers: readonly number[]) => numbers.reduce((all, one) => all + one, 0);

/** Returns the table of states from the text that Temporal shows of the run. */
function statesIn(details: string): StateSums {
  const rows = [
    ...details.matchAll(/^\| ([a-z-]+) \| (\d+)(?: and part of (\d+))? \| \$([\d,.]+) \|$/gm),
  ];
  return Object.fromEntries(
    rows.map(([, state = "", count, parts, dollars = ""]) => [
      state,
      {
        count: Number(count),
        cents: Math.round(Number(dollars.replaceAll(",", "")) * 100),
        ...(parts === undefined ? {} : { parts: Number(parts) }),
      },
    ]),
  );
}

/**
 * Sums lines by state. The settled part of a bill counts as settled, whatever state the rest is in.
 */
function sumsByState(lines: RunStatus["payments"]): StateSums {
  const sums: Record<string, { count: number; cents: number; parts?: number }> = {};
  for (const { state, amountCents, parts } of lines) {
    const own = (sums[state] ??= { count: 0, cents: 0 });
    own.count += 1;
    own.cents += amountCents - (parts?.settledCents ?? 0);
    if (parts === undefined) continue;
    const settled = (sums["settled"] ??= { count: 0, cents: 0 });
    settled.cents += parts.settledCents;
    settled.parts = (settled.parts ?? 0) + 1;
  }
  return sums;
}

async function views() {
  const { money, runId, ids } = scene;
  const { details } = await money.assess(runId);
  const status = await statusOf(reader(), runId, FIRST_PAGE);
  if (status === undefined) throw new Error("no status");
  const explained = new Map<string, PayableHistory>();
  for (const name of NAMES) {
    explained.set(ids[name], (await explainIn(money, ids[name])).history);
  }
  const run = await theRun();
  return {
    ...{ details, status, explained },
    lines: status.payments.filter(({ state }) => state !== "skipped"),
    skipped: status.payments.filter(({ state }) => state === "skipped"),
    report: await reportOf(reader(), run),
    csv: rowsOf(await textOf(reportCsv(reader(), run))),
    bank: rowsOf(await textOf(await bankCsv(reader(), run))),
  };
}

type Views = Awaited<ReturnType<typeof views>>;

/** Checks that all views of the run agree at one moment; returns the states that they show. */
async function agree(): Promise<ReadonlySet<LineState>> {
  const { money, ids } = scene;
  const seen = await views();
  const { details, status, explained, lines, skipped, report, csv } = seen;

  const states = new Map(lines.map(({ payableId, state }) => [payableId, state]));
  expect(new Map(csv.map((row) => [row["payable_id"], row["state"]]))).toEqual(states);
  for (const { payableId, state, reason, publicId, parts } of lines) {
    const history = explained.get(payableId);
    const said = csv.find((row) => row["payable_id"] === payableId)?.["reason"];
    expect({ state: history?.state, reason: history?.reason }, publicId ?? "").toEqual({
      ...{ state, reason },
    });
    expect(said).toBe((reason ?? "").replaceAll('"', '""'));
    const verdict = parts === undefined ? (VERDICTS[state] ?? "not-paid") : "partly-paid";
    expect(history?.paidOnce.verdict, publicId ?? "").toBe(verdict);
    const completed = (history?.payments ?? []).filter(({ status: is }) => is === "completed");
    if (history?.state !== "paid-elsewhere") {
      const settled = sum(completed.map(({ amountCents }) => amountCents));
      expect(parts?.settledCents ?? (state === "settled" ? settled : 0)).toBe(settled);
    }
  }
  for (const { payableId, reason } of skipped) {
    expect(explained.get(payableId)).toMatchObject({ state: null, leftOut: { text: reason } });
  }

  const byState = sumsByState(lines);
  expect(status.byState).toEqual(byState);
  expect(report.byState).toEqual(byState);
  expect(statesIn(details)).toEqual(byState);
  expect(report.waitingFor).toBe(status.waitingFor);
  expect(report.totalCents).toBe(status.totalCents);
  expect(report.skipped.count).toBe(skipped.length);

  const exceptions = lines.filter(isException).map(({ payableId, reason }) => [payableId, reason]);
  expect(report.exceptions.map(({ payableId, reason }) => [payableId, reason])).toEqual(exceptions);
  expect(report.exceptionCount).toBe(exceptions.length);
  const named = [...details.matchAll(/`payrun explain (\S+)`/g)].map(([, id]) => id);
  expect(named).toEqual(exceptions.map(([payableId]) => payableId));
  const shown = runLines(status).join("\n");
  for (const { publicId, contactName, payableId, reason } of lines.filter(isException)) {
    expect(shown).toMatch(new RegExp(`${publicId} .*${escaped(reason ?? "")}`));
    const [inTemporal = ""] = new RegExp(`^- .*explain ${payableId}`, "m").exec(details) ?? [];
    for (const name of [publicId, contactName]) expect(inTemporal).toContain(name);
  }

  await agreeWithBank(seen);

  const credited = netCreditByPayable(await money.control.ledger());
  for (const { payableId, amountCents } of lines) {
    const { verdict } = explained.get(payableId)?.paidOnce ?? {};
    const ours = [ids.elsewhere, ids.lost].includes(payableId) ? undefined : verdict;
    if (ours === "paid-once") expect(credited.get(payableId)).toBe(amountCents);
    if (ours === "not-paid") expect(credited.get(payableId) ?? 0).toBe(0);
  }
  return new Set(states.values());
}

/** Checks that the bank's table and its summaries match the bank's ledger, day by day. */
async function agreeWithBank({ explained, lines, report, bank }: Views): Promise<void> {
  const { money } = scene;
  const moved = (rows: typeof bank) =>
    sum(rows.map((row) => Math.round(Number(row["amount_usd"]) * 100)));
  const ofPayments = bank.filter((row) => row["kind"] === "payment");
  for (const { payableId } of lines) {
    const gone = explained.get(payableId)?.payments.filter(({ status: is }) => GONE.includes(is));
    expect(moved(bank.filter((row) => row["payable_ids"] === payableId))).toBe(
      0 - sum((gone ?? []).map(({ amountCents }) => amountCents)),
    );
  }
  const completed = moved(ofPayments.filter((row) => row["status"] === "completed"));
  expect(report.settledCents).toBe(0 - completed);
  expect(report.settledCents).toBe(report.byState.settled?.cents ?? 0);
  const days = { from: "2020-01-01", to: "2100-01-01" };
  const period = await periodReport(reader(), money.world.profile, days);
  expect(period.payments.netCents).toBe(moved(ofPayments));
  expect(period.deposits.netCents).toBe(moved(bank.filter((row) => row["kind"] === "deposit")));

  const paid = new Set(
    [...explained.values()].flatMap(({ payments }) => payments.map(({ id }) => id)),
  );
  const ofBank = entriesOfPayer(await money.control.ledger())
    .filter(({ paymentId }) => paid.has(paymentId ?? ""))
    .map(({ at, paymentId, kind, amountCents }) => {
      const cents = kind === "debit" ? -amountCents : amountCents;
      return `${newYorkDate(Date.parse(at))} ${paymentId} ${(cents / 100).toFixed(2)}`;
    });
  const told = ofPayments.map((row) => `${row["date"]} ${row["payment_ids"]} ${row["amount_usd"]}`);
  expect(told.toSorted()).toEqual(ofBank.toSorted());
}

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
}

test("status, report, explain, the bank's table and Temporal's details agree about every kind of bill", async () => {
  scene = await startFullRun();
  expect(await agree()).toEqual(
    new Set<LineState>([
      ...(["scheduled", "on-hold", "cancelled", "unknown", "paid-elsewhere"] as const),
      ...(["awaiting-approval", "planned"] as const),
    ]),
  );
  await goOn();
  expect(await agree()).toEqual(
    new Set<LineState>([
      ...(["settled", "scheduled", "held", "on-hold", "unknown", "parked", "cancelled"] as const),
      ...(["refunded", "given-up", "paid-elsewhere", "awaiting-approval"] as const),
    ]),
  );
  expect(await waysOf(["again", "returned", "split", "half", "plain"])).toEqual([
    "paid-again",
    "returned-late",
    "paid-in-parts",
    "partly-paid",
    "paid",
  ]);
  expect(await topUpsOf(scene.money.store.db, scene.runId)).toMatchObject([{ state: "completed" }]);
}, 120_000);

async function waysOf(names: readonly Bill[]): Promise<string[]> {
  const ways = [];
  for (const name of names)
    ways.push((await explainIn(scene.money, scene.ids[name])).history.paidOnce.way);
  return ways;
}
