import { describe, expect } from "vitest";
import { retryFailedPaymentId } from "../../src/contracts/workflow-kinds.ts";
import type { Payment, PaymentsClient } from "../../src/payments-api/index.ts";
import { holdForLoss } from "../../src/store/janitor/behind.ts";
import { listNotices } from "../../src/store/notices/notices.ts";
import { LateChanges } from "../../src/janitor/late-changes.ts";
import { type MoneyWorld, test } from "../activities/money-world.ts";
import { ClockReading } from "../../src/business/clock.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

type Asked = Parameters<PaymentsClient["payments"]["list"]>[0];

/**
 * A service with many payments, newest first, and the processes that look for late changes in it.
 */
class History {
  /** Newest first. */
  payments: Payment[] = [];
  readonly asked: NonNullable<Asked>[] = [];
  /** The longest page that the service returns. */
  pageSize = 100;
  keepsFilters = true;
  readonly world: MoneyWorld;
  nowMs: number;

  constructor(world: MoneyWorld, nowMs: number) {
    this.world = world;
    this.nowMs = nowMs;
  }

  /** Makes a process that takes its turns once a minute. */
  process(): { turn(): Promise<void> } {
    const context = this.world.context();
    const client = { payments: { list: (query: Asked) => this.#list(query) } };
    const now = () => new ClockReading({ businessMs: this.nowMs, serviceHeard: true });
    const watch = new LateChanges(
      {
        ...{ store: context.store, temporal: context.temporal, log: context.log },
        profiles: { all: () => [this.world.world.profile] },
        clientOf: () => client as unknown as PaymentsClient,
        clockOf: () => ({
          now: () => Promise.resolve(now()),
          readAnew: () => Promise.resolve(now()),
          observeServiceDate: () => {},
          hasMoved: () => Promise.resolve(false),
        }),
      },
      MINUTE_MS,
      0,
    );
    return { turn: () => watch.turn(new AbortController().signal) };
  }

  #list({ page = 1, pageSize = 25, createdAfter, createdBefore }: NonNullable<Asked> = {}) {
    this.asked.push({ page, pageSize, createdAfter, createdBefore });
    const length = Math.min(pageSize, this.pageSize);
    const { payments, keepsFilters } = this;
    const newer = payments.findIndex(({ createdAt }) => (createdAt ?? "") < (createdBefore ?? "z"));
    const older = payments.findLastIndex(
      ({ createdAt }) => (createdAt ?? "") >= (createdAfter ?? ""),
    );
    const [from, to] = keepsFilters ? [newer, older + 1] : [0, payments.length];
    const at = from + (page - 1) * length;
    const items = payments.slice(at, Math.min(to, at + length));
    return Promise.resolve({ items, totalCount: to - from });
  }
}

/**
 * Makes a settled bill whose payment was made some days ago and comes back now, and many others.
 */
async function history(
  world: MoneyWorld,
  others: number,
  daysAgo: number,
): Promise<[History, string]> {
  const { runId, payableId } = await world.approvedRun([{}]);
  await world.pay(runId);
  await world.control.advance("P9D");
  await world.follow(runId);
  await world.assess(runId);
  const { businessMs } = await world.context().clockOf("acme").now();
  const [own] = await world.context().clientOf("acme").payments.listAll({ payableId });
  if (own === undefined) throw new Error("nothing was paid");
  const made = new History(world, businessMs);
  const madeMs = (part: number): string =>
    new Date(businessMs - part * daysAgo * DAY_MS).toISOString();
  made.payments = Array.from({ length: others }, (_, index) => ({
    ...own,
    ...{ id: `pay_${index}`, payableId: `bill_${index}`, status: "completed" },
    createdAt: madeMs((index + 1) / (others + 1)),
  }));
  made.payments.push({ ...own, status: "returned", createdAt: madeMs(1) });
  return [made, payableId];
}

/** Takes turns until a workflow is signaled, for at most two days; returns their number. */
async function turnsUntilTold(
  world: MoneyWorld,
  made: History,
  process: { turn(): Promise<void> },
): Promise<number> {
  const most = (2 * DAY_MS) / MINUTE_MS;
  for (let turns = 1; turns <= most; turns += 1) {
    const before = made.asked.length;
    await process.turn();
    expect(made.asked.length - before).toBeLessThanOrEqual(25);
    if (world.told.length > 0) return turns;
    made.nowMs += MINUTE_MS;
  }
  throw new Error("nobody was told within two days");
}

describe("a payment that comes back", () => {
  test("a returned payment is found within a day among 60,000, in bounded turns, by any process", async ({
    world,
  }) => {
    const [made, payableId] = await history(world, 60_000, 70);
    const first = made.process();
    await first.turn();
    made.nowMs += 6 * HOUR_MS;
    await first.turn();
    expect(made.asked).toHaveLength(25);
    // The process that began dies; another goes on from the same place.
    await world.store.db.deleteFrom("leases").execute();
    const turns = await turnsUntilTold(world, made, made.process());
    expect(turns * MINUTE_MS).toBeLessThan(DAY_MS - 6 * HOUR_MS);
    // 601 pages have payments, and an empty one shows that there are no more.
    expect(made.asked.map(({ page }) => page)).toEqual(
      Array.from({ length: 602 }, (_, index) => index + 1),
    );
    expect(world.told).toEqual([retryFailedPaymentId("acme", payableId)]);
  });

  test("a returned payment is found with pages of two, and new payments don't shift the pages", async ({
    world,
  }) => {
    const [made] = await history(world, 100, 70);
    made.pageSize = 2;
    const process = made.process();
    await process.turn();
    made.nowMs += 6 * HOUR_MS;
    await process.turn();
    const [own] = made.payments.slice(-1);
    if (own === undefined) throw new Error("no payment");
    const createdAt = new Date(made.nowMs + 1_000).toISOString();
    made.payments.unshift({ ...own, id: "pay_new", payableId: "bill_new", createdAt });
    await turnsUntilTold(world, made, process);
    expect(made.asked).toHaveLength(52);
  });
});

test("a payment that comes back after its retry settled it signals the retry, though the run goes on", async ({
  world,
}) => {
  await world.failurePlaybook(
    "kind: retry-failed\nrules: [{ match: [R01], retry: next-business-day, atMost: 1 }]\n",
  );
  const { runId, payableIds } = await world.approvedRun([{}, { contactId: "v2" }]);
  const [payableId = "", held = ""] = payableIds;
  await world.control.outcome({ match: { payableId: held }, outcome: "hold" });
  await world.control.outcome({ match: { payableId }, outcome: "fail", code: "R01", times: 1 });
  await world.pay(runId);
  await world.control.advance("P9D");
  await world.follow(runId);
  expect((await world.look(payableId)).phase).toBe("waiting");
  await world.control.advance("P4D");
  expect((await world.look(payableId)).phase).toBe("pay");
  await world.retry(payableId);
  await world.control.advance("P9D");
  expect(await world.look(payableId)).toMatchObject({ phase: "ended", outcome: "settled" });
  expect((await world.assess(runId)).ended).toBe(false);
  const { businessMs } = await world.context().clockOf("acme").now();
  const payments = await world.context().clientOf("acme").payments.listAll({ payableId });
  const made = new History(world, businessMs);
  made.payments = payments.map((payment) =>
    payment.status === "completed" ? { ...payment, status: "returned" } : payment,
  );
  const process = made.process();
  await process.turn();
  made.nowMs += 6 * HOUR_MS;
  world.told.length = 0;
  await process.turn();
  expect(world.told).toEqual([retryFailedPaymentId("acme", payableId)]);
});

describe("returned payments that a restored store has no record of", () => {
  /**
   * Makes three unknown payments, one that has arrived, one made after the loss, and one of ours.
   */
  async function restored(world: MoneyWorld, isLoss: boolean): Promise<History> {
    const [made] = await history(world, 5, 20);
    const at = (days: number): string => new Date(made.nowMs + days * DAY_MS).toISOString();
    made.payments = made.payments.map((payment, index) => ({
      ...payment,
      status: index === 4 ? "completed" : "returned",
      failureReason: "R01 Insufficient funds",
      updatedAt: at(0),
      ...(index === 0 ? { createdAt: at(1 / 24) } : {}),
    }));
    const { businessId } = world;
    const loss = {
      businessId,
      evidence: "a test",
      hadItAtMs: 1,
      serviceMs: made.nowMs,
      businessMs: null,
    };
    if (isLoss) await world.store.transaction((trx) => holdForLoss(trx, loss));
    return made;
  }

  /** Makes a process read everything this many times. */
  async function passes(
    made: History,
    times: number,
    process = made.process(),
  ): Promise<ReturnType<History["process"]>> {
    await process.turn();
    for (let pass = 0; pass < times; pass += 1) {
      made.nowMs += 6 * HOUR_MS;
      await process.turn();
    }
    return process;
  }

  const noticesOf = ({ store }: MoneyWorld) =>
    listNotices(store.db, { kind: "payment-not-on-record", limit: 10 });

  test("returned payments without a record are listed to an operator in one notice, each once", async ({
    world,
  }) => {
    const made = await restored(world, true);
    const process = await passes(made, 2);
    const [told, ...others] = await noticesOf(world);
    expect(others).toEqual([]);
    expect(told).toMatchObject({
      subject: "3 payments that this store has no record of have come back",
      roles: ["operator"],
      data: { payments: ["pay_1", "pay_2", "pay_3"].map((paymentId) => ({ paymentId })) },
    });
    expect(told?.text).toMatch(/- pay_1, \$[\d.,]+ to .*\(v1\) for bill_1, was returned: R01/);
    expect(told?.text).toMatch(/after the backup.*or someone else made them/);
    const [first] = made.payments.slice(1);
    if (first === undefined) throw new Error("no payments");
    made.payments.splice(1, 0, { ...first, id: "pay_later" });
    await passes(made, 1, process);
    expect((await noticesOf(world)).map(({ subject }) => subject)).toEqual([
      expect.stringMatching(/^A payment of .* no record of was returned$/),
      told?.subject,
    ]);
  });

  test("returned payments without a record are ignored if the store has lost nothing", async ({
    world,
  }) => {
    await passes(await restored(world, false), 2);
    expect(await noticesOf(world)).toEqual([]);
  });
});

describe("a business with a long past", () => {
  test.for([true, false])(
    "a long past is read only as far back as payments can come back, with filters kept: %s",
    async (keepsFilters, { world }) => {
      const [made] = await history(world, 2_000, 700);
      made.keepsFilters = keepsFilters;
      const process = made.process();
      for (let turns = 0; turns < 8 * 60; turns += 1) {
        await process.turn();
        made.nowMs += MINUTE_MS;
      }
      // 135 of 700 days.
      expect(made.asked.length).toBeGreaterThanOrEqual(4);
      expect(made.asked.length).toBeLessThanOrEqual(6);
      expect(world.told).toEqual([]);
    },
  );

  test("payments are not read at all if none can come back any more", async ({ world }) => {
    const [made] = await history(world, 2_000, 60);
    const process = made.process();
    await process.turn();
    made.nowMs += 400 * DAY_MS;
    await process.turn();
    await process.turn();
    expect(made.asked).toEqual([]);
  });
});

test("only one of several processes reads", async ({ world }) => {
  const [made] = await history(world, 2_000, 60);
  const [one, other] = [made.process(), made.process()];
  await one.turn();
  made.nowMs += 6 * HOUR_MS;
  await other.turn();
  expect(made.asked).toEqual([]);
  await one.turn();
  expect(made.asked).toHaveLength(22);
});
