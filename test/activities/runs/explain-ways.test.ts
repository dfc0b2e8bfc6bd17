import { holdForLoss } from "../../../src/store/janitor/behind.ts";
import { randomUUID } from "node:crypto";
import { describe, expect } from "vitest";
import { reviewRun } from "../../../activities/runs/review-run.ts";
import { cancelPayments } from "../../../activities/cancel/cancel-payments.ts";
import { choosePayments } from "../../../activities/cancel/choose-payments.ts";
import { followRefunds } from "../../../activities/cancel/follow-refunds.ts";
import { makeDeposits } from "../../../activities/deposit/make-deposit.ts";
import { cancelScheduledPaymentsId } from "../../../src/contracts/workflow-kinds.ts";
import { isCancellationPolicy, narrowed } from "../../../src/domain/cancellations/policy.ts";
import type { CancelChoice } from "../../../src/contracts/playbook.ts";
import { takeTopUpDecision } from "../../../src/decisions/take-top-up.ts";
import { loadPlaybook } from "../../../src/playbooks/load.ts";
import { rowsOf } from "../../../src/store/audit/audit-trail.ts";
import { insertCancellation } from "../../../src/store/cancellations/cancellations.ts";
import { releaseHold } from "../../../src/store/holds/holds.ts";
import { getRun } from "../../../src/store/runs/runs.ts";
import { topUpsOf } from "../../../src/store/deposits/deposits.ts";
import { explainIn } from "../explain.ts";
import { type MoneyWorld, test } from "../money-world.ts";
import { POLICY } from "../planning-world.ts";

/** Returns the actions and subjects in the run's export of the audit trail. */
async function exported(world: MoneyWorld, runId: string): Promise<string[]> {
  const entries = [];
  const { businessId } = world;
  for await (const { action, subject } of rowsOf(world.store.db, { businessId, runId })) {
    entries.push(`${action} ${subject}`);
  }
  return entries;
}

async function settle(world: MoneyWorld, runId: string): Promise<void> {
  await world.control.advance("P10D");
  await world.follow(runId);
}

describe("explain, for a bill", () => {
  test("explain says that several payments of a bill are one request and cover all of it", async ({
    world,
  }) => {
    const { runId, payableId } = await world.approvedRun([{ totalAmountCents: 25_000_000 }]);
    await world.pay(runId);
    await settle(world, runId);
    const { history, text } = await explainIn(world, payableId);
    expect(history.paidOnce.verdict).toBe("paid-once");
    expect(history.attempts).toHaveLength(1);
    expect(history.payments.length).toBeGreaterThan(1);
    expect(history.paidOnce.sentences[0]).toMatch(/Paid once, by \d payments .* of \$250,000\.00/);
    for (const { id } of history.payments) expect(text).toContain(id);
  });

  test("explain says of a bill paid elsewhere that Payrun has sent nothing", async ({ world }) => {
    const { runId, payableId } = await world.approvedRun([{}]);
    await world.assess(runId);
    const client = world.context().clientOf("acme");
    const source = { paymentRail: "SERVICE", fundingSource: "balance" } as const;
    await client.payments.create({ payableId, ...source }, { idempotencyKey: randomUUID() });
    await world.control.advance("P10D");
    await world.pay(runId);
    const { history, text } = await explainIn(world, payableId);
    expect(history).toMatchObject({
      ...{ state: "paid-elsewhere", attempts: [], payments: [] },
      externalPayments: [{ status: "completed" }],
    });
    expect(history.paidOnce).toMatchObject({ verdict: "not-paid", way: "paid-elsewhere" });
    expect(text).toMatch(/Outside Payrun it has payment \S+ of \$100\.00/);
    expect(text).toContain("Not paid by Payrun, which found it paid by someone else");
    const { businessId, store } = world;
    const { serviceMs, businessMs } = await world.context().clockOf("acme").now();
    const loss = { businessId, evidence: "a test", hadItAtMs: 1, serviceMs, businessMs };
    await store.transaction((trx) => holdForLoss(trx, loss));
    const restored = await explainIn(world, payableId);
    expect(restored.text).not.toMatch(/Not (paid|made) by Payrun|paid by someone else/);
    expect(restored.text).toMatch(
      /Paid by a payment that this store has no record of \(made by someone else, or by Payrun after the backup that was restored\)/,
    );
    expect(restored.text).toMatch(/Not on record here: payment \S+ of \$100\.00\./);
    expect(restored.text).not.toContain("was ever sent");
    expect(restored.text).toContain("Not on this store's record");
  });

  test("explain says of an off-cycle part of a bill that exactly that part was paid", async ({
    world,
  }) => {
    const { runId, payableId } = await world.plannedRun([{}], {}, 4_000);
    await world.approve(runId);
    await world.pay(runId);
    await settle(world, runId);
    const { history, text } = await explainIn(world, payableId);
    expect(history).toMatchObject({
      bill: { amountCents: 4_000 },
      attempts: [{ amountCents: 4_000, state: "applied" }],
      paidOnce: { verdict: "paid-once" },
    });
    expect(text).toContain("$40.00, all that was approved");
  });

  test("explain says what a bill without approval still needs, and that nothing was sent", async ({
    world,
  }) => {
    const { runId, payableId } = await world.plannedRun([{}]);
    await world.assess(runId);
    const { history, text } = await explainIn(world, payableId);
    expect(history).toMatchObject({ state: "awaiting-approval", approvals: [], attempts: [] });
    expect(text).toContain("no request to pay it was ever sent");
    expect(text).toContain("needs 1 of owner");
  });

  test("explain says which sum puts a bill under its rule", async ({ world }) => {
    const rule = { review: false, overCents: null, where: null, by: ["owner"], quorum: 1 };
    const together = { ...rule, overCents: 150_00, overPer: "vendor" as const, by: ["chair"] };
    const bill = { totalAmountCents: 90_00 };
    const { payableId } = await world.plannedRun([bill, bill], { approve: [together, rule] });
    const { text } = await explainIn(world, payableId);
    expect(text).toContain(
      "needs 1 of chair, because its vendor's bills of the run come to $180.00, above $150.00",
    );
  });
});

