import { afterAll, beforeAll, expect, test } from "vitest";
import { randomUUID } from "node:crypto";
import { makeDeposits } from "../../../activities/deposit/make-deposit.ts";
import { followRefunds } from "../../../activities/cancel/follow-refunds.ts";
import type { ActionContext } from "../../../src/actions/context.ts";
import type { Principal } from "../../../src/actions/principal.ts";
import { resolve } from "../../../src/actions/resolve.ts";
import type { LineState, PlanLine } from "../../../src/contracts/pay-run.ts";
import type { PayableHistory } from "../../../src/api/history.ts";
import { takeTopUpDecision } from "../../../src/decisions/take-top-up.ts";
import { bankCsv } from "../../../src/reports/bank-csv.ts";
import { periodReport } from "../../../src/reports/period-report.ts";
import { reportCsv, reportOf } from "../../../src/reports/report.ts";
import type { StateSums } from "../../../src/api/runs.ts";
import { runLines } from "../../../src/cli/show/run.ts";
import { isException } from "../../../src/domain/runs/exceptions.ts";
import { FIRST_PAGE, statusOf } from "../../../src/reports/status/run.ts";
import { recordDecision } from "../../../src/store/approvals/decisions.ts";
import { topUpsOf } from "../../../src/store/deposits/deposits.ts";
import { createHold } from "../../../src/store/holds/holds.ts";
import { getPlanLines } from "../../../src/store/lines/plan-lines.ts";
import { getRun, type Run } from "../../../src/store/runs/runs.ts";
import { netCreditByPayable } from "../../support/sandbox.ts";
import { CancelWorld } from "../cancel-world.ts";
import { withTopUp } from "../deposit-scene.ts";
import { explainIn } from "../explain.ts";
import type { MoneyWorld } from "../money-world.ts";
import { inDays } from "../planning-world.ts";

const DAY_MS = 86_400_000;

/** What becomes of each bill, its amount and how its run was made to see that. */
const BILLS = {
  plain: 10_001,
  split: 25_000_000,
  again: 10_003,
  refused: 10_004,
  kept: 10_005,
  dropped: 10_006,
  draft: 10_007,
  cancelled: 10_008,
  lost: 10_009,
  reviewed: 10_010,
  elsewhere: 10_011,
  returned: 10_012,
  writtenOff: 10_013,
  refunded: 10_014,
  unapproved: 10_015,
  late: 10_016,
} as const;
type Bill = keyof typeof BILLS;
const NAMES = Object.keys(BILLS) as Bill[];

let cancels: CancelWorld;
let money: MoneyWorld;
let runId: string;
let ids: Record<Bill, string>;

beforeAll(async () => {
  cancels = await CancelWorld.start();
  money = cancels.money;
});
afterAll(() => cancels.stop());

/** One run in which each bill goes a way of its own. */
async function begin(): Promise<void> {
  await money.world.reset();
  money.override = {};
  money.achAuthorization = { acceptedBy: "A. Owner", acceptedAt: "2026-01-05" };
  const planned = await money.plannedRun(
    NAMES.map((name) => ({
      totalAmountCents: BILLS[name],
      ...(name === "draft" ? { status: "draft" } : {}),
      // Last in the plan: what the balance lacks is missing for it.
      ...(name === "late" ? { dueDate: inDays(12) } : {}),
    })),
    withTopUp(),
  );
  ({ runId } = planned);
  ids = Object.fromEntries(
    NAMES.map((name, index) => [name, planned.payableIds[index] ?? ""]),
  ) as Record<Bill, string>;
  await outcome("again", { outcome: "fail", code: "R01", times: 1 });
  await outcome("refused", { outcome: "fail", code: "R02" });
  await outcome("writtenOff", { outcome: "fail", code: "R02" });
  await outcome("reviewed", { outcome: "hold" });
  await outcome("refunded", { outcome: "hold" });
  await outcome("returned", { outcome: "return", code: "R03" });
  await approveMost();
  await keep();
  await payElsewhere();
  await payAll();
  await topUp();
}

/** Weeks go by, and people act. */
async function goOn(): Promise<void> {
  await cancel("cancelled");
  await days(10);
  await makeDeposits(money.context(), { owner: runId, by: "test/1" });
  const refunding = await cancel("refunded");
  await days(6);
  await followRefunds(money.context(), refunding);
  await money.follow(runId);
  await retryFailed();
  await giveUp();
  await payAll();
}

/** Business days pass, and the run follows what was sent. */
async function days(count: number): Promise<void> {
  for (let day = 0; day < count; day += 1) {
    await money.control.advance("P1D");
    await money.follow(runId);
  }
}

