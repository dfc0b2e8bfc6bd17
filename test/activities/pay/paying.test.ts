import { sql } from "kysely";
import { describe, expect, onTestFinished, vi } from "vitest";
import { LaneBook } from "../../../activities/pay/lane-book.ts";
import { attemptsOf } from "../../../src/ledger/attempts.ts";
import { recordResults } from "../../../src/ledger/results.ts";
import type { OpenedSend } from "../../../src/ledger/write.ts";
import type { MoneyWriteAnswer } from "../../../src/payments-api/index.ts";
import { claimOwners } from "../../../src/store/payables/claims.ts";
import { changeLine } from "../../../src/store/lines/lines.ts";
import { requestCancel } from "../../../src/store/runs/runs.ts";
import { PATIENCE_MS } from "../../support/waits.ts";
import { withoutPauses } from "../../support/without-pauses.ts";
import { type MoneyWorld, test } from "../money-world.ts";

const MINUTE_MS = 60_000;

const attempts = (world: MoneyWorld, payableId: string) =>
  attemptsOf(world.store.db, world.businessId, payableId);

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
  test("a new key waits until the service shows what the last key paid", async ({ world }) => {
    const { runId, payableId } = await world.approvedRun([{}]);
    await world.pay(runId);
    expect(await world.paymentsOf(payableId)).toHaveLength(1);
    // A restored store knows the attempt but not the line's state; the service's list lags behind.
    await changeLine(world.store.db, { runId, payableId }, { state: "planned", paymentIds: [] }, 1);
    world.override = { listAll: () => Promise.resolve([]) };
    await world.pay(runId);
    expect(await attempts(world, payableId)).toHaveLength(1);
    // The line takes over what the ledger knows.
    const line = await world.line(runId, payableId);
    expect(line).toMatchObject({ state: "processing", paymentIds: [expect.any(String)] });
  });

  test("a bill whose every date the service refuses is parked after a few keys", async ({
    world,
  }) => {
    withoutPauses();
    const { runId, payableId } = await world.approvedRun([{}]);
    const details = { field: "scheduledAt" };
    const refusal = { error: "validation_error", message: "scheduledAt must be later", details };
    world.override = { sendMoneyWrite: refusedBy(422, refusal) };
    for (let turns = 0; turns < 6; turns += 1) {
      await world.pay(runId);
      await world.world.pass(20 * MINUTE_MS);
    }
    expect(await world.line(runId, payableId)).toMatchObject({
      state: "parked",
      reason: expect.stringContaining("scheduledAt must be later"),
    });
    expect((await attempts(world, payableId)).length).toBeLessThanOrEqual(6);
  });
});

test("what the service has answered is kept, even if what follows from it can't be written", async ({
  world,
}) => {
  const { runId } = await world.approvedRun([{}]);
  const refusal = { error: "validation_error", message: "odd", details: { field: "payableId" } };
  world.override = { sendMoneyWrite: refusedBy(422, refusal) };
  const broken = sql`create trigger broken before update on run_lines when new.state = 'parked'
    begin select raise(abort, 'broken'); end`;
  await broken.execute(world.store.db);
  await world.pay(runId).catch(() => undefined);
  const sends = await world.store.db.selectFrom("sends").select("result").execute();
  expect(sends).toEqual([{ result: expect.not.stringMatching(/pending/) as string }]);
});

describe("a request that the service refuses for now", () => {
  test("a bill backs off while the service says that another payment of it is in progress", async ({
    world,
  }) => {
    const { runId, payableId } = await world.approvedRun([{}]);
    const refusal = { error: "payment_in_progress", message: "one is in progress" };
    world.override = { sendMoneyWrite: refusedBy(409, refusal) };
    const backOffsMs: number[] = [];
    for (let turns = 0; turns < 4; turns += 1) {
      const { serviceMs } = await world.context().clockOf("acme").now();
      await world.pay(runId);
      const { notBeforeMs } = await world.backOffOf(runId, payableId);
      backOffsMs.push(notBeforeMs - serviceMs);
      await world.world.pass(15 * MINUTE_MS);
    }
    expect(backOffsMs.toSorted((one, other) => one - other)).toEqual(backOffsMs);
    expect(backOffsMs.at(-1)).toBeGreaterThan(10_000);
  });
});

