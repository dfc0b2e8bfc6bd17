import { sql } from "kysely";
import { expect } from "vitest";
import { getRun } from "../../../src/store/runs/runs.ts";
import { recordDecision } from "../../../src/store/approvals/decisions.ts";
import { explainIn } from "../explain.ts";
import { type MoneyWorld, test } from "../money-world.ts";

async function settle(world: MoneyWorld, runId: string): Promise<void> {
  await world.control.advance("P10D");
  await world.follow(runId);
}

test("explain shows who approved a settled bill on which plan, and that it was paid once", async ({
  world,
}) => {
  const { runId, payableId } = await world.approvedRun([{}]);
  await world.pay(runId);
  await settle(world, runId);
  const { history, text } = await explainIn(world, payableId);
  const planHash = (await getRun(world.store.db, runId))?.planHash;
  expect(history).toMatchObject({
    state: "settled",
    bill: { contactName: "One", amountCents: 10_000 },
    paidOnce: { verdict: "paid-once" },
    approvals: [{ by: "olga", roles: ["owner"], proof: "token", proofId: "tok_olga", planHash }],
    attempts: [{ seq: 1, state: "applied", sends: [{ result: "applied" }] }],
    payments: [{ status: "completed", seq: 1 }],
    trail: { entries: 6, changed: [] },
  });
  for (const said of ["olga (owner), by token tok_olga", planHash?.slice(0, 16), "Paid once, by"]) {
    expect(text).toContain(said);
  }
  expect(text.split("\n").length).toBeLessThan(40);
  expect(text.split("\n")[0]).toMatch(/^One BILL-\d+ \S+ {2}\$100\.00/);
  expect(text).toContain("times are those of New York");
});

test("explain says that a request did not leave, and does not count it as sent", async ({
  world,
}) => {
  const { runId, payableId } = await world.approvedRun([{}]);
  let isFirst = true;
  const client = world.world.context().clientOf("acme");
  world.override = {
    sendMoneyWrite: (request) => {
      if (!isFirst) return client.sendMoneyWrite(request);
      isFirst = false;
      return Promise.resolve({
        ...{ kind: "no-answer", sent: false, code: "not_sent", reason: "it came too late" },
      } as const);
    },
  };
  await world.pay(runId);
  world.override = {};
  await world.control.advanceWire("PT20M");
  await world.pay(runId);
  const { history, text } = await explainIn(world, payableId);
  expect(history.attempts[0]?.sends.map(({ result }) => result)).toEqual(["not-sent", "applied"]);
  expect(text).toContain("did not leave");
  expect(text).toMatch(/Request 1 for \$100\.00 was sent once/);
});

test("explain shows after a lost answer each send under one key, and the lookup that found the payment", async ({
  world,
}) => {
  const { runId, payableId } = await world.approvedRun([{}]);
  world.override = { ...world.lostAnswers(), listAll: () => Promise.resolve([]) };
  await world.pay(runId);
  expect((await explainIn(world, payableId)).history.paidOnce.verdict).toBe("unknown");
  world.override = {};
  // The service shows a payment that Payrun may still turn out to have made.
  const meanwhile = await explainIn(world, payableId);
  expect(meanwhile.history.externalPayments).toHaveLength(1);
  expect(meanwhile.text).toContain("Perhaps made by request 1");
  expect(meanwhile.text).not.toContain("Not made by Payrun");
  await world.control.advanceWire("PT20M");
  await world.pay(runId);
  await settle(world, runId);
  const { history, text } = await explainIn(world, payableId);
  const [payment] = history.payments;
  const [attempt] = history.attempts;
  expect(attempt?.answer).toBe("found by lookup");
  expect(attempt?.lookUps.at(-1)).toMatchObject({
    ...{ verdict: "adopt", isConclusive: true, paymentIds: [payment?.id] },
  });
  expect(history.paidOnce.sentences[1]).toContain("no response said what it made");
  expect(text).toMatch(/sent: unknown( ×\d)?/);
  expect(text).toContain(`looked up: found ${payment?.id}, after its window`);
});

test("explain says that the second of two payments paid the bill if the first one bounced", async ({
  world,
}) => {
  const { runId, payableId } = await world.approvedRun([{}]);
  const bounce = { outcome: "fail", code: "R01", times: 1 } as const;
  await world.control.outcome({ match: { payableId }, ...bounce });
  await world.pay(runId);
  await settle(world, runId);
  for (let days = 0; (await world.line(runId, payableId)).state !== "settled"; days += 3) {
    if ((await world.look(payableId)).phase === "pay") {
      await world.retry(payableId);
      // The reason that the retry waited for is no longer reported.
      const { retry } = (await explainIn(world, payableId)).history;
      expect(retry).toMatchObject({ phase: "following", reason: null });
    }
    await world.control.advance("P3D");
    await world.look(payableId);
    if (days > 60) throw new Error("it was never settled");
  }
  const { history, text } = await explainIn(world, payableId);
  expect(history.paidOnce.verdict).toBe("paid-once");
  expect(history.payments.map(({ status, seq }) => ({ status, seq }))).toEqual([
    { status: "failed", seq: 1 },
    { status: "completed", seq: 2 },
  ]);
  const [first] = history.payments;
  expect(history.paidOnce).toMatchObject({ way: "paid-again", serviceAnswered: true });
  expect(history.paidOnce.sentences[0]).toContain(`It was paid again after ${first?.id} failed (`);
  expect(text).toContain("1 retry made");
  expect(text).not.toMatch(/Too much|was lost/);
});

