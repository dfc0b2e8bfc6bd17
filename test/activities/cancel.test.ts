import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { assessCancellation } from "../../activities/cancel/assess-cancellation.ts";
import { cancelLane } from "../../activities/cancel/cancel-lane.ts";
import { chooseCancellation } from "../../activities/cancel/choose.ts";
import { cancelScheduledPaymentsId } from "../../src/contracts/names.ts";
import type { CancelChoice } from "../../src/contracts/playbook.ts";
import { cancelOfPayments } from "../../src/domain/cancellations/policy.ts";
import { listItems } from "../../src/store/cancellation-items.ts";
import { insertCancellation } from "../../src/store/cancellations.ts";
import { activeHolds } from "../../src/store/holds.ts";
import { listNotices } from "../../src/store/notices.ts";
import type { Json } from "../support/sandbox.ts";
import { MoneyWorld } from "./money-world.ts";
import { inDays } from "./planning-world.ts";

let world: MoneyWorld;
let made = 0;

beforeAll(async () => {
  world = await MoneyWorld.start();
});
afterAll(async () => {
  await world.stop();
});
beforeEach(async () => {
  await world.world.reset();
  world.override = {};
  await world.control.faults();
  await world.store.db.deleteFrom("business_waits").execute();
});

/** Asks for payments to be cancelled, and chooses them; answers the request's id. */
async function ask(choose: Partial<CancelChoice>): Promise<string> {
  made += 1;
  const workflowId = cancelScheduledPaymentsId("acme", `test-${made}`);
  const policy = cancelOfPayments([]);
  await insertCancellation(world.store.db, {
    workflowId,
    businessId: world.businessId,
    business: "acme",
    playbook: "",
    policy: { ...policy, choose: { ...policy.choose, payments: null, ...choose } },
    runId: null,
    reason: "wrong",
    requestedBy: "olga",
    nowMs: Date.now(),
  });
  await chooseCancellation(world.context(), workflowId);
  return workflowId;
}

/** Turns of the workflow, until nothing is left to cancel. */
async function turns(id: string, most = 12): Promise<void> {
  for (let turn = 0; turn < most; turn += 1) {
    const now = await assessCancellation(world.context(), id);
    if (now.ended) return;
    const stop = new AbortController().signal;
    await cancelLane(world.context(), { id, by: `test/${turn}`, stop });
    await world.control.advanceWire("PT30S");
  }
}

async function items(id: string): Promise<string[]> {
  const found = await listItems(world.store.db, id);
  return found.map(({ paymentId, state }) => `${paymentId} ${state}`);
}

/** Pays a bill at the service as somebody else would. */
async function payment(payableId: string, more: Json = {}): Promise<string> {
  const { status, body } = await world.world.sandbox.api<{ payments: { id: string }[] }>(
    "POST",
    "/v1/payments",
    {
      key: crypto.randomUUID(),
      body: { payableId, paymentRail: "SERVICE", fundingSource: "balance", ...more },
    },
  );
  if (status !== 201) throw new Error(JSON.stringify(body));
  return body.payments[0]?.id ?? "";
}

async function bill(totalAmountCents: number): Promise<string> {
  const { id } = await world.control.createPayable({
    contactId: "v1",
    totalAmountCents,
    dueDate: inDays(8),
    status: "approved",
  });
  return id;
}

/** Counts the cancels that leave, and answers each as a service that refuses it. */
function refuseCancels(): { sent: number } {
  const counted = { sent: 0 };
  const body = { error: "payment_not_cancellable", message: "no", details: { status: "held" } };
  world.override = {
    sendMoneyWrite: () => {
      counted.sent += 1;
      const answer = { kind: "http", status: 409, body, bodyText: JSON.stringify(body) };
      return Promise.resolve(answer as never);
    },
  };
  return counted;
}