async function cancel(name: Bill): Promise<string> {
  const [payment] = await money.paymentsOf(ids[name]);
  const id = await cancels.ask({ payments: [payment?.id ?? ""] });
  await cancels.turns(id, 3);
  await money.follow(runId);
  return id;
}

/** One goes through at the second time; the others wait for a person. */
async function retryFailed(): Promise<void> {
  for (let day = 0; (await money.line(runId, ids.again)).state !== "settled"; day += 3) {
    for (const name of ["again", "refused", "writtenOff", "returned"] as const) {
      const { phase } = await money.look(ids[name]);
      if (phase === "pay") await money.retry(ids[name]);
    }
    await days(3);
    if (day > 60) throw new Error("it was never settled");
  }
}

async function giveUp(): Promise<void> {
  const { profile } = money.world;
  const context = {
    store: money.store,
    nowMs: Date.now,
    clocks: { read: () => money.context().clockOf("acme").now() },
  } as unknown as ActionContext;
  const by = { tokenId: "tok_cora", name: "cora", roles: ["operator"] };
  const request = { payableId: ids.writtenOff, action: "give-up", reason: "Disputed" } as const;
  await resolve(context, profile, request, by as unknown as Principal);
}

/** The deposit that the last bill waits for is approved and made. */
async function topUp(): Promise<void> {
  // What it is for has changed since it was proposed: an approval is of what is asked for now.
  await makeDeposits(money.context(), { owner: runId, by: "test/0" });
  const [{ hash } = { hash: "" }] = await topUpsOf(money.store.db, runId);
  const run = await theRun();
  const clock = await money.context().clockOf("acme").now();
  const principal = { tokenId: "tok_olga", name: "olga", roles: ["owner"] };
  const request = { decision: "approve", planHash: run.planHash ?? "", drop: [] } as const;
  const deciding = { run, request, principal, clock, nowMs: Date.now() };
  await money.store.transaction((trx) => takeTopUpDecision(trx, deciding, { owner: runId, hash }));
  await makeDeposits(money.context(), { owner: runId, by: "test/1" });
}

const outcome = (
  name: Bill,
  rule: { outcome: "fail" | "return" | "hold"; code?: string; times?: number },
) => money.control.outcome({ match: { payableId: ids[name] }, ...rule });

/** Olga leaves one bill out and approves all others but one. */
async function approveMost(): Promise<void> {
  const { store } = money;
  const { businessMs } = await money.context().clockOf("acme").now();
  const run = await theRun();
  const plans = (await getPlanLines(store.db, runId)).map(({ plan }) => plan);
  await store.transaction((trx) =>
    recordDecision(trx, {
      ...{ runId, planHash: run.planHash ?? "", decision: "approve", principal: "olga" },
      ...{ tokenId: "tok_olga", roles: ["owner"], dropped: [ids.dropped], comment: null },
      ...{ decidedAtMs: Date.now(), expiresAtMs: Math.round(businessMs + 60 * DAY_MS) },
      ...{ outcome: "accepted", reason: null },
      approves: plans.filter(isApproved),
    }),
  );
}

function isApproved({ payableId }: PlanLine): boolean {
  return payableId !== ids.dropped && payableId !== ids.unapproved;
}

async function keep(): Promise<void> {
  const { store, businessId } = money;
  await store.transaction((trx) =>
    createHold(trx, {
      ...{ businessId, scope: "payable", value: ids.kept, reason: "Check the invoice" },
      ...{ author: "cora", nowMs: Date.now() },
    }),
  );
}

async function payElsewhere(): Promise<void> {
  const source = { paymentRail: "SERVICE", fundingSource: "balance" } as const;
  const { payments } = money.context().clientOf("acme");
  await money.control.changeBusiness({ balanceCents: 25_000_000 + 11 * 10_010 + 5_000 });
  const payableId = ids.elsewhere;
  await payments.create({ payableId, ...source }, { idempotencyKey: randomUUID() });
}

/** Pays; the answer about one bill is lost, and none of its payments are shown. */
async function payAll(): Promise<void> {
  const client = money.world.context().clientOf("acme");
  money.override = {
    sendMoneyWrite: async (request) => {
      const answer = await client.sendMoneyWrite(request);
      if (!JSON.stringify(request).includes(ids.lost)) return answer;
      return { kind: "no-answer", sent: true, code: "no_answer", reason: "reset" };
    },
    listAll: (query, options) =>
      query?.payableId === ids.lost ? Promise.resolve([]) : client.payments.listAll(query, options),
  };
  await money.pay(runId);
  money.override = {};
}

async function theRun(): Promise<Run> {
  const run = await getRun(money.store.db, runId);
  if (run === undefined) throw new Error("no run");
  return run;
}