describe("explain, for a deposit that a bill waited for", () => {
  test("explain says who approved the deposit that a bill waited for, and shows its request", async ({
    world,
  }) => {
    await world.world.reset({ balanceCents: 10_000 });
    world.achAuthorization = { acceptedBy: "A. Owner", acceptedAt: "2026-01-05" };
    const topUp = {
      from: "default",
      by: ["owner"],
      quorum: 1,
      atMostCents: 5_000_000,
      arrivalBusinessDays: null,
    };
    const pay = { ...POLICY.pay, from: "balance", topUp };
    const { runId, payableId } = await world.approvedRun([{}, {}], {
      pay,
      late: "next-business-day",
    });
    await reviewRun(world.context(), runId);
    const asked = (await explainIn(world, payableId)).history.deposits;
    expect(asked).toMatchObject([{ state: "proposed", amountCents: 10_000, approvals: [] }]);
    const run = await getRun(world.store.db, runId);
    const [deposit] = await topUpsOf(world.store.db, runId);
    if (run === undefined || deposit === undefined) throw new Error("no deposit");
    const clock = await world.context().clockOf("acme").now();
    const who = { tokenId: "tok_otto", name: "otto", roles: ["owner"] };
    const request = { decision: "approve", planHash: run.planHash ?? "", drop: [] } as const;
    await world.store.transaction((trx) =>
      takeTopUpDecision(
        trx,
        { run, request, principal: who, clock, nowMs: Date.now() },
        { owner: runId, hash: deposit.hash },
      ),
    );
    await makeDeposits(world.context(), { owner: runId, by: "test/1" });
    const { history, text } = await explainIn(world, payableId);
    expect(history.deposits).toMatchObject([
      {
        subject: deposit.subject,
        state: "on-its-way",
        approvals: [{ by: "otto", roles: ["owner"], proof: "token", lineHash: deposit.hash }],
        attempts: [{ seq: 1, operation: "deposit", state: "applied", answer: "2xx" }],
      },
    ]);
    expect(history.approvals.map(({ by }) => by)).toEqual(["olga"]);
    expect(await exported(world, runId)).toEqual(
      expect.arrayContaining(
        ["top-up.approved", "top-up.made", "attempt.sending"].map(
          (action) => `${action} ${deposit.subject}`,
        ),
      ),
    );
    expect(text).toMatch(/\$100\.00 into the balance: on-its-way as \S+/);
    expect(text).toMatch(/approved \S+ \S+ {2}otto \(owner\), by token tok_otto/);
    expect(text).toContain(`key ${history.deposits[0]?.attempts[0]?.idempotencyKey}`);
  });
});

