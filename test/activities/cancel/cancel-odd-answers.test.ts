import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { followRefunds } from "../../../activities/cancel/follow-refunds.ts";
import { PaymentsApiError } from "../../../src/payments-api/index.ts";
import { CancelWorld } from "../cancel-world.ts";
import { inDays } from "../planning-world.ts";

const DAY_MS = 86_400_000;

let world: CancelWorld;

beforeAll(async () => {
  world = await CancelWorld.start();
});
afterAll(async () => {
  await world.stop();
});
beforeEach(async () => {
  await world.reset();
});

async function scheduled(): Promise<string> {
  return world.payment(await world.bill(10_000), { scheduledAt: inDays(5) });
}

/** A payment that the bank holds for review, debited from the bank account already. */
async function held(): Promise<string> {
  const payableId = await world.bill(10_000);
  await world.money.control.outcome({ match: { payableId }, outcome: "hold", times: 1 });
  const paymentId = await world.payment(payableId);
  await world.money.control.advance("PT1M");
  return paymentId;
}

/** The service shows a payment as this, whatever it does with it. */
function showAs(change: Readonly<Record<string, unknown>>): void {
  const { payments } = world.money.context().clientOf("acme");
  world.money.override = {
    ...world.money.override,
    getPayment: async (id) => ({ ...(await payments.get(id)), ...change }),
  };
}

/** Answers every cancel like this, without doing anything, and counts them. */
function answerCancels(status: number, body: unknown): { sent: number } {
  const counted = { sent: 0 };
  world.money.override = {
    ...world.money.override,
    sendMoneyWrite: () => {
      counted.sent += 1;
      const answer = { kind: "http", status, body, bodyText: JSON.stringify(body) };
      return Promise.resolve(answer as never);
    },
  };
  return counted;
}

function refusedReads(status: number, isMeant: (id: string) => boolean): void {
  const { payments } = world.money.context().clientOf("acme");
  world.money.override = {
    getPayment: (id) =>
      isMeant(id)
        ? Promise.reject(
            new PaymentsApiError({ code: "validation_error", message: "no", status } as never),
          )
        : payments.get(id),
  };
}

describe("a payment in a state that is not known here", () => {
  test("is looked at again, and cancelled once it can be", async () => {
    const paymentId = await scheduled();
    showAs({ status: "on_review" });
    const id = await world.ask({ payments: [paymentId] });
    await world.turns(id, 3);
    expect(await world.shown(id)).toEqual([`${paymentId} unknown`]);
    world.money.override = {};
    await world.turns(id);
    expect(await world.shown(id)).toEqual([`${paymentId} cancelled`]);
  });

  test("is chosen by its vendor too, on the safe side", async () => {
    const paymentId = await scheduled();
    const { payments } = world.money.context().clientOf("acme");
    const all = await payments.listAll({ contactId: "v1" });
    const listAll = () => Promise.resolve(all.map((each) => ({ ...each, status: "queued" })));
    world.money.override = { listAll };
    const id = await world.ask({ vendor: "v1" });
    world.money.override = {};
    await world.turns(id);
    expect(await world.shown(id)).toEqual([`${paymentId} cancelled`]);
  });

  test("for days is left to a person, who is told", async () => {
    const paymentId = await scheduled();
    showAs({ status: "on_review" });
    const id = await world.ask({ payments: [paymentId] });
    await world.turns(id, 1);
    await world.age(id, 3 * DAY_MS);
    expect(await world.turns(id)).toMatchObject({ phase: "completed-with-exceptions" });
    expect((await world.itemsOf(id))[0]?.reason).toMatch(/on_review.*Ask the service/);
    expect(await world.told(id)).toContainEqual(
      expect.stringMatching(/not-cancelled: .*on_review/),
    );
  });
});

describe("a cancel that is answered with 200", () => {
  const said = { id: "", amountCents: 10_000, status: "scheduled" };

  test("and a payment that is scheduled still is believed once the payment shows it", async () => {
    const paymentId = await scheduled();
    const answered = answerCancels(200, { payment: { ...said, id: paymentId }, message: "soon" });
    const id = await world.ask({ payments: [paymentId] });
    await world.turns(id, 2);
    expect(await world.shown(id)).toEqual([`${paymentId} unknown`]);
    expect(answered.sent).toBeGreaterThan(0);
    showAs({ status: "cancelled" });
    await world.turns(id);
    expect(await world.shown(id)).toEqual([`${paymentId} cancelled`]);
  });

  test("and never done is asked for anew ever more rarely, and in the end left to a person", async () => {
    const paymentId = await held();
    const keys = new Set<string>();
    const body = { payment: { ...said, id: paymentId, status: "held" } };
    world.money.override = {
      sendMoneyWrite: ({ idempotencyKey }) => {
        keys.add(idempotencyKey);
        const answer = { kind: "http", status: 200, body, bodyText: JSON.stringify(body) };
        return Promise.resolve(answer as never);
      },
    };
    const id = await world.ask({ payments: [paymentId] });
    await world.turns(id, 25);
    expect(await world.shown(id)).toEqual([`${paymentId} unknown`]);
    await world.age(id, 3 * DAY_MS);
    expect(await world.turns(id)).toMatchObject({ phase: "completed-with-exceptions" });
    // In a quarter of an hour.
    expect(keys.size).toBeLessThan(8);
  });

  test("and another payment is not believed", async () => {
    const paymentId = await scheduled();
    answerCancels(200, { payment: { ...said, id: "pay_other", status: "cancelled" } });
    const id = await world.ask({ payments: [paymentId] });
    await world.turns(id, 2);
    expect(await world.shown(id)).toEqual([`${paymentId} unknown`]);
    world.money.override = {};
    await world.turns(id);
    expect(await world.shown(id)).toEqual([`${paymentId} cancelled`]);
  });
});

