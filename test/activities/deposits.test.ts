import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { makeDeposits } from "../../activities/top-up/make-deposit.ts";
import type { TopUpRule } from "../../src/contracts/playbook.ts";
import type { PayRunPlaybook } from "../../src/contracts/playbook.ts";
import { takeTopUpDecision } from "../../src/decisions/take-top-up.ts";
import { attemptsOf } from "../../src/store/attempts.ts";
import { createHold } from "../../src/store/holds.ts";
import { listNotices } from "../../src/store/notices.ts";
import { getPlan } from "../../src/store/plans.ts";
import { getRun, requestCancel } from "../../src/store/runs.ts";
import { type TopUp, topUpsOf } from "../../src/store/top-ups.ts";
import { MoneyWorld, type PlannedBills } from "./money-world.ts";
import { POLICY } from "./planning-world.ts";

let world: MoneyWorld;

beforeAll(async () => {
  world = await MoneyWorld.start();
});
afterAll(async () => {
  await world.stop();
});
beforeEach(async () => {
  await world.world.reset({ balanceCents: 10_000 });
  world.override = {};
  world.achAuthorization = { acceptedBy: "A. Owner", acceptedAt: "2026-01-05" };
  await world.control.faults();
  await world.store.db.deleteFrom("holds").execute();
});

const RULE: TopUpRule = {
  from: "default",
  by: ["owner"],
  quorum: 1,
  atMostCents: 5_000_000,
  arrivalBusinessDays: null,
};

function withTopUp(rule: Partial<TopUpRule> = {}): Partial<PayRunPlaybook> {
  const pay = { ...POLICY.pay, from: "balance", topUp: { ...RULE, ...rule } };
  return { pay, late: "next-business-day" };
}

/** A run of two bills of $100 each, for which the balance has half of the money. */
async function shortRun(rule: Partial<TopUpRule> = {}): Promise<PlannedBills> {
  return world.approvedRun([{}, {}], withTopUp(rule));
}

async function topUp({ runId }: PlannedBills): Promise<TopUp> {
  const last = (await topUpsOf(world.store.db, runId)).at(-1);
  if (last === undefined) throw new Error(`${runId} asks for no deposit`);
  return last;
}

async function decide(
  planned: PlannedBills,
  changes: { by?: string; roles?: string[]; hash?: string; decision?: "approve" | "reject" } = {},
) {
  const run = await getRun(world.store.db, planned.runId);
  if (run === undefined) throw new Error("no run");
  const { hash } = await topUp(planned);
  const clock = await world.context().clockOf("acme").now();
  const { by = "olga", roles = ["owner"], decision = "approve" } = changes;
  const about = { owner: planned.runId, hash: changes.hash ?? hash };
  const principal = { tokenId: `tok_${by}`, name: by, roles, createdBy: "setup", createdAtMs: 0 };
  const request = { decision, planHash: run.planHash ?? "", drop: [] };
  const deciding = { run, request, principal, clock, nowMs: Date.now() };
  return world.store.transaction((trx) => takeTopUpDecision(trx, deciding, about));
}

function step({ runId }: PlannedBills): Promise<void> {
  return makeDeposits(world.context(), { owner: runId, by: `test/${Math.random()}` });
}

async function deposits(): Promise<{ amountCents: number; kind: string }[]> {
  const ledger = await world.control.ledger();
  return ledger
    .filter(({ paymentId, payableId }) => paymentId === null && payableId === null)
    .map(({ amountCents, kind }) => ({ amountCents, kind }));
}

const DEPOSITS = "/v1/balance/deposits";

async function attempts(planned: PlannedBills) {
  const { subject } = await topUp(planned);
  return attemptsOf(world.store.db, world.businessId, subject);
}