describe("explain, for a payment that was cancelled", () => {
  let made = 0;

  /** Requests a cancellation and takes its workflow's steps. */
  async function cancel(
    world: MoneyWorld,
    choose: Partial<CancelChoice>,
    runId: string | null,
  ): Promise<string> {
    made += 1;
    const workflowId = cancelScheduledPaymentsId("acme", `wrong-${made}`);
    const text = `kind: ${runId === null ? "cancel-scheduled" : "hold"}\nchoose: { run: any }\n`;
    const loaded = loadPlaybook(text, { file: "wait.yaml" });
    if (!loaded.ok) throw new Error("not loaded");
    const { playbook: base } = loaded;
    if (!isCancellationPolicy(base)) throw new Error("another kind");
    const policy = narrowed(base, choose);
    await world.store.transaction((trx) =>
      insertCancellation(trx, {
        workflowId,
        businessId: world.businessId,
        business: "acme",
        playbook: "",
        policy,
        runId,
        reason: "Wrong amount",
        requestedBy: "olga",
        nowMs: Date.now(),
      }),
    );
    await choosePayments(world.context(), workflowId);
    const stop = new AbortController().signal;
    await cancelPayments(world.context(), { id: workflowId, by: "test/1", stop });
    return workflowId;
  }

  async function paymentId(world: MoneyWorld, payableId: string): Promise<string> {
    return (await world.paymentsOf(payableId))[0]?.id ?? "";
  }

  test("explain says of a cancelled payment that no money moved, by which request, and who may lift its hold", async ({
    world,
  }) => {
    const { runId, payableId } = await world.approvedRun([{}]);
    await world.pay(runId);
    const cancelled = await paymentId(world, payableId);
    const id = await cancel(world, { payments: [cancelled] }, null);
    await world.follow(runId);
    const { history, text } = await explainIn(world, payableId);
    expect(history).toMatchObject({
      state: "cancelled",
      payments: [{ status: "cancelled" }],
      cancels: [{ operation: "cancel", state: "applied" }],
      cancellations: [{ id, state: "cancelled" }],
      holds: [{ author: id, releasedAt: null }],
      paidOnce: { verdict: "not-paid" },
    });
    expect(text).toContain("The payment that was made ended cancelled");
    expect(text).toContain(`payrun release ${history.holds[0]?.id} lifts it`);
    expect(text).toContain("Has every approval that it needs");
    expect(await exported(world, runId)).toEqual(
      expect.arrayContaining([
        `cancel-payment:cancelled ${cancelled}`,
        `attempt.answered cancel/${cancelled}`,
      ]),
    );
    expect(history.cancels[0]?.sends).toMatchObject([{ result: "applied" }]);
    expect(text).toContain(`key ${history.cancels[0]?.idempotencyKey}`);
  });

  test("explain says that a cancelled payment's money is on its way back, then that it is back", async ({
    world,
  }) => {
    world.achAuthorization = { acceptedBy: "A. Owner", acceptedAt: "2026-01-05" };
    const { runId, payableId } = await world.approvedRun([{}], {
      pay: { ...POLICY.pay, from: "bank_main" },
    });
    await world.control.outcome({ match: { payableId }, outcome: "hold" });
    await world.pay(runId);
    await world.control.advance("P8D");
    await world.follow(runId);
    const id = await cancel(world, { payments: [await paymentId(world, payableId)] }, null);
    expect((await explainIn(world, payableId)).history.payments).toMatchObject([
      { status: "refund_pending" },
    ]);
    await world.control.advance("P6D");
    await followRefunds(world.context(), id);
    await world.follow(runId);
    const { history, text } = await explainIn(world, payableId);
    expect(history).toMatchObject({
      state: "refunded",
      payments: [{ status: "refunded" }],
      cancellations: [{ state: "refunded" }],
      paidOnce: { verdict: "not-paid" },
    });
    expect(text).toContain("The payment that was made ended refunded");
  });

  test("explain says by whom a bill was withheld before it was sent, and who released it", async ({
    world,
  }) => {
    const { runId, payableId } = await world.approvedRun([{}]);
    const id = await cancel(world, {}, runId);
    await world.pay(runId);
    const held = await explainIn(world, payableId);
    expect(held.history).toMatchObject({
      state: "on-hold",
      attempts: [],
      holds: [{ author: id, releasedAt: null }],
      cancellations: [{ id, paymentId: null, state: "withheld" }],
    });
    const holdId = held.history.holds[0]?.id ?? "";
    await world.store.transaction((trx) => releaseHold(trx, holdId, "cora", Date.now()));
    await world.pay(runId);
    await settle(world, runId);
    const { history, text } = await explainIn(world, payableId);
    expect(history).toMatchObject({ state: "settled", paidOnce: { verdict: "paid-once" } });
    expect(text).toMatch(/lifted \S+ \S+ by cora/);
  });
});