describe("a request without an answer", () => {
  test("an unanswered request keeps its key and bytes when its run is cancelled and another pays the bill", async ({
    world,
  }) => {
    withoutPauses();
    const { runId, payableId } = await world.approvedRun([{}]);
    world.override = { sendMoneyWrite: () => Promise.resolve(lost) };
    await world.pay(runId);
    const [sent] = await attempts(world, payableId);
    expect(sent).toMatchObject({ state: "open" });
    await world.store.transaction((trx) => requestCancel(trx, runId, "olga", Date.now()));
    // Only a look after the window is conclusive about what was sent.
    expect((await world.assess(runId)).phase).not.toBe("cancelled");
    await world.world.pass(10 * MINUTE_MS);
    await world.pay(runId);
    expect((await world.assess(runId)).phase).toBe("cancelled");
    world.override = {};
    const next = await world.approvedRun([]);
    await world.pay(next.runId);
    expect(await attempts(world, payableId)).toMatchObject([
      { seq: 1, state: "applied", body: sent?.body },
    ]);
    expect(await world.paymentsOf(payableId)).toHaveLength(1);
  });

  test("an unanswered request is sent again with back-off", async ({ world }) => {
    withoutPauses();
    const { runId, payableId } = await world.approvedRun([{}]);
    world.override = { sendMoneyWrite: () => Promise.resolve(lost) };
    for (let turns = 0; turns < 6; turns += 1) {
      await world.pay(runId);
      await world.world.pass(10 * MINUTE_MS);
    }
    const { serviceMs } = await world.context().clockOf("acme").now();
    await world.pay(runId);
    const { notBeforeMs } = await world.backOffOf(runId, payableId);
    expect(notBeforeMs - serviceMs).toBeGreaterThan(2 * MINUTE_MS);
    expect(await attempts(world, payableId)).toHaveLength(1);
  });

  test("an unanswered request causes a notice with the reason after an hour", async ({ world }) => {
    withoutPauses();
    const { runId, payableId } = await world.approvedRun([{}]);
    world.override = { sendMoneyWrite: () => Promise.resolve(lost) };
    await world.pay(runId);
    for (let turns = 0; turns < 4; turns += 1) {
      await world.world.pass(20 * MINUTE_MS);
      await world.pay(runId);
    }
    const notices = await world.store.db
      .selectFrom("notices")
      .select(["kind", "subject"])
      .where("data", "like", `%${payableId}%`)
      .execute();
    expect(notices).toEqual([
      {
        kind: "payment-late",
        subject: expect.stringContaining("no conclusive response for an hour"),
      },
    ]);
  });
});

describe("a refusal after an unanswered request", () => {
  test.for([
    [422, { error: "validation_error", message: "no" }],
    [422, { error: "contact_not_payable", message: "no bank account" }],
  ] as const)(
    "a refusal with %i %o after an unanswered request leads to a lookup that adopts the payment",
    async ([status, body], { world }) => {
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
      // The first request arrives late.
      world.override = {};
      await world.context().clientOf("acme").sendMoneyWrite(write);
      await world.world.pass(MINUTE_MS);
      await world.pay(runId);
      expect(await world.line(runId, payableId)).toMatchObject({ state: "scheduled" });
      expect(await world.paymentsOf(payableId)).toHaveLength(1);
    },
  );
});

test("a line that goes back to approval says why", async ({ world }) => {
  const { runId, payableId } = await world.approvedRun([{}]);
  await world.control.changeContact("v1", { bankAccount: { accountNumber: "00009999" } });
  await world.pay(runId);
  const back = {
    state: "awaiting-approval",
    reasonCode: "changed_since_approval",
    reason: expect.stringContaining("••9999"),
  };
  expect(await world.line(runId, payableId)).toMatchObject(back);
  await world.assess(runId);
  expect(await world.line(runId, payableId)).toMatchObject(back);
  expect(await world.paymentsOf(payableId)).toEqual([]);
});