describe("a run that is short of money", () => {
  test("asks for exactly what is missing, says so in its plan, and deposits nothing unapproved", async () => {
    const planned = await shortRun();
    const plan = await getPlan(world.store.db, planned.runId);
    expect(plan?.summary.topUp).toMatchObject({
      amountCents: 10_000,
      approvers: ["owner"],
      quorum: 1,
    });
    const asked = await topUp(planned);
    expect(asked).toMatchObject({ state: "proposed", amountCents: 10_000, owner: planned.runId });
    const notices = await listNotices(world.store.db, { kind: "top-up-needed", limit: 5 });
    expect(notices[0]).toMatchObject({ roles: ["owner"], data: { hash: asked.hash } });
    expect((await world.assess(planned.runId)).toDeposit).toBeUndefined();
    await step(planned);
    expect(await attempts(planned)).toEqual([]);
    await world.control.advance("PT1M");
    expect(await deposits()).toEqual([]);
  });

  test("deposits what was approved, once, and pays what waited for it", async () => {
    const planned = await shortRun();
    await world.pay(planned.runId);
    expect(await decide(planned)).toMatchObject({ accepted: true });
    expect((await world.assess(planned.runId)).toDeposit).toBe(true);
    await step(planned);
    expect(await topUp(planned)).toMatchObject({ state: "on-its-way" });
    await step(planned);
    await world.control.advance("P4D");
    await step(planned);
    expect(await topUp(planned)).toMatchObject({ state: "completed" });
    expect(await deposits()).toEqual([
      { amountCents: 10_000, kind: "debit" },
      { amountCents: 10_000, kind: "credit" },
    ]);
    await world.pay(planned.runId);
    expect(await topUpsOf(world.store.db, planned.runId)).toHaveLength(1);
    await world.follow(planned.runId);
    await world.pay(planned.runId);
    for (const payableId of planned.payableIds) {
      expect(await world.paymentsOf(payableId)).toHaveLength(1);
    }
    expect(await topUpsOf(world.store.db, planned.runId)).toHaveLength(1);
  });

  test("tells of one that bounced, and asks for another approval", async () => {
    const planned = await shortRun();
    await world.control.outcome({
      match: { bankAccountId: "bank_main" },
      outcome: "fail",
      code: "R01",
      times: 1,
    });
    await decide(planned);
    await step(planned);
    await world.control.advance("P4D");
    await step(planned);
    expect(await topUp(planned)).toMatchObject({
      state: "failed",
      reason: expect.stringMatching(/R01/),
    });
    const notices = await listNotices(world.store.db, { kind: "top-up-failed", limit: 5 });
    expect(notices[0]).toMatchObject({ data: { id: planned.runId } });
    await world.follow(planned.runId);
    await world.pay(planned.runId);
    const again = await topUp(planned);
    expect(again).toMatchObject({ state: "proposed", requestNo: 2, amountCents: 10_000 });
    await step(planned);
    expect(await topUp(planned)).toEqual(again);
  });
});

/** Steps until the deposit is known to be on its way, past the service's window where need be. */
async function untilMade(planned: PlannedBills): Promise<TopUp> {
  for (let steps = 0; steps < 12; steps += 1) {
    await step(planned);
    const now = await topUp(planned);
    if (now.state === "on-its-way") return now;
    await world.control.advanceWire(now.state === "sending" ? "PT2M" : "PT1S");
  }
  return topUp(planned);
}

/** The bank's own account of what was moved, once everything has arrived. */
async function movedOnce(): Promise<void> {
  await world.control.advance("P6D");
  expect(await deposits()).toEqual([
    { amountCents: 10_000, kind: "debit" },
    { amountCents: 10_000, kind: "credit" },
  ]);
}

