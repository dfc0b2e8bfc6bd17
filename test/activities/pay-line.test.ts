import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { recordSend } from "../../activities/pay/record-send.ts";
import type { AttemptSend } from "../../src/contracts/attempt.ts";
import type { MoneyWriteAnswer } from "../../src/payments-api/index.ts";
import { attemptsOf, changeLiveAttempt, liveAttempt } from "../../src/store/attempts.ts";
import { claimOwners } from "../../src/store/claims.ts";
import { changeLine } from "../../src/store/lines.ts";
import { requestCancel } from "../../src/store/runs.ts";
import { MoneyWorld } from "./money-world.ts";

let world: MoneyWorld;

beforeAll(async () => {
  world = await MoneyWorld.start();
});
afterAll(async () => {
  await world.stop();
});
beforeEach(async () => {
  await world.world.reset();
  world.override = {};
});

const attempts = (payableId: string) => attemptsOf(world.store.db, world.businessId, payableId);

function refusedBy(status: number, body: Record<string, unknown>): () => Promise<MoneyWriteAnswer> {
  const bodyText = JSON.stringify(body);
  return () => Promise.resolve({ kind: "http", status, body, bodyText } as MoneyWriteAnswer);
}

const lost: MoneyWriteAnswer = {
  kind: "no-answer",
  sent: true,
  code: "no_answer",
  reason: "connection reset",
};

describe("a new key", () => {
  test("waits until the service shows what the last key paid", async () => {
    const { runId, payableId } = await world.approvedRun([{}]);
    await world.pay(runId);
    expect(await world.paymentsOf(payableId)).toHaveLength(1);
    // A restored store knows the attempt and not what its line became; the service's list lags.
    await changeLine(world.store.db, { runId, payableId }, { state: "planned", paymentIds: [] }, 1);
    world.override = { listAll: () => Promise.resolve([]) };
    await world.pay(runId);
    expect(await attempts(payableId)).toHaveLength(1);
    expect((await world.line(runId, payableId)).state).toBe("planned");
  });

  test("does not follow for ever where the service refuses every date", async () => {
    const { runId, payableId } = await world.approvedRun([{}]);
    const details = { field: "scheduledAt" };
    const refusal = { error: "validation_error", message: "scheduledAt must be later", details };
    world.override = { sendMoneyWrite: refusedBy(422, refusal) };
    for (let turns = 0; turns < 4; turns += 1) {
      await world.pay(runId);
      await world.control.advanceWire("PT1M");
    }
    expect(await world.line(runId, payableId)).toMatchObject({
      state: "parked",
      reason: expect.stringContaining("scheduledAt must be later"),
    });
    expect((await attempts(payableId)).length).toBeLessThanOrEqual(6);
  });
});

describe("a request that the service refuses to take now", () => {
  test("is tried ever more rarely while something is on its way that nobody can see", async () => {
    const { runId, payableId } = await world.approvedRun([{}]);
    const refusal = { error: "payment_in_progress", message: "one is in progress" };
    world.override = { sendMoneyWrite: refusedBy(409, refusal) };
    const rests: number[] = [];
    for (let turns = 0; turns < 4; turns += 1) {
      const { serviceMs } = await world.context().clockOf("acme").now();
      await world.pay(runId);
      const { notBeforeMs } = await world.rest(runId, payableId);
      rests.push(notBeforeMs - serviceMs);
      await world.control.advanceWire("PT15M");
    }
    expect(rests.toSorted((one, other) => one - other)).toEqual(rests);
    expect(rests.at(-1)).toBeGreaterThan(10_000);
  });
});

describe("a request without an answer", () => {
  test("keeps its key and its bytes after its run was cancelled and another run pays the bill", async () => {
    const { runId, payableId } = await world.approvedRun([{}]);
    world.override = { sendMoneyWrite: () => Promise.resolve(lost) };
    await world.pay(runId);
    const [sent] = await attempts(payableId);
    expect(sent).toMatchObject({ state: "live" });
    await requestCancel(world.store.db, runId, "olga", Date.now());
    await world.control.advanceWire("PT10M");
    await world.pay(runId);
    expect((await world.assess(runId)).phase).toBe("cancelled");
    expect(await attempts(payableId)).toMatchObject([{ state: "released" }]);
    world.override = {};
    const next = await world.approvedRun([]);
    await world.pay(next.runId);
    expect(await attempts(payableId)).toMatchObject([
      { seq: 1, state: "applied", body: sent?.body },
    ]);
    expect(await world.paymentsOf(payableId)).toHaveLength(1);
  });

  test("is sent again ever more rarely", async () => {
    const { runId, payableId } = await world.approvedRun([{}]);
    world.override = { sendMoneyWrite: () => Promise.resolve(lost) };
    await world.pay(runId);
    const attempt = await liveAttempt(world.store.db, world.businessId, payableId);
    const [send] = attempt?.sends ?? [];
    const sends = Array.from({ length: 30 }, () => ({ ...send, result: "unknown" }) as AttemptSend);
    await changeLiveAttempt(world.store.db, attempt?.attemptId ?? "", { sends }, Date.now());
    await world.control.advanceWire("PT1M");
    await world.pay(runId);
    const { serviceMs } = await world.context().clockOf("acme").now();
    const { notBeforeMs } = await world.rest(runId, payableId);
    expect(notBeforeMs - serviceMs).toBeGreaterThan(120_000);
  });
});