test("a line that is not approved in time releases its claim, even after a refused request", async ({
  world,
}) => {
  const { runId, payableId } = await world.approvedRun([{}]);
  await world.control.changeBusiness({ paymentsLocked: true });
  await world.pay(runId);
  expect(await attempts(world, payableId)).toMatchObject([{ state: "refused" }]);
  await world.store.db.updateTable("line_approvals").set({ expires_at_ms: 1 }).execute();
  await world.store.db.updateTable("runs").set({ approve_by_ms: 1 }).execute();
  expect((await world.assess(runId)).phase).toBe("expired");
  expect((await claimOwners(world.store.db, world.businessId, [payableId])).size).toBe(0);
});

test("a second answer to one request changes nothing, holds the bill and causes a notice", async ({
  world,
}) => {
  withoutPauses();
  const { runId, payableId } = await world.approvedRun([{}]);
  world.override = { sendMoneyWrite: () => Promise.resolve(lost) };
  await world.pay(runId);
  const { db } = world.store;
  const row = await db
    .selectFrom("sends")
    .selectAll()
    .where("subject", "=", payableId)
    .orderBy("send_no")
    .executeTakeFirstOrThrow();
  const send = {
    businessId: world.businessId,
    subject: payableId,
    operation: "pay",
    seq: row.seq,
    sendNo: row.send_no,
    sendId: row.send_id,
    attemptId: row.attempt_id,
    terms: { owner: runId },
  } as OpenedSend;
  const heard = { send, status: 429, code: null, message: null, answerDateMs: null, madeIds: [] };
  await world.store.transactionOf(world.businessId, (trx) =>
    recordResults(trx, world.businessId, [{ ...heard, result: "refused" }]),
  );
  const stored = await db
    .selectFrom("sends")
    .select("result")
    .where("send_id", "=", row.send_id)
    .executeTakeFirstOrThrow();
  expect(stored.result).toBe("unknown");
  expect(await world.holds()).toMatchObject([{ scope: "payable", value: payableId }]);
  const notice = db.selectFrom("notices").select("kind").where("kind", "=", "late-answer");
  expect(await notice.execute()).toHaveLength(1);
});

describe("a lane whose store is briefly unavailable", () => {
  test("a lane whose store fails records for each request that it has not begun that it was not sent", async ({
    world,
  }) => {
    const { runId } = await world.approvedRun(Array.from({ length: 80 }, () => ({})));
    const { store } = world;
    const results = async () => {
      const sent = store.db.selectFrom("sends").where("owner", "=", runId);
      return (await sent.select("result").execute()).map(({ result }) => result);
    };
    const transactionOf = store.transactionOf.bind(store);
    let isAway = false;
    vi.spyOn(store, "transactionOf").mockImplementation((...asked) =>
      isAway ? Promise.reject(new Error("the store is away")) : transactionOf(...asked),
    );
    // It is back once every request of the lane has ended, and the lane gives its lines back.
    const closes = vi.spyOn(LaneBook.prototype, "close").mockImplementation(function (
      this: LaneBook,
      unsent,
    ) {
      isAway = false;
      closes.mockRestore();
      return this.close(unsent);
    });
    onTestFinished(() => closes.mockRestore());
    let sends = 0;
    world.override = {
      sendMoneyWrite: async () => {
        sends += 1;
        // The gate lets more through while the first requests are under way.
        await vi.waitUntil(async () => (await results()).length > IN_FLIGHT, WAITING);
        isAway = true;
        // Every request of the lane is under way by the time one of them ends.
        await vi.waitUntil(() => sends === IN_FLIGHT, WAITING);
        return lost;
      },
    };
    await expect(world.pay(runId)).rejects.toThrow("the store is away");
    const all = await results();
    expect(sends).toBe(IN_FLIGHT);
    expect(all.length).toBeGreaterThan(sends);
    expect(all.filter((result) => result === "not-sent")).toHaveLength(all.length - sends);
  });

  /** Requests that a lane keeps under way. */
  const IN_FLIGHT = 20;
  const WAITING = { timeout: PATIENCE_MS, interval: 5 };
});