describe("a deposit is made once", () => {
  test.each([
    ["the answer is a 500 after the effect", { when: "after", effect: "status", status: 500 }],
    ["the answer is lost after the effect", { when: "after", effect: "drop" }],
    ["the answer can't be read", { when: "after", effect: "malformed" }],
    ["the service fails before it", { when: "before", effect: "status", status: 503 }],
    ["the request dies at the service", { when: "during", effect: "drop" }],
    [
      "the service asks to slow down",
      { when: "before", effect: "status", status: 429, retryAfter: 1 },
    ],
  ] as const)("where %s", async (_, fault) => {
    const planned = await shortRun();
    await decide(planned);
    await world.control.faults([{ method: "POST", path: DEPOSITS, ...fault, times: 1 }]);
    expect(await untilMade(planned)).toMatchObject({ state: "on-its-way" });
    const made = await attempts(planned);
    expect(made.at(-1)).toMatchObject({ operation: "deposit", state: "applied" });
    await movedOnce();
  });

  test("where the process dies after the effect and before it has heard of it", async () => {
    const planned = await shortRun();
    await decide(planned);
    const client = world.context().clientOf("acme");
    const send = client.sendMoneyWrite.bind(client);
    world.override = {
      sendMoneyWrite: async (write) => {
        await send(write);
        throw new Error("killed");
      },
    };
    await expect(step(planned)).rejects.toThrow("killed");
    expect(await topUp(planned)).toMatchObject({ state: "sending" });
    world.override = {};
    expect((await world.assess(planned.runId)).toDeposit).toBe(true);
    await untilMade(planned);
    const [attempt, ...others] = await attempts(planned);
    expect(attempt).toMatchObject({ state: "applied", answer: "found by look-up" });
    expect(others).toEqual([]);
    await movedOnce();
  });

  test("where the process dies before the request leaves", async () => {
    const planned = await shortRun();
    await decide(planned);
    world.override = { sendMoneyWrite: () => Promise.reject(new Error("killed")) };
    await expect(step(planned)).rejects.toThrow("killed");
    world.override = {};
    await untilMade(planned);
    expect(await attempts(planned)).toHaveLength(1);
    await movedOnce();
  });

  /** Sends for real, once, and answers in a way that the sandbox never does. */
  function answerInstead(status: number, body: unknown): { sent: number } {
    const counted = { sent: 0 };
    const client = world.context().clientOf("acme");
    const send = client.sendMoneyWrite.bind(client);
    world.override = {
      sendMoneyWrite: async (write) => {
        counted.sent += 1;
        if (counted.sent > 1) return send(write);
        await send(write);
        return { kind: "http", status, body, bodyText: JSON.stringify(body) } as never;
      },
    };
    return counted;
  }

  test.each([
    ["a yes without an id", 202, { status: "accepted" }],
    ["a yes that names it in another place", 201, { deposit: { id: "dep_1" } }],
    ["that it can't say", 409, { error: "payment_unconfirmed", message: "unknown" }],
    ["that the key is in use", 409, { error: "idempotency_conflict", message: "in use" }],
    ["a proxy's page", 502, "<html>"],
    ["a redirect", 302, {}],
    ["a time-out of its own", 408, {}],
  ])("where the service has made it and says %s", async (_, status, body) => {
    const planned = await shortRun();
    await decide(planned);
    answerInstead(status, body);
    expect(await untilMade(planned)).toMatchObject({ state: "on-its-way" });
    const made = await attempts(planned);
    expect(made.map(({ seq, state }) => [seq, state])).toEqual([[1, "applied"]]);
    await movedOnce();
  });

  test.each([
    ["the token is refused for a while", 401, { statusCode: 401, message: "Unauthorized" }],
    ["the token lacks the scope for a while", 403, { error: "forbidden", message: "Forbidden" }],
    ["deposits are off for a while", 403, { error: "feature_unavailable", message: "off" }],
    ["the set-up is incomplete for a while", 409, { error: "setup_incomplete", message: "no" }],
    ["an account is locked for a while", 409, { error: "payments_locked", message: "locked" }],
  ])("where %s", async (_, status, body) => {
    const planned = await shortRun();
    await decide(planned);
    const answer = { kind: "http", status, body, bodyText: JSON.stringify(body) } as never;
    world.override = { sendMoneyWrite: () => Promise.resolve(answer) };
    await step(planned);
    await world.control.advanceWire("PT2M");
    await step(planned);
    expect((await topUp(planned)).state).not.toBe("failed");
    expect((await topUp(planned)).reason).not.toBeNull();
    world.override = {};
    for (let wait = 0; wait < 8; wait += 1) {
      if ((await untilMade(planned)).state === "on-its-way") break;
      await world.control.advanceWire("PT10M");
    }
    const made = await attempts(planned);
    expect(made.at(-1)).toMatchObject({ state: "applied" });
    await movedOnce();
  });

  test("and where another of the same amount came meanwhile, a person looks before anything else", async () => {
    const planned = await shortRun();
    await decide(planned);
    await world.control.faults([
      { method: "POST", path: DEPOSITS, when: "after", effect: "drop", times: 1 },
    ]);
    await step(planned);
    await world.control.faults();
    const body = { amountCents: 10_000, bankAccountId: "bank_main" };
    await world.world.sandbox.api("POST", DEPOSITS, { key: "by-hand-2", body });
    await untilMade(planned);
    const stuck = await topUp(planned);
    expect(stuck).toMatchObject({ state: "sending", reasonCode: "unclear" });
    expect(stuck.reason).toMatch(/look at the list of balance transactions, then reject it/);
    expect(await world.assess(planned.runId)).toMatchObject({ needsAction: true });
    expect(await decide(planned, { decision: "reject" })).toMatchObject({ accepted: true });
    await world.control.advanceWire("PT10M");
    await step(planned);
    expect((await attempts(planned)).filter(({ state }) => state === "live")).toEqual([]);
    await world.control.advance("P6D");
    expect((await deposits()).filter(({ kind }) => kind === "credit")).toHaveLength(2);
  });

  test("under a new key only after the service's window, where it can't say what it did", async () => {
    const planned = await shortRun();
    await decide(planned);
    await world.control.faults([
      { method: "POST", path: DEPOSITS, when: "during", effect: "status", status: 500, times: 1 },
    ]);
    await step(planned);
    await world.control.advanceWire("PT5S");
    await step(planned);
    expect((await attempts(planned)).map(({ seq, state }) => [seq, state])).toEqual([[1, "live"]]);
    await world.control.advanceWire("PT1M");
    await step(planned);
    expect(await attempts(planned)).toHaveLength(1);
    await world.control.advanceWire("PT6M");
    await step(planned);
    await step(planned);
    expect((await attempts(planned)).map(({ seq, state }) => [seq, state])).toEqual([
      [1, "dead"],
      [2, "applied"],
    ]);
    await movedOnce();
  });

  test("by two workers at the same moment", async () => {
    const planned = await shortRun();
    await decide(planned);
    await Promise.all([step(planned), step(planned), step(planned)]);
    await untilMade(planned);
    expect(await attempts(planned)).toHaveLength(1);
    await movedOnce();
  });

  test("and somebody else's of the same amount is not taken for it twice", async () => {
    const planned = await shortRun();
    const body = { amountCents: 10_000, bankAccountId: "bank_main" };
    const byHand = await world.world.sandbox.api("POST", DEPOSITS, { key: "by-hand-1", body });
    expect(byHand.status).toBe(201);
    await decide(planned);
    await world.control.faults([
      { method: "POST", path: DEPOSITS, when: "after", effect: "drop", times: 1 },
    ]);
    const made = await untilMade(planned);
    expect(made.transactionId).not.toBe((byHand.body as { id: string }).id);
    await world.control.advance("P6D");
    expect((await deposits()).filter(({ kind }) => kind === "credit")).toHaveLength(2);
  });
});