describe("a cancel that is refused with a code that the specification doesn't list", () => {
  test.each([409, 423])("and %i, which passes, is tried again", async (status) => {
    const paymentId = await scheduled();
    const refused = answerCancels(status, { error: "payment_busy", message: "try later" });
    const id = await world.ask({ payments: [paymentId] });
    // Minutes of the service's clock.
    await world.turns(id, 8);
    expect(refused.sent).toBeGreaterThan(2);
    world.money.override = {};
    expect(await world.turns(id)).toMatchObject({ phase: "completed" });
    expect(await world.shown(id)).toEqual([`${paymentId} cancelled`]);
  });

  test("and 422 is asked once, and left to a person when it certainly did nothing", async () => {
    const paymentId = await scheduled();
    const refused = answerCancels(422, { error: "cancel_needs_owner", message: "ask the owner" });
    const id = await world.ask({ payments: [paymentId] });
    await world.turns(id, 2);
    expect((await world.itemsOf(id))[0]).toMatchObject({ state: "unknown", open: true });
    await world.turns(id, 20);
    expect(refused.sent).toBe(1);
    expect((await world.itemsOf(id))[0]).toMatchObject({ state: "unknown", open: false });
    expect(await world.told(id)).toContainEqual(expect.stringContaining("ask the owner"));
  });
});

describe("an id", () => {
  test.each(["..", "."])("like “%s” is no payment, and keeps no other one back", async (odd) => {
    const paymentId = await scheduled();
    const id = await world.ask({ payments: [odd, paymentId] });
    expect(await world.turns(id)).toMatchObject({ phase: "completed-with-exceptions" });
    expect(await world.shown(id)).toEqual([`${odd} unknown`, `${paymentId} cancelled`]);
  });

  test.each([400, 404, 422])("that the service refuses with %i is no payment", async (status) => {
    const paymentId = await scheduled();
    refusedReads(status, (id) => id === "not ours");
    const id = await world.ask({ payments: ["not ours", paymentId] });
    await world.turns(id);
    expect(await world.shown(id)).toEqual(["not ours unknown", `${paymentId} cancelled`]);
  });

  test("that was shown a moment ago is looked for again before it is given up", async () => {
    const paymentId = await scheduled();
    const id = await world.ask({ payments: [paymentId] });
    refusedReads(404, () => true);
    await world.turns(id, 2);
    expect((await world.itemsOf(id))[0]).toMatchObject({ open: true });
    world.money.override = {};
    await world.turns(id);
    expect(await world.shown(id)).toEqual([`${paymentId} cancelled`]);
  });
});

describe("a refund", () => {
  async function returning(): Promise<{ readonly id: string; readonly paymentId: string }> {
    const paymentId = await held();
    const answer = { payment: { id: paymentId, amountCents: 10_000, status: "refund_pending" } };
    answerCancels(200, answer);
    const id = await world.ask({ payments: [paymentId] });
    await world.turns(id, 1);
    expect(await world.shown(id)).toEqual([`${paymentId} refund_pending`]);
    return { id, paymentId };
  }

  async function follow(id: string): Promise<void> {
    await world.money.store.db
      .updateTable("cancellation_items")
      .set({ poll_at_ms: 0 })
      .where("workflow_id", "=", id)
      .execute();
    await followRefunds(world.money.context(), id);
  }

  test("that never comes is told of once, and followed further", async () => {
    const { id } = await returning();
    showAs({ status: "refund_pending" });
    await world.money.control.advance("P9D");
    for (let times = 0; times < 3; times += 1) await follow(id);
    expect(await world.told(id)).toEqual([expect.stringMatching(/^refund-late: /)]);
    expect((await world.itemsOf(id))[0]).toMatchObject({ state: "refund_pending", open: true });
  });

  test("whose money went out after all is told of", async () => {
    const { id, paymentId } = await returning();
    showAs({ status: "completed" });
    await follow(id);
    expect(await world.shown(id)).toEqual([`${paymentId} unknown`]);
    expect(await world.told(id)).toEqual([
      expect.stringMatching(/^payment-not-cancelled: .*completed/),
    ]);
  });

  test("that the service takes back is cancelled anew, under the next key", async () => {
    const { id, paymentId } = await returning();
    world.money.override = {};
    await follow(id);
    expect(await world.shown(id)).toEqual([`${paymentId} unknown`]);
    await world.turns(id, 3);
    expect(await world.shown(id)).toEqual([`${paymentId} refunded`]);
  });

  test("of a payment that the service doesn't show any more holds up no other one", async () => {
    const { id } = await returning();
    refusedReads(404, () => true);
    await follow(id);
    expect((await world.itemsOf(id))[0]).toMatchObject({ state: "refund_pending", open: true });
  });
});
