import { expect } from "vitest";
import { makeDeposits } from "../../activities/deposit/make-deposit.ts";
import type { PayRunPlaybook, TopUpRule } from "../../src/contracts/playbook.ts";
import { takeTopUpDecision } from "../../src/decisions/take-top-up.ts";
import { attemptState, wasAnsweredApplied } from "../../src/ledger/derive.ts";
import type { OperationName } from "../../src/ledger/facts.ts";
import { subjectFacts } from "../../src/ledger/rows.ts";
import { listNotices, type Notice } from "../../src/store/notices/notices.ts";
import { getRun } from "../../src/store/runs/runs.ts";
import { type TopUp, topUpsOf } from "../../src/store/deposits/deposits.ts";
import { type MoneyWorld, type PlannedBills, test as moneyTest } from "./money-world.ts";
import { POLICY } from "./planning-world.ts";

const RULE: TopUpRule = {
  from: "default",
  by: ["owner"],
  quorum: 1,
  atMostCents: 5_000_000,
  arrivalBusinessDays: null,
};

export const DEPOSITS = "/v1/balance/deposits";

export function withTopUp(rule: Partial<TopUpRule> = {}): Partial<PayRunPlaybook> {
  const pay = { ...POLICY.pay, from: "balance", topUp: { ...RULE, ...rule } };
  return { pay, late: "next-business-day" };
}

interface Word {
  readonly by?: string;
  readonly roles?: readonly string[];
  readonly hash?: string;
  readonly decision?: "approve" | "reject";
}

/** Runs that a balance of $100 does not cover, and their deposits. */
class DepositScene {
  readonly world: MoneyWorld;

  constructor(world: MoneyWorld) {
    this.world = world;
  }

  /** Creates a run of two bills of $100 each, with half of the money in the balance. */
  shortRun(rule: Partial<TopUpRule> = {}): Promise<PlannedBills> {
    return this.world.approvedRun([{}, {}], withTopUp(rule));
  }

  async topUp({ runId }: PlannedBills): Promise<TopUp> {
    const last = (await topUpsOf(this.world.store.db, runId)).at(-1);
    if (last === undefined) throw new Error(`${runId} asks for no deposit`);
    return last;
  }

  async decide(planned: PlannedBills, word: Word = {}) {
    const { store } = this.world;
    const run = await getRun(store.db, planned.runId);
    if (run === undefined) throw new Error("no run");
    const { hash } = await this.topUp(planned);
    const clock = await this.world.context().clockOf("acme").now();
    const { by = "olga", roles = ["owner"], decision = "approve" } = word;
    const about = { owner: planned.runId, hash: word.hash ?? hash };
    const principal = { tokenId: `tok_${by}`, name: by, roles, createdBy: "setup", createdAtMs: 0 };
    const request = { decision, planHash: run.planHash ?? "", drop: [] };
    const deciding = { run, request, principal, clock, nowMs: Date.now() };
    return store.transaction((trx) => takeTopUpDecision(trx, deciding, about));
  }

  step({ runId }: PlannedBills): Promise<void> {
    const by = `test/${Math.random()}`;
    return makeDeposits(this.world.context(), { owner: runId, by });
  }

  /**
   * Steps until the deposit is known to be on its way, past two of the service's windows if needed.
   */
  async untilMade(planned: PlannedBills): Promise<TopUp> {
    for (let steps = 0; steps < 16; steps += 1) {
      await this.step(planned);
      const now = await this.topUp(planned);
      if (now.state === "on-its-way") return now;
      await this.world.world.pass(now.state === "sending" ? 120_000 : 1_000);
    }
    return this.topUp(planned);
  }

  /** Returns the notices about a run's late deposits. */
  async told({ runId }: PlannedBills): Promise<Notice[]> {
    const { db } = this.world.store;
    const notices = await listNotices(db, { kind: "top-up-late", limit: 9 });
    return notices.filter((notice) => notice.runId === runId);
  }

  async deposits(): Promise<{ amountCents: number; kind: string }[]> {
    const ledger = await this.world.control.ledger();
    return ledger
      .filter(({ paymentId, payableId }) => paymentId === null && payableId === null)
      .map(({ amountCents, kind }) => ({ amountCents, kind }));
  }

  /** Checks in the bank's ledger that the money moved once, after everything has arrived. */
  async movedOnce(): Promise<void> {
    await this.world.control.advance("P6D");
    expect(await this.deposits()).toEqual([
      { amountCents: 10_000, kind: "debit" },
      { amountCents: 10_000, kind: "credit" },
    ]);
  }

  async attempts(planned: PlannedBills): Promise<MadeAttempt[]> {
    const { subject } = await this.topUp(planned);
    const facts = await subjectFacts(this.world.store.db, this.world.businessId, subject);
    return facts.attempts.map((attempt) => ({
      seq: attempt.seq,
      operation: attempt.operation,
      state: attemptState(facts, attempt, { sandbox: true }),
      isAnswered: wasAnsweredApplied(attempt),
    }));
  }
}

interface MadeAttempt {
  readonly seq: number;
  readonly operation: OperationName;
  readonly state: ReturnType<typeof attemptState>;
  /** True if its answer said what it made. */
  readonly isAnswered: boolean;
}

export const test = moneyTest
  .extend("world", async ({ world }) => {
    await world.world.reset({ balanceCents: 10_000 });
    world.achAuthorization = { acceptedBy: "A. Owner", acceptedAt: "2026-01-05" };
    return world;
  })
  .extend("scene", ({ world }) => new DepositScene(world));
