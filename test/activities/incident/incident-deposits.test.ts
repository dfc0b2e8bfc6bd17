import { describe, expect } from "vitest";
import { makeDeposits } from "../../../activities/deposit/make-deposit.ts";
import { fundingIncidentId } from "../../../src/contracts/workflow-kinds.ts";
import type { PayRule } from "../../../src/contracts/playbook.ts";
import { takeTopUpDecision } from "../../../src/decisions/take-top-up.ts";
import { subjectFacts } from "../../../src/ledger/rows.ts";
import { LONGEST_SLEEP_MS } from "../../../src/domain/sleeps.ts";
import { listAudit } from "../../../src/store/audit/audit.ts";
import { getIncident } from "../../../src/store/incidents/incidents.ts";
import { listNotices } from "../../../src/store/notices/notices.ts";
import { getRun } from "../../../src/store/runs/runs.ts";
import { openTopUpsOf, topUpsOf, topUpsUnder } from "../../../src/store/deposits/deposits.ts";
import { setWait } from "../../../src/store/runs/waits.ts";
import { test } from "../bounce-scene.ts";
import type { MoneyWorld, PlannedBills } from "../money-world.ts";
import { inDays, POLICY } from "../planning-world.ts";

describe("a top-up of an account that bounced", () => {
  /** Two bills of $100 from the balance bounce; it has $50 left. */
  async function bounced(world: MoneyWorld, topUp?: PayRule["topUp"]): Promise<PlannedBills> {
    const pay: PayRule = {
      ...POLICY.pay,
      from: "balance",
      ...(topUp === undefined ? {} : { topUp }),
    };
    const planned = await world.approvedRun([{}, {}], { pay, late: "next-business-day" });
    for (const payableId of planned.payableIds) {
      await world.control.outcome({ match: { payableId }, outcome: "fail", code: "R01", times: 1 });
    }
    await world.pay(planned.runId);
    await world.control.advance("P9D");
    await world.follow(planned.runId);
    for (const payableId of planned.payableIds) await world.look(payableId);
    await world.control.changeBusiness({ balanceCents: 5_000 });
    return planned;
  }

  const RULE = {
    from: "default",
    by: ["owner"],
    quorum: 1,
    atMostCents: 100_000,
    arrivalBusinessDays: null,
  };
  const owner = fundingIncidentId("acme", "balance");
  const work = (world: MoneyWorld) =>
    makeDeposits(world.context(), { owner, by: `test/${Math.random()}` });

  async function approve(world: MoneyWorld, runId: string): Promise<void> {
    const run = await getRun(world.store.db, runId);
    const [topUp] = await openTopUpsOf(world.store.db, owner);
    if (run === undefined || topUp === undefined) throw new Error("nothing to approve");
    const clock = await world.context().clockOf("acme").now();
    const principal = {
      tokenId: "t",
      name: "olga",
      roles: ["owner"],
      createdBy: "x",
      createdAtMs: 0,
    };
    const request = { decision: "approve", planHash: topUp.planHash, drop: [] } as const;
    const deciding = { run, request, principal, clock, nowMs: Date.now() };
    const about = { owner, hash: topUp.hash };
    expect(
      await world.store.transaction((trx) => takeTopUpDecision(trx, deciding, about)),
    ).toMatchObject({ accepted: true });
    await world.decideIncident("balance", "top-up");
  }

  test("a top-up covers the waiting bills, is deposited once decided, and releases the account", async ({
    world,
  }) => {
    const { runId, payableIds } = await bounced(world, RULE);
    expect(await world.incident("balance")).toMatchObject({
      phase: "open",
      details: expect.stringMatching(/a deposit of \$150\.00 .* to be approved by owner/),
    });
    expect((await world.incident("balance")).toDeposit).toBeUndefined();
    await work(world);
    await approve(world, runId);
    expect(await world.incident("balance")).toMatchObject({ phase: "topping-up", toDeposit: true });
    await work(world);
    await world.control.advance("P5D");
    await work(world);
    expect(await topUpsOf(world.store.db, owner)).toMatchObject([{ state: "completed" }]);
    expect(await world.incident("balance")).toMatchObject({ phase: "ended" });
    expect(await world.holds()).toEqual([]);
    for (const payableId of payableIds) {
      expect((await world.look(payableId)).phase).toBe("pay");
      await world.retry(payableId);
      expect(await world.paymentsOf(payableId)).toHaveLength(2);
    }
    const ledger = await world.control.ledger();
    const deposits = ledger.filter(({ paymentId }) => paymentId === null);
    expect(deposits.map(({ kind, amountCents }) => [kind, amountCents])).toEqual([
      ["debit", 15_000],
      ["credit", 15_000],
    ]);
  });

  test("an incident looks for money every few minutes while a deposit is proposed or on its way", async ({
    world,
  }) => {
    const { runId } = await bounced(world, RULE);
    expect((await world.incident("balance")).wakeInMs).toBeLessThanOrEqual(120_000);
    await approve(world, runId);
    await work(world);
    const { phase, wakeInMs } = await world.incident("balance");
    expect(phase).toBe("topping-up");
    expect(wakeInMs).toBeLessThanOrEqual(120_000);
  });

  test("a top-up also covers what the balance is promised for beside the incident's bills", async ({
    world,
  }) => {
    const other = await world.approvedRun([{ totalAmountCents: 15_000 }], {
      pay: { ...POLICY.pay, from: "balance" },
    });
    const { runId } = await bounced(world, RULE);
    // As if it had been sent before the account bounced, for a date that has not come.
    await world.store.db
      .updateTable("run_lines")
      .set({ state: "scheduled", execution_date: inDays(60) })
      .where("run_id", "=", other.runId)
      .execute();
    await world.control.changeBusiness({ balanceCents: 30_000 });
    await world.incident("balance");
    expect(await topUpsOf(world.store.db, owner)).toMatchObject([{ amountCents: 5_000 }]);
    await approve(world, runId);
    expect(await world.incident("balance")).toMatchObject({ phase: "topping-up" });
    await work(world);
    await world.control.advance("P5D");
    await work(world);
    expect(await world.incident("balance")).toMatchObject({ phase: "ended" });
    expect(await topUpsOf(world.store.db, owner)).toMatchObject([{ state: "completed" }]);
  });

  test("a deposit is not made once another decision about the account is taken", async ({
    world,
  }) => {
    const { runId } = await bounced(world, RULE);
    await world.incident("balance");
    await approve(world, runId);
    await world.decideIncident("balance", "other-source");
    await work(world);
    expect(await topUpsOf(world.store.db, owner)).toMatchObject([{ state: "proposed" }]);
  });

  test("a top-up that bounces leaves the account on hold and is proposed again", async ({
    world,
  }) => {
    const { runId } = await bounced(world, RULE);
    await world.incident("balance");
    await approve(world, runId);
    const match = { bankAccountId: "bank_main" };
    await world.control.outcome({ match, outcome: "fail", code: "R01", times: 1 });
    await work(world);
    await world.control.advance("P5D");
    await work(world);
    await world.incident("balance");
    expect(await topUpsOf(world.store.db, owner)).toMatchObject([
      { state: "failed" },
      { state: "proposed", requestNo: 2 },
    ]);
    expect(await getIncident(world.store.db, world.businessId, "balance")).toMatchObject({
      phase: "open",
      decision: null,
    });
    expect(await world.holds()).toHaveLength(1);
  });

  test("an incident sends the service no request before a requested pause is over, and says so", async ({
    world,
  }) => {
    const { runId } = await bounced(world, RULE);
    await world.incident("balance");
    await approve(world, runId);
    const asked = async () => (await world.control.requests()).length;
    await world.control.faults([
      { method: "GET", path: "/v1/*", ...{ when: "before", effect: "status", status: 429 } },
    ]);
    const { serviceMs } = await world.context().clockOf("acme").now();
    await world.store.transaction((trx) =>
      setWait(trx, {
        ...{ businessId: world.businessId, sourceId: "", code: "rate_limited" },
        ...{ message: "slow down", nowMs: serviceMs, realMs: 1, retryAtMs: serviceMs + 90_000 },
      }),
    );
    const before = await asked();
    const now = await world.incident("balance");
    expect(await asked()).toBe(before);
    expect(now.details).toContain("slow down");
    expect(now.toDeposit).toBeUndefined();
    expect(now.wakeInMs).toBeGreaterThanOrEqual(5_000);
    await world.world.pass(91_000);
    // One request is sent and refused; the incident waits again instead of failing.
    expect((await world.incident("balance")).toDeposit).toBeUndefined();
    expect(await asked()).toBeGreaterThan(before);
    await world.control.faults();
    await world.world.pass(20 * 60_000);
    expect(await world.incident("balance")).toMatchObject({ toDeposit: true });
  });

  test("no top-up is proposed if no playbook of the bills allows one, and no money is looked for", async ({
    world,
  }) => {
    await bounced(world);
    expect((await world.incident("balance")).wakeInMs).toBe(LONGEST_SLEEP_MS);
    expect(await topUpsOf(world.store.db, owner)).toEqual([]);
  });

  test("a proposed top-up is withdrawn if the account is released by another decision", async ({
    world,
  }) => {
    await bounced(world, RULE);
    await world.incident("balance");
    await world.decideIncident("balance", "released");
    expect(await world.incident("balance")).toMatchObject({ phase: "ended" });
    expect(await topUpsOf(world.store.db, owner)).toMatchObject([{ state: "withdrawn" }]);
  });

  test("a top-up may be approved after the run whose playbook allows it has ended", async ({
    world,
  }) => {
    const { runId } = await bounced(world, RULE);
    await world.store.db
      .updateTable("runs")
      .set({ phase: "completed-with-exceptions" })
      .where("run_id", "=", runId)
      .execute();
    await world.incident("balance");
    await approve(world, runId);
    expect(await world.incident("balance")).toMatchObject({ phase: "topping-up", toDeposit: true });
  });

  test("a top-up with an unclear result is put to people again, and ends as they decide", async ({
    world,
  }) => {
    const { runId } = await bounced(world, RULE);
    await world.incident("balance");
    await approve(world, runId);
    const path = "/v1/balance/deposits";
    await world.control.faults([{ method: "POST", path, when: "after", effect: "drop" }]);
    await work(world);
    // Two more deposits of the same amount: it is unclear which of the three is Payrun's.
    for (const key of ["by-hand-1", "by-hand-2"]) {
      const body = { amountCents: 15_000, bankAccountId: "bank_main" };
      await world.control.faults();
      expect((await world.world.sandbox.api("POST", path, { key, body })).status).toBe(201);
    }
    await world.world.pass(9 * 60_000);
    await work(world);
    expect(await topUpsOf(world.store.db, owner)).toMatchObject([
      { state: "sending", reasonCode: "unclear" },
    ]);
    await world.incident("balance");
    expect(await getIncident(world.store.db, world.businessId, "balance")).toMatchObject({
      phase: "open",
    });
    await world.decideIncident("balance", "released");
    expect(await world.incident("balance")).toMatchObject({ phase: "ended" });
    const [topUp] = await topUpsOf(world.store.db, owner);
    expect(topUp).toMatchObject({ state: "failed", reason: expect.stringMatching(/carla/) });
    const sent = await subjectFacts(world.store.db, world.businessId, topUp?.subject ?? "");
    expect(sent.attempts).toHaveLength(1);
  });

  test("a top-up that the bank returns after its arrival is reported as returned and proposed again", async ({
    world,
  }) => {
    const { runId } = await bounced(world, RULE);
    await world.incident("balance");
    await approve(world, runId);
    await work(world);
    await world.control.advance("P5D");
    await work(world);
    const [arrived] = await topUpsOf(world.store.db, owner);
    expect(arrived).toMatchObject({ state: "completed" });
    const match = { transactionId: arrived?.transactionId ?? "" };
    await world.control.outcome({ match, outcome: "return", code: "R10" });
    await world.incident("balance");
    const [returned, next, ...others] = await topUpsOf(world.store.db, owner);
    // The bank table of the run whose playbook allowed it includes it.
    const allowed = await topUpsUnder(world.store.db, world.businessId, runId);
    expect(allowed.map(({ subject }) => subject)).toContain(returned?.subject);
    expect(others).toEqual([]);
    expect(returned).toMatchObject({
      state: "returned",
      reason: expect.stringMatching(/had arrived, and is returned now: R10/),
    });
    expect(next).toMatchObject({ state: "proposed", requestNo: 2 });
    expect(await getIncident(world.store.db, world.businessId, "balance")).toMatchObject({
      phase: "open",
      decision: null,
    });
    const notices = await listNotices(world.store.db, { kind: "top-up-returned", limit: 5 });
    expect(notices).toMatchObject([{ roles: ["operator", "owner"], data: { id: owner } }]);
    const asked = await listNotices(world.store.db, { kind: "top-up-needed", limit: 5 });
    expect(asked.map(({ text }) => text).join("\n")).toMatch(/The previous deposit: .*R10/);
    const subject = returned?.subject ?? "";
    const trail = await listAudit(world.store.db, { businessId: world.businessId, subject });
    expect(trail.map(({ action }) => action)).toContain("top-up.returned");
    // Nobody has approved the next top-up, so working on it makes no deposit.
    await work(world);
    const ledger = await world.control.ledger();
    const kinds = ledger.filter(({ paymentId }) => paymentId === null).map(({ kind }) => kind);
    expect(kinds).toEqual(["debit", "credit", "return", "refund"]);
  });
});
