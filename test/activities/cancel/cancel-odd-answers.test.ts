import { keepNames } from "../../../src/store/names/names.ts";
import { listNotices } from "../../../src/store/notices/notices.ts";
import { describe, expect } from "vitest";
import { followRefunds } from "../../../activities/cancel/follow-refunds.ts";
import { PaymentsApiError } from "../../../src/payments-api/index.ts";
import { type CancelWorld, test } from "../cancel-world.ts";
import { inDays } from "../planning-world.ts";
import type { MoneyWorld } from "../money-world.ts";

const DAY_MS = 86_400_000;

async function scheduled(cancels: CancelWorld): Promise<string> {
  return cancels.payment(await cancels.bill(10_000), { scheduledAt: inDays(5) });
}

/** A payment that the bank holds for review, debited from the bank account already. */
async function held(cancels: CancelWorld): Promise<string> {
  const payableId = await cancels.bill(10_000);
  await cancels.money.control.outcome({ match: { payableId }, outcome: "hold", times: 1 });
  const paymentId = await cancels.payment(payableId);
  await cancels.money.control.advance("PT1M");
  return paymentId;
}

/** Shows every payment with this change, whatever is done to it. */
function showAs(world: MoneyWorld, change: Readonly<Record<string, unknown>>): void {
  const { payments } = world.context().clientOf("acme");
  world.override = {
    ...world.override,
    getPayment: async (id) => ({ ...(await payments.get(id)), ...change }),
  };
}

/** Answers every cancel with this response without doing anything, and counts the cancels. */
function answerCancels(world: MoneyWorld, status: number, body: unknown): { sent: number } {
  const counted = { sent: 0 };
  world.override = {
    ...world.override,
    sendMoneyWrite: () => {
      counted.sent += 1;
      const answer = { kind: "http", status, body, bodyText: JSON.stringify(body) };
      return Promise.resolve(answer as never);
    },
  };
  return counted;
}

function refusedReads(world: MoneyWorld, status: number, isMeant: (id: string) => boolean): void {
  const { payments } = world.context().clientOf("acme");
  world.override = {
    getPayment: (id) =>
      isMeant(id)
        ? Promise.reject(
            new PaymentsApiError({ code: "validation_error", message: "no", status } as never),
          )
        : payments.get(id),
  };
}

describe("cancelling a payment in an unknown state", () => {
  test("a payment in an unknown state is read again, and cancelled once that is possible", async ({
    cancels,
    world,
  }) => {
    const paymentId = await scheduled(cancels);
    showAs(world, { status: "on_review" });
    const id = await cancels.ask({ payments: [paymentId] });
    await cancels.turns(id, 3);
    expect(await cancels.shown(id)).toEqual([`${paymentId} unknown`]);
    world.override = {};
    await cancels.turns(id);
    expect(await cancels.shown(id)).toEqual([`${paymentId} cancelled`]);
  });

  test("choosing by vendor includes a payment in an unknown state, to be safe", async ({
    cancels,
    world,
  }) => {
    const paymentId = await scheduled(cancels);
    const { payments } = world.context().clientOf("acme");
    const all = await payments.listAll({ contactId: "v1" });
    const listAll = () => Promise.resolve(all.map((each) => ({ ...each, status: "queued" })));
    world.override = { listAll };
    const id = await cancels.ask({ vendor: "v1" });
    world.override = {};
    await cancels.turns(id);
    expect(await cancels.shown(id)).toEqual([`${paymentId} cancelled`]);
  });

  test("a payment that stays in an unknown state for days is left to a person, with a notice", async ({
    cancels,
    world,
  }) => {
    const paymentId = await scheduled(cancels);
    showAs(world, { status: "on_review" });
    const id = await cancels.ask({ payments: [paymentId] });
    await cancels.turns(id, 1);
    await cancels.age(id, 3 * DAY_MS);
    expect(await cancels.turns(id)).toMatchObject({ phase: "completed-with-exceptions" });
    expect((await cancels.itemsOf(id))[0]?.reason).toMatch(/on_review.*Ask the service/);
    expect(await cancels.told(id)).toContainEqual(
      expect.stringMatching(/not-cancelled: .*on_review/),
    );
  });
});