/** What the verdict on a bill says in each state in which its run has it. */
const VERDICTS: Partial<Record<LineState, PayableHistory["paidOnce"]["verdict"]>> = {
  settled: "paid-once",
  scheduled: "on-its-way",
  held: "on-its-way",
  unknown: "unknown",
};

/** Payments in these states have left the balance, and have not come back. */
const GONE = ["processing", "completed"];

function reader() {
  const { profile } = money.world;
  return {
    store: money.store,
    profiles: { byBusinessId: () => profile, get: () => profile, all: () => [profile] },
    clientOf: () => money.world.context().clientOf("acme"),
    clocks: { read: () => money.context().clockOf("acme").now() } as unknown as Clocks,
  };
}
type Clocks = ActionContext["clocks"];

/** The rows of a table, each by its column's name. */
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

/** The table of states in the text that Temporal shows of the run. */
function statesIn(details: string): StateSums {
  const rows = [...details.matchAll(/^\| ([a-z-]+) \| (\d+) \| \$([\d,.]+) \|$/gm)];
  return Object.fromEntries(
    rows.map(([, state = "", count, dollars = ""]) => [
      state,
      { count: Number(count), cents: Math.round(Number(dollars.replaceAll(",", "")) * 100) },
    ]),
  );
}

async function views() {
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

/** All that is said of the run, from everywhere, at one moment. */
async function agree(): Promise<ReadonlySet<LineState>> {
  const { details, status, explained, lines, skipped, report, csv, bank } = await views();

  const states = new Map(lines.map(({ payableId, state }) => [payableId, state]));
  expect(new Map(csv.map((row) => [row["payable_id"], row["state"]]))).toEqual(states);
  for (const { payableId, state, reason, publicId } of lines) {
    const history = explained.get(payableId);
    const said = csv.find((row) => row["payable_id"] === payableId)?.["reason"];
    expect({ state: history?.state, reason: history?.reason }, publicId ?? "").toEqual({
      ...{ state, reason },
    });
    expect(said).toBe((reason ?? "").replaceAll('"', '""'));
    expect(history?.paidOnce.verdict, publicId ?? "").toBe(VERDICTS[state] ?? "not-paid");
  }
  for (const { payableId, reason } of skipped) {
    expect(explained.get(payableId)).toMatchObject({ state: null, leftOut: { text: reason } });
  }

  const byState = Object.fromEntries(
    [...Map.groupBy(lines, ({ state }) => state)].map(([state, of]) => [
      state,
      { count: of.length, cents: sum(of.map(({ amountCents }) => amountCents)) },
    ]),
  );
  expect(status.byState).toEqual(byState);
  expect(report.byState).toEqual(byState);
  expect(statesIn(details)).toEqual(byState);
  expect(report.totalCents).toBe(status.totalCents);
  expect(report.skipped.count).toBe(skipped.length);

  const exceptions = lines.filter(isException).map(({ payableId, reason }) => [payableId, reason]);
  expect(report.exceptions.map(({ payableId, reason }) => [payableId, reason])).toEqual(exceptions);
  expect(report.exceptionCount).toBe(exceptions.length);
  const named = [...details.matchAll(/`payrun explain (\S+)`/g)].map(([, id]) => id);
  expect(named).toEqual(exceptions.map(([payableId]) => payableId));
  const shown = runLines(status).join("\n");
  for (const { publicId, reason } of lines.filter(isException)) {
    expect(shown).toMatch(new RegExp(`${publicId} .*${escaped(reason ?? "")}`));
  }

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

  const credited = netCreditByPayable(await money.control.ledger());
  for (const { payableId, amountCents } of lines) {
    const { verdict } = explained.get(payableId)?.paidOnce ?? {};
    const ours = [ids.elsewhere, ids.lost].includes(payableId) ? undefined : verdict;
    if (ours === "paid-once") expect(credited.get(payableId)).toBe(amountCents);
    if (ours === "not-paid") expect(credited.get(payableId) ?? 0).toBe(0);
  }
  return new Set(states.values());
}

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
}

test("status, report, explain, the bank's table and Temporal's details say the same of a run that has everything, while it pays and later", async () => {
  await begin();
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
  expect(await waysOf(["again", "returned", "split", "plain"])).toEqual([
    "paid-again",
    "returned-late",
    "paid-in-parts",
    "paid",
  ]);
  expect(await topUpsOf(money.store.db, runId)).toMatchObject([{ state: "completed" }]);
}, 120_000);

async function waysOf(names: readonly Bill[]): Promise<string[]> {
  const ways = [];
  for (const name of names) ways.push((await explainIn(money, ids[name])).history.paidOnce.way);
  return ways;
}