describe("a refusal after a request that was never answered", () => {
  test.each([
    [422, { error: "amount_invalid", message: "no" }],
    [422, { error: "contact_not_payable", message: "no bank account" }],
  ])("with %i %o leaves the line to be looked up, and adopts what shows", async (status, body) => {
    const { runId, payableId } = await world.approvedRun([{}]);
    const send = world.context().clientOf("acme");
    const answers = [lost, await refusedBy(status, body)()];
    const frozen: Parameters<typeof send.sendMoneyWrite>[0][] = [];
    world.override = {
      sendMoneyWrite: (write) => {
        frozen.push(write);
        return Promise.resolve(answers.shift() ?? lost);
      },
    };
    await world.pay(runId);
    expect(await world.line(runId, payableId)).toMatchObject({ state: "unknown" });
    const [write] = frozen;
    if (write === undefined) throw new Error("nothing was sent");
    // The first request arrives late after all.
    world.override = {};
    await world.context().clientOf("acme").sendMoneyWrite(write);
    await world.control.advanceWire("PT1M");
    await world.pay(runId);
    expect(await world.line(runId, payableId)).toMatchObject({ state: "scheduled" });
    expect(await world.paymentsOf(payableId)).toHaveLength(1);
  });
});

test("a line that goes back to approval says why", async () => {
  const { runId, payableId } = await world.approvedRun([{}]);
  await world.control.changeContact("v1", { bankAccount: { accountNumber: "00009999" } });
  await world.pay(runId);
  const back = {
    state: "awaiting-approval",
    reasonCode: "changed-since-approval",
    reason: expect.stringContaining("••9999"),
  };
  expect(await world.line(runId, payableId)).toMatchObject(back);
  await world.assess(runId);
  expect(await world.line(runId, payableId)).toMatchObject(back);
  expect(await world.paymentsOf(payableId)).toEqual([]);
});

test("a line that nobody approves in time gives up its refused request and its claim", async () => {
  const { runId, payableId } = await world.approvedRun([{}]);
  await world.control.changeBusiness({ paymentsLocked: true });
  await world.pay(runId);
  expect(await attempts(payableId)).toMatchObject([{ state: "live" }]);
  await world.store.db.updateTable("line_approvals").set({ expires_at_ms: 1 }).execute();
  await world.store.db.updateTable("runs").set({ approve_by_ms: 1 }).execute();
  expect((await world.assess(runId)).phase).toBe("expired");
  expect(await attempts(payableId)).toMatchObject([{ state: "released" }]);
  expect((await claimOwners(world.store.db, world.businessId, [payableId])).size).toBe(0);
});

test("a late result changes only its own send, not one that another worker has made since", async () => {
  const { runId, payableId } = await world.approvedRun([{}]);
  world.override = { sendMoneyWrite: () => Promise.resolve(lost) };
  await world.pay(runId);
  const live = await liveAttempt(world.store.db, world.businessId, payableId);
  if (live === undefined) throw new Error("the attempt is not live");
  const first: AttemptSend = { atMs: 1, by: "frozen", result: "pending" };
  const second: AttemptSend = { atMs: 2, by: "other", result: "pending" };
  const attempt = { ...live, sends: [first] };
  await changeLiveAttempt(world.store.db, live.attemptId, { sends: [first, second] }, Date.now());
  const recorded = await recordSend(world.context(), attempt, { result: "refused", status: 429 });
  expect(recorded.sends.map(({ result }) => result)).toEqual(["refused", "pending"]);
  const stored = await liveAttempt(world.store.db, world.businessId, payableId);
  expect(stored?.sends).toEqual(recorded.sends);
});

test("an answer with earlier payments of the bill counts only what it made", async () => {
  const first = await world.plannedRun([{ totalAmountCents: 10_000 }], {}, 4_000);
  await world.approve(first.runId);
  await world.pay(first.runId);
  await world.control.advance("P9D");
  await world.follow(first.runId);
  await world.assess(first.runId);
  const second = await world.planAgain(first.payableIds, 6_000);
  await world.approve(second.runId);
  const { payableId } = first;
  const client = world.context().clientOf("acme");
  const [earlier] = await client.payments.listAll({ payableId });
  world.override = {
    sendMoneyWrite: async (write) => {
      const answer = await client.sendMoneyWrite(write);
      if (answer.kind !== "http") return answer;
      const body = answer.body as { payments: unknown[] };
      return { ...answer, body: { ...body, payments: [...body.payments, earlier] } };
    },
  };
  await world.pay(second.runId);
  const line = await world.line(second.runId, payableId);
  expect(line.paymentIds).toHaveLength(1);
  expect(line.paymentIds).not.toContain(earlier?.id);
  expect(await world.holds()).toEqual([]);
});