test("a cancel of a bill's or a vendor's payments chooses no others, though the service lists all payments for each", async ({
  cancels,
  world,
}) => {
  const payableId = await cancels.bill(10_000);
  const own = await cancels.payment(payableId, { scheduledAt: inDays(5) });
  const ofVendor = await scheduled(cancels);
  const other = await world.enter({ contactId: "v2" });
  await cancels.payment(other, { scheduledAt: inDays(5) });
  const { payments } = world.context().clientOf("acme");
  world.override = { listAll: (_, options) => payments.listAll({}, options) };
  const ofBill = await cancels.ask({ payable: payableId });
  expect(await cancels.shown(ofBill)).toEqual([`${own} unknown`]);
  const ofAll = await cancels.ask({ vendor: "v1" });
  const chosen = (await cancels.itemsOf(ofAll)).map(({ paymentId }) => paymentId);
  expect(new Set(chosen)).toEqual(new Set([own, ofVendor]));
});

describe("a cancel answered with 200", () => {
  const said = { id: "", amountCents: 10_000, status: "scheduled" };

  test("a cancel whose 200 answer shows a scheduled payment counts once a read shows it cancelled", async ({
    cancels,
    world,
  }) => {
    const paymentId = await scheduled(cancels);
    const answered = answerCancels(world, 200, {
      payment: { ...said, id: paymentId },
      message: "soon",
    });
    const id = await cancels.ask({ payments: [paymentId] });
    await cancels.turns(id, 2);
    expect(await cancels.shown(id)).toEqual([`${paymentId} unknown`]);
    expect(answered.sent).toBeGreaterThan(0);
    showAs(world, { status: "cancelled" });
    await cancels.turns(id);
    expect(await cancels.shown(id)).toEqual([`${paymentId} cancelled`]);
  });

  test("a cancel that is answered with 200 but never done is retried with back-off, then left to a person", async ({
    cancels,
    world,
  }) => {
    const paymentId = await held(cancels);
    const keys = new Set<string>();
    const body = { payment: { ...said, id: paymentId, status: "held" } };
    world.override = {
      sendMoneyWrite: ({ idempotencyKey }) => {
        keys.add(idempotencyKey);
        const answer = { kind: "http", status: 200, body, bodyText: JSON.stringify(body) };
        return Promise.resolve(answer as never);
      },
    };
    const id = await cancels.ask({ payments: [paymentId] });
    await cancels.turns(id, 25);
    expect(await cancels.shown(id)).toEqual([`${paymentId} unknown`]);
    await cancels.age(id, 3 * DAY_MS);
    expect(await cancels.turns(id)).toMatchObject({ phase: "completed-with-exceptions" });
    // Within a quarter of an hour.
    expect(keys.size).toBeLessThan(8);
  });

  test("a 200 answer to a cancel that names another payment does not count", async ({
    cancels,
    world,
  }) => {
    const paymentId = await scheduled(cancels);
    answerCancels(world, 200, { payment: { ...said, id: "pay_other", status: "cancelled" } });
    const id = await cancels.ask({ payments: [paymentId] });
    await cancels.turns(id, 2);
    expect(await cancels.shown(id)).toEqual([`${paymentId} unknown`]);
    world.override = {};
    await cancels.turns(id);
    expect(await cancels.shown(id)).toEqual([`${paymentId} cancelled`]);
  });
});

describe("a cancel refused with an undocumented code", () => {
  test.for([409, 423])(
    "a cancel refused with an undocumented code and %i is retried until it succeeds",
    async (status, { cancels, world }) => {
      const paymentId = await scheduled(cancels);
      const refused = answerCancels(world, status, { error: "payment_busy", message: "try later" });
      const id = await cancels.ask({ payments: [paymentId] });
      // Eight minutes on the service clock.
      await cancels.turns(id, 8);
      expect(refused.sent).toBeGreaterThan(2);
      world.override = {};
      expect(await cancels.turns(id)).toMatchObject({ phase: "completed" });
      expect(await cancels.shown(id)).toEqual([`${paymentId} cancelled`]);
    },
  );

  test("a cancel refused with an undocumented code and 422 is sent once, then left to a person", async ({
    cancels,
    world,
  }) => {
    const paymentId = await scheduled(cancels);
    const refused = answerCancels(world, 422, {
      error: "cancel_needs_owner",
      message: "ask the owner",
    });
    const id = await cancels.ask({ payments: [paymentId] });
    await cancels.turns(id, 2);
    expect((await cancels.itemsOf(id))[0]).toMatchObject({ state: "unknown", open: true });
    await cancels.turns(id, 20);
    expect(refused.sent).toBe(1);
    expect((await cancels.itemsOf(id))[0]).toMatchObject({ state: "unknown", open: false });
    expect(await cancels.told(id)).toContainEqual(expect.stringContaining("ask the owner"));
  });
});

