import { randomUUID } from "node:crypto";
import { followRefunds } from "../../../activities/cancel/follow-refunds.ts";
import { makeDeposits } from "../../../activities/deposit/make-deposit.ts";
import type { ActionContext } from "../../../src/actions/context.ts";
import type { Principal } from "../../../src/actions/principal.ts";
import { resolve } from "../../../src/actions/payables/resolve.ts";
import type { PlanLine } from "../../../src/contracts/pay-run.ts";
import { takeTopUpDecision } from "../../../src/decisions/take-top-up.ts";
import { recordDecision } from "../../../src/store/approvals/decisions.ts";
import { topUpsOf } from "../../../src/store/deposits/deposits.ts";
import { createHold } from "../../../src/store/holds/holds.ts";
import { getPlanLines } from "../../../src/store/lines/plan-lines.ts";
import { getRun, type Run } from "../../../src/store/runs/runs.ts";
import { CancelWorld } from "../cancel-world.ts";
import { withTopUp } from "../deposit-scene.ts";
import { MoneyWorld } from "../money-world.ts";
import { addBankingDays } from "../../../src/domain/clock/bank-calendar.ts";
import { inDays, PlanningWorld } from "../planning-world.ts";

const DAY_MS = 86_400_000;

/** The amount of each bill, named by the outcome that it is meant to have. */
const BILLS = {
  plain: 10_001,
  split: 25_000_000,
  half: 13_875_000,
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
export type Bill = keyof typeof BILLS;
export const NAMES = Object.keys(BILLS) as Bill[];

let cancels: CancelWorld;
let money: MoneyWorld;
let runId: string;
let ids: Record<Bill, string>;

/** The run, its bills by name, and the world that it is in. */
export interface FullRun {
  readonly money: MoneyWorld;
  readonly runId: string;
  readonly ids: Readonly<Record<Bill, string>>;
  readonly stop: () => Promise<void>;
}

/** Starts one run in which each bill has its own outcome. */
export async function startFullRun(): Promise<FullRun> {
  money = new MoneyWorld(await PlanningWorld.start());
  cancels = new CancelWorld(money);
  money.achAuthorization = { acceptedBy: "A. Owner", acceptedAt: "2026-01-05" };
  const planned = await money.plannedRun(
    NAMES.map((name) => ({
      totalAmountCents: BILLS[name],
      ...(name === "draft" ? { status: "draft" } : {}),
      // Paid on a later day than the others, even around holidays, so that the shortage of the
      // balance falls on it.
      dueDate: name === "late" ? addBankingDays(inDays(6), 2) : inDays(6),
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
  return { money, runId, ids, stop: () => money.world.stop() };
}

/** Advances weeks, in which people act. */
export async function goOn(): Promise<void> {
  await cancel("cancelled");
  await failHalf();
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

/** Makes one payment of a split bill fail. */
async function failHalf(): Promise<void> {
  const made = await money.context().clientOf("acme").payments.listAll({ payableId: ids.half });
  const large = made.find(({ amountCents }) => amountCents === 10_000_000);
  const match = { paymentId: large?.id ?? "" };
  await money.control.outcome({ match, outcome: "fail", code: "R16" });
}

/** Advances days one by one, and follows the run after each. */
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

/**
 * Retries failed bills until one has settled at its second try and the split one has settled too.
 */
async function retryFailed(): Promise<void> {
  for (let day = 0; !(await haveSettled("again", "split")); day += 3) {
    for (const name of ["again", "refused", "half", "writtenOff", "returned"] as const) {
      const { phase } = await money.look(ids[name]);
      if (phase === "pay") await money.retry(ids[name]);
    }
    await days(3);
    if (day > 60) throw new Error("it was never settled");
  }
}

async function haveSettled(...names: readonly Bill[]): Promise<boolean> {
  const lines = await Promise.all(names.map((name) => money.line(runId, ids[name])));
  return lines.every(({ state }) => state === "settled");
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

/** Approves and makes the deposit that the last bill waits for. */
async function topUp(): Promise<void> {
  // Its bills have changed since it was proposed; an approval must name the current request.
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

/** Leaves one bill out and approves all others but one, as Olga. */
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
  await money.control.changeBusiness({
    balanceCents: 25_000_000 + 13_875_000 + 11 * 10_010 + 5_000,
  });
  const payableId = ids.elsewhere;
  await payments.create({ payableId, ...source }, { idempotencyKey: randomUUID() });
}

/** Pays the run; the answer about one bill is lost, and the service shows none of its payments. */
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

export async function theRun(): Promise<Run> {
  const run = await getRun(money.store.db, runId);
  if (run === undefined) throw new Error("no run");
  return run;
}