describe("a held payment that the service refuses to cancel", () => {
  test("beside several scheduled ones is named as that, after one request", async () => {
    const payableId = await bill(60_000);
    await world.control.outcome({ match: { payableId }, outcome: "hold", times: 1 });
    const held = await payment(payableId, { amountCents: 10_000 });
    await world.control.advance("PT1M");
    for (const amountCents of [20_000, 30_000]) {
      await payment(payableId, { amountCents, scheduledAt: inDays(5) });
    }
    const counted = refuseCancels();
    const id = await ask({ payments: [held] });
    await turns(id);
    expect(await items(id)).toEqual([`${held} several-scheduled`]);
    expect(counted.sent).toBe(1);
  });

  test("for no reason that can be seen ends as unknown, after a few keys", async () => {
    const payableId = await bill(10_000);
    await world.control.outcome({ match: { payableId }, outcome: "hold", times: 1 });
    const held = await payment(payableId);
    await world.control.advance("PT1M");
    refuseCancels();
    const id = await ask({ payments: [held] });
    await turns(id, 40);
    expect(await items(id)).toEqual([`${held} unknown`]);
    const [item] = await listItems(world.store.db, id);
    expect(item).toMatchObject({ open: false, reason: expect.stringMatching(/Ask the service/) });
  });
});

describe("what is chosen of a run's bills", () => {
  test.each(["paying", "unknown", "retrying", "parked"] as const)(
    "takes what the service has scheduled of one that is %s",
    async (state) => {
      const planned = await world.approvedRun([{}, { contactId: "v2" }]);
      const { runId, payableId } = planned;
      const scheduled = await payment(payableId, { scheduledAt: inDays(5) });
      await world.store.db
        .updateTable("run_lines")
        .set({ state })
        .where("run_id", "=", runId)
        .where("payable_id", "=", payableId)
        .execute();
      const [, , playbook] = runId.split("/");
      const id = await ask({ run: playbook ?? "" });
      expect(await items(id)).toEqual([`${scheduled} unknown`]);
      const holds = await activeHolds(world.store.db, world.businessId, Date.now());
      expect(holds.map(({ value }) => value)).toContain(payableId);
      await turns(id);
      expect(await items(id)).toEqual([`${scheduled} cancelled`]);
    },
  );

  test("of a vendor begins with what runs soonest", async () => {
    const days = [9, 4, 6];
    const ids: string[] = [];
    for (const inSoMany of days) {
      ids.push(await payment(await bill(10_000), { scheduledAt: inDays(inSoMany) }));
    }
    const id = await ask({ vendor: "v1" });
    const expected = [ids[1], ids[2], ids[0]].map((each) => `${each} unknown`);
    expect(await items(id)).toEqual(expected);
  });
});

test("a payment that is asked for again keeps one hold on its bill, which one release lifts", async () => {
  const paymentId = await payment(await bill(10_000), { scheduledAt: inDays(5) });
  const holdOf = async (id: string) => (await listItems(world.store.db, id))[0]?.holdId;
  const first = await ask({ payments: [paymentId] });
  await turns(first);
  const again = await ask({ payments: [paymentId] });
  expect(await holdOf(again)).toBe(await holdOf(first));
  await turns(again);
  expect(await items(again)).toEqual([`${paymentId} cancelled`]);
});

test("people hear, once, of a cancel that doesn't get through while there is time to do something", async () => {
  const paymentId = await payment(await bill(10_000), { scheduledAt: inDays(5) });
  const body = { statusCode: 401, message: "Unauthorized" };
  const answer = { kind: "http", status: 401, body, bodyText: JSON.stringify(body) } as never;
  world.override = { sendMoneyWrite: () => Promise.resolve(answer) };
  const id = await ask({ payments: [paymentId] });
  const told = async () => {
    const notices = await listNotices(world.store.db, { kind: "payment-not-cancelled", limit: 50 });
    return notices.filter(({ data }) => data["id"] === id).map(({ text }) => text);
  };
  await turns(id, 2);
  expect(await told()).toEqual([]);
  await world.store.db
    .updateTable("cancellations")
    .set({ requested_at_ms: Date.now() - 11 * 60_000 })
    .where("workflow_id", "=", id)
    .execute();
  await turns(id, 3);
  expect(await told()).toEqual([expect.stringMatching(/token \(401\).*9:00 New York/)]);
});