test("a bill that its retry has settled stays settled when an event mentions it", async ({
  world,
}) => {
  const { runId, payableId } = await world.approvedRun([{}]);
  await world.control.outcome({ match: { payableId }, outcome: "fail", code: "R01", times: 1 });
  await world.pay(runId);
  await settle(world, runId);
  for (let days = 0; (await world.line(runId, payableId)).state !== "settled"; days += 3) {
    if ((await world.look(payableId)).phase === "pay") await world.retry(payableId);
    await world.control.advance("P3D");
    await world.look(payableId);
    if (days > 60) throw new Error("it was never settled");
  }
  await world.follow(runId);
  expect((await explainIn(world, payableId)).history).toMatchObject({
    state: "settled",
    paidOnce: { way: "paid-again" },
  });
});

test("explain names a trail entry about the bill that was tampered with", async ({ world }) => {
  const { runId, payableId } = await world.approvedRun([{}]);
  await world.pay(runId);
  const { db } = world.store;
  await sql`drop trigger audit_no_update`.execute(db);
  await sql`update audit set details = replace(details, '10000', '10001')
    where subject = ${payableId} and action = 'attempt.sending'`.execute(db);
  const { history } = await explainIn(world, payableId);
  expect(history.trail.changed).toHaveLength(1);
  expect(history.paidOnce.sentences.at(-1)).toContain("is not what was written");
});

test("explain does not call a bill paid whose payment has bounced, even before any look has seen it", async ({
  world,
}) => {
  const { runId, payableId } = await world.approvedRun([{}]);
  await world.control.outcome({ match: { payableId }, outcome: "fail", code: "R01", times: 1 });
  await world.pay(runId);
  await world.control.advance("P10D");
  const { history, text } = await explainIn(world, payableId);
  expect(history).toMatchObject({
    payments: [{ status: "failed" }],
    paidOnce: { verdict: "not-paid", way: "failed" },
  });
  expect(text).toContain("Not paid: The payment that was made ended failed");
});

test.for([
  ["fails", () => Promise.reject(new Error("reset"))],
  ["is slow", untilGivenUp],
] as const)(
  "if the read of the service %s, explain says how old its figures are",
  async ([_, listAll], { world }) => {
    const { runId, payableId } = await world.approvedRun([{}]);
    await world.pay(runId);
    await settle(world, runId);
    world.override = { listAll };
    const { history, text } = await explainIn(world, payableId);
    expect(history).toMatchObject({
      payments: [{ status: "completed" }],
      paidOnce: { verdict: "paid-once", serviceAnswered: false },
    });
    expect(history.paidOnce.sentences[1]).toMatch(
      /^This is as of .* New York, when Payrun last saw its payments: the service didn't answer now\.$/,
    );
    expect(text).toContain("the service didn't answer now");
  },
);

/** A service that doesn't answer before the caller gives up. */
function untilGivenUp(_: unknown, { signal }: { readonly signal?: AbortSignal } = {}) {
  return new Promise<never>((_resolve, reject) => {
    signal?.addEventListener("abort", () => reject(new Error("given up")));
  });
}

test("explain says that a payment was returned after it had settled", async ({ world }) => {
  const { runId, payableId } = await world.approvedRun([{}]);
  await world.control.outcome({ match: { payableId }, outcome: "return", code: "R02", times: 1 });
  await world.pay(runId);
  for (
    let days = 0;
    (await explainIn(world, payableId)).history.paidOnce.way !== "returned-late";
    days += 1
  ) {
    await world.control.advance("P1D");
    await world.follow(runId);
    if (days > 40) throw new Error(`still ${(await explainIn(world, payableId)).text}`);
  }
  expect((await explainIn(world, payableId)).text).toContain("after it had settled");
});

test("explain says of an unplanned bill, by vendor and number, why the last run left it out", async ({
  world,
}) => {
  const { runId, payableIds } = await world.plannedRun([{}, { status: "draft" }]);
  const draft = payableIds[1] ?? "";
  const { history, text } = await explainIn(world, draft);
  expect(history).toMatchObject({
    ...{ state: null, bill: null, leftOut: { code: "not_approved", contactName: "One" } },
    paidOnce: { verdict: "not-paid", way: "left-out" },
  });
  expect(text.split("\n")[0]).toMatch(/One BILL-\d+/);
  expect(text).toContain("The last one left it out: Still a draft in the service.");
  expect(text).toMatch(new RegExp(`Not in the plan: Still a draft in the service\\. +${runId}`));
});

test("explain says who rejected the run of a bill, and why", async ({ world }) => {
  const { runId, payableId } = await world.approvedRun([{}]);
  await world.store.transaction((trx) =>
    recordDecision(trx, {
      ...{ runId, planHash: "any", decision: "reject", principal: "cora", tokenId: null },
      ...{ roles: ["controller"], dropped: [], comment: "wrong week", decidedAtMs: Date.now() },
      ...{ expiresAtMs: Date.now() + 86_400_000, outcome: "accepted", reason: null, approves: [] },
    }),
  );
  await world.assess(runId);
  const { history, text } = await explainIn(world, payableId);
  expect(history.state).toBe("cancelled");
  expect(text.match(/Its run was rejected by cora: wrong week\./g)).toHaveLength(1);
});