describe("ids that name no payment", () => {
  test.for(["..", "."])(
    "an id like “%s” is not a payment, and does not keep other payments from being cancelled",
    async (odd, { cancels }) => {
      const paymentId = await scheduled(cancels);
      const id = await cancels.ask({ payments: [odd, paymentId] });
      expect(await cancels.turns(id)).toMatchObject({ phase: "completed-with-exceptions" });
      expect(await cancels.shown(id)).toEqual([`${odd} unknown`, `${paymentId} cancelled`]);
    },
  );

  test.for([400, 404, 422])(
    "an id that the service refuses with %i is not a payment",
    async (status, { cancels, world }) => {
      const paymentId = await scheduled(cancels);
      refusedReads(world, status, (id) => id === "not ours");
      const id = await cancels.ask({ payments: ["not ours", paymentId] });
      await cancels.turns(id);
      expect(await cancels.shown(id)).toEqual(["not ours unknown", `${paymentId} cancelled`]);
    },
  );

  test("a payment that was visible a moment ago is read again before it is given up", async ({
    cancels,
    world,
  }) => {
    const paymentId = await scheduled(cancels);
    const id = await cancels.ask({ payments: [paymentId] });
    refusedReads(world, 404, () => true);
    await cancels.turns(id, 2);
    expect((await cancels.itemsOf(id))[0]).toMatchObject({ open: true });
    world.override = {};
    await cancels.turns(id);
    expect(await cancels.shown(id)).toEqual([`${paymentId} cancelled`]);
  });
});

describe("following a refund", () => {
  async function returning(
    cancels: CancelWorld,
  ): Promise<{ readonly id: string; readonly paymentId: string }> {
    const paymentId = await held(cancels);
    const answer = { payment: { id: paymentId, amountCents: 10_000, status: "refund_pending" } };
    answerCancels(cancels.money, 200, answer);
    const id = await cancels.ask({ payments: [paymentId] });
    await cancels.turns(id, 1);
    expect(await cancels.shown(id)).toEqual([`${paymentId} refund_pending`]);
    return { id, paymentId };
  }

  async function follow(world: MoneyWorld, id: string): Promise<void> {
    await world.store.db
      .updateTable("cancellation_items")
      .set({ poll_at_ms: 0 })
      .where("workflow_id", "=", id)
      .execute();
    await followRefunds(world.context(), id);
  }

  test("a refund that never arrives causes one notice and is still followed", async ({
    cancels,
    world,
  }) => {
    const { id } = await returning(cancels);
    showAs(world, { status: "refund_pending" });
    await world.control.advance("P9D");
    for (let times = 0; times < 3; times += 1) await follow(world, id);
    expect(await cancels.told(id)).toEqual([expect.stringMatching(/^refund-late: /)]);
    expect((await cancels.itemsOf(id))[0]).toMatchObject({ state: "refund_pending", open: true });
  });

  test("a payment that went out despite its cancel causes a notice", async ({ cancels, world }) => {
    const { id, paymentId } = await returning(cancels);
    const [item] = await cancels.itemsOf(id);
    const called = { id: item?.payableId ?? "", number: "BILL-000071", name: "One" };
    await world.store.transaction((trx) =>
      keepNames(trx, world.businessId, [
        { kind: "bill", ...called, contactId: "v1", amountCents: 10_000 },
      ]),
    );
    showAs(world, { status: "completed" });
    await follow(world, id);
    expect(await cancels.shown(id)).toEqual([`${paymentId} unknown`]);
    expect(await cancels.told(id)).toEqual([
      expect.stringMatching(/^payment-not-cancelled: .*completed/),
    ]);
    const [{ subject } = { subject: "" }] = await listNotices(world.store.db, { limit: 1 });
    expect(subject).toMatch(/^One BILL-000071: a payment of \$100\.00 /);
  });

  test("a payment whose refund the service takes back is cancelled again, under the next key", async ({
    cancels,
    world,
  }) => {
    const { id, paymentId } = await returning(cancels);
    world.override = {};
    await follow(world, id);
    expect(await cancels.shown(id)).toEqual([`${paymentId} unknown`]);
    await cancels.turns(id, 3);
    expect(await cancels.shown(id)).toEqual([`${paymentId} refunded`]);
  });

  test("a refund whose payment the service no longer shows stays open and fails no look", async ({
    cancels,
    world,
  }) => {
    const { id } = await returning(cancels);
    refusedReads(world, 404, () => true);
    await follow(world, id);
    expect((await cancels.itemsOf(id))[0]).toMatchObject({ state: "refund_pending", open: true });
  });
});