test("one that is not there on its day is said to be late, and somebody has to ask", async () => {
  const planned = await shortRun();
  await decide(planned);
  const { subject } = await untilMade(planned);
  expect((await world.assess(planned.runId)).waitingFor).toMatch(/on its way$/);
  await world.store.db
    .updateTable("top_ups")
    .set({ arrives_on: "2026-01-02" })
    .where("subject", "=", subject)
    .execute();
  const now = await world.assess(planned.runId);
  expect(now).toMatchObject({ needsAction: true });
  expect(now.waitingFor).toMatch(/was to be there on 2026-01-02: ask the service/);
});

describe("a deposit is not made", () => {
  test.each([
    ["by the run's launcher", { by: "lena" }, "launcher"],
    ["without a role that the playbook names", { roles: ["controller"] }, "role-missing"],
    ["for another amount than was looked at", { hash: "f".repeat(64) }, "stale-plan"],
  ])("on the word %s", async (_, who, code) => {
    const planned = await shortRun();
    expect(await decide(planned, who)).toMatchObject({ accepted: false, code });
    await step(planned);
    expect(await attempts(planned)).toEqual([]);
  });

  test("before as many people have approved it as the playbook asks for", async () => {
    const planned = await shortRun({ quorum: 2 });
    expect(await decide(planned)).toMatchObject({ missing: [{ approvals: 1, quorum: 2 }] });
    await decide(planned);
    await step(planned);
    expect(await attempts(planned)).toEqual([]);
    await decide(planned, { by: "otto" });
    await untilMade(planned);
    await movedOnce();
  });

  test("while a hold stops the run, and by nobody once the run is cancelled", async () => {
    const planned = await shortRun();
    await decide(planned);
    const hold = {
      businessId: world.businessId,
      scope: "all",
      value: "",
      reason: "audit",
    } as const;
    await world.store.transaction((trx) =>
      createHold(trx, { ...hold, author: "olga", untilMs: null, nowMs: Date.now() }),
    );
    await step(planned);
    expect(await topUp(planned)).toMatchObject({ state: "proposed", reason: "on hold: audit" });
    await world.store.db.deleteFrom("holds").execute();
    await world.store.transaction((trx) => requestCancel(trx, planned.runId, "olga", Date.now()));
    await world.assess(planned.runId);
    expect(await topUp(planned)).toMatchObject({ state: "withdrawn" });
    await step(planned);
    expect(await attempts(planned)).toEqual([]);
  });

  test("where the approved amount is not what is missing by now: another approval is asked for", async () => {
    const planned = await shortRun();
    const before = await topUp(planned);
    await decide(planned);
    await world.control.changeBusiness({ balanceCents: 13_000 });
    await step(planned);
    const now = await topUp(planned);
    expect(now).toMatchObject({ state: "proposed", amountCents: 7_000, subject: before.subject });
    expect(now.hash).not.toBe(before.hash);
    await step(planned);
    expect(await attempts(planned)).toEqual([]);
    await world.control.changeBusiness({ balanceCents: 20_000 });
    await decide(planned);
    await step(planned);
    expect(await topUp(planned)).toMatchObject({ state: "withdrawn" });
  });

  test("where the service refuses it, which is told, and another one asks anew", async () => {
    const planned = await shortRun();
    await decide(planned);
    const body = { error: "validation_error", message: "amountCents is too large" };
    world.override = {
      sendMoneyWrite: () =>
        Promise.resolve({
          kind: "http",
          status: 422,
          body,
          bodyText: JSON.stringify(body),
        } as never),
    };
    await step(planned);
    expect(await topUp(planned)).toMatchObject({
      state: "failed",
      reason: expect.stringMatching(/too large/),
    });
  });

  test("by a run for which somebody has refused it", async () => {
    const planned = await shortRun();
    expect(await decide(planned, { decision: "reject" })).toMatchObject({ accepted: true });
    await world.pay(planned.runId);
    expect(await topUpsOf(world.store.db, planned.runId)).toMatchObject([{ state: "refused" }]);
  });

  test("where more is missing than the playbook allows", async () => {
    const planned = await shortRun({ atMostCents: 5_000 });
    expect(await topUpsOf(world.store.db, planned.runId)).toEqual([]);
    const plan = await getPlan(world.store.db, planned.runId);
    expect(plan?.summary.warnings?.[0]).toMatch(/short of \$100\.00.*more than \$50\.00/);
  });

  test("where nobody has accepted the ACH debit authorization", async () => {
    world.achAuthorization = undefined;
    const planned = await shortRun();
    expect(await topUpsOf(world.store.db, planned.runId)).toEqual([]);
    const plan = await getPlan(world.store.db, planned.runId);
    expect(plan?.summary.warnings?.[0]).toMatch(/ACH debit authorization/);
  });
});

test("two runs that are short of one balance ask for what both need together, and no more", async () => {
  const one = await shortRun();
  await decide(one);
  await untilMade(one);
  const other = await world.approvedRun([{}, {}, {}], withTopUp());
  // $100 are there, $100 on their way, $500 needed.
  expect(await topUp(other)).toMatchObject({ amountCents: 30_000 });
});
