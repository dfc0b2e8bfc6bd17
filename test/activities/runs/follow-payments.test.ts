import { describe, expect } from "vitest";
import { followPayments } from "../../../activities/runs/follow-payments.ts";
import { retryFailedPaymentId } from "../../../src/contracts/workflow-kinds.ts";
import { PaymentsApiError, type Payment } from "../../../src/payments-api/index.ts";
import { listAudit } from "../../../src/store/audit/audit.ts";
import { changeLine } from "../../../src/store/lines/lines.ts";
import { listNotices } from "../../../src/store/notices/notices.ts";
import { getRetry } from "../../../src/store/retries/retries.ts";
import { type MoneyWorld, test } from "../money-world.ts";

/** Changes what the service shows of each payment from now on. */
function shows(world: MoneyWorld, change: (payment: Payment) => Partial<Payment>): void {
  world.override = {};
  const { payments } = world.context().clientOf("acme");
  world.override = {
    listAll: async (filter, options) => {
      const listed = await payments.listAll(filter, options);
      return listed.map((payment) => ({ ...payment, ...change(payment) }));
    },
  };
}

describe("handing a failed payment to its retry", () => {
  test("a failed payment gets its retry even if the first call to Temporal fails", async ({
    world,
  }) => {
    const { runId, payableId } = await world.approvedRun([{}]);
    await world.control.outcome({ match: { payableId }, outcome: "fail", code: "R01" });
    await world.pay(runId);
    await world.control.advance("P9D");
    world.temporalFault = new Error("connection lost");
    await expect(world.follow(runId)).rejects.toThrow("connection lost");
    expect((await world.assess(runId)).toFollow).toBe(1);
    await followPayments(world.context(), runId);
    expect(world.told).toEqual([retryFailedPaymentId("acme", payableId)]);
    expect((await world.line(runId, payableId)).state).toBe("retrying");
    expect(await getRetry(world.store.db, world.businessId, payableId)).toMatchObject({ runId });
    expect((await world.look(payableId)).phase).toBe("waiting");
  });
});

test("a vendor that the service doesn't find any more changes no payment, and operators hear of it once if it lasts", async ({
  world,
}) => {
  const { runId, payableIds } = await world.approvedRun([{}, {}, { contactId: "v2" }]);
  const [gone = "", alike = "", other = ""] = payableIds;
  await world.pay(runId);
  const context = world.context();
  const client = context.clientOf("acme");
  let isGone = true;
  const get = (id: string) => client.contacts.get(id === "v1" && isGone ? "con_gone" : id);
  const contacts = Object.create(client.contacts, {
    get: { value: get },
  }) as typeof client.contacts;
  const patched = Object.create(client, { contacts: { value: contacts } }) as typeof client;
  Object.defineProperty(context, "clientOf", { value: () => patched });
  const looks = async (): Promise<void> => {
    await world.store.db.updateTable("run_lines").set({ look: 1 }).execute();
    await followPayments(context, runId);
  };
  const told = () => listNotices(world.store.db, { runId, kind: "payment-in-doubt", limit: 9 });
  await looks();
  const { businessMs } = await context.clockOf("acme").now();
  expect(await told()).toEqual([]);
  for (let times = 0; times < 3; times += 1) await looks();
  for (const payableId of [gone, alike]) {
    const line = await world.line(runId, payableId);
    expect(line).toMatchObject({ state: "scheduled", reasonCode: "vendor_not_found" });
    expect(line.pollAtMs).toBeLessThanOrEqual(businessMs + 700_000);
  }
  expect(await world.line(runId, other)).toMatchObject({ state: "scheduled", reasonCode: null });
  expect(await told()).toMatchObject([
    { roles: ["operator"], data: { contactId: "v1", cancels: [] } },
  ]);
  expect(world.told).toEqual([]);
  expect(await world.holds()).toEqual([]);
  isGone = false;
  await looks();
  expect(await world.line(runId, gone)).toMatchObject({ state: "scheduled", reasonCode: null });
});

test("a vendor that can't be read keeps no payment from being followed, and is read again", async ({
  world,
}) => {
  const { runId, payableIds } = await world.approvedRun([{}, { contactId: "v2" }]);
  const [odd = "", other = ""] = payableIds;
  await world.pay(runId);
  const context = world.context();
  const client = context.clientOf("acme");
  let reads = 0;
  const get = (id: string) => {
    if (id !== "v1") return client.contacts.get(id);
    reads += 1;
    const broken = { status: 500, code: "server_error", outcome: "not_applied" } as const;
    const asked = { method: "GET", path: "/v1/contacts/v1", message: "broken" };
    return Promise.reject(new PaymentsApiError({ ...broken, ...asked }));
  };
  const contacts = Object.create(client.contacts, {
    get: { value: get },
  }) as typeof client.contacts;
  const patched = Object.create(client, { contacts: { value: contacts } }) as typeof client;
  Object.defineProperty(context, "clientOf", { value: () => patched });
  await world.store.db.updateTable("run_lines").set({ look: 1 }).execute();
  await followPayments(context, runId);
  expect(reads).toBe(1);
  const { businessMs } = await context.clockOf("acme").now();
  expect((await world.line(runId, odd)).pollAtMs).toBeLessThanOrEqual(businessMs + 600_000);
  expect(await world.line(runId, other)).toMatchObject({ state: "scheduled", look: false });
  expect(await world.store.db.selectFrom("business_waits").selectAll().execute()).toEqual([]);
});

test("an alarm keeps its code and its reason if a part of the bill fails", async ({ world }) => {
  const { runId, payableId } = await world.approvedRun([{ totalAmountCents: 138_750_00 }]);
  await world.pay(runId);
  const { paymentIds } = await world.line(runId, payableId);
  const alarm = { reasonCode: "more_than_owed" as const, reason: "It is more than is owed." };
  await changeLine(world.store.db, { runId, payableId }, alarm, Date.now());
  shows(world, ({ id }) => (id === paymentIds[0] ? { status: "failed" } : {}));
  await world.follow(runId);
  expect(paymentIds).toHaveLength(2);
  expect(await world.line(runId, payableId)).toMatchObject({ state: "scheduled", ...alarm });
});

describe("a payment that makes an impossible move", () => {
  const later = (payment: Payment, ms: number): string =>
    new Date(Date.parse(payment.updatedAt ?? "") + ms).toISOString();
  const alarms = (world: MoneyWorld) =>
    listNotices(world.store.db, { kind: "impossible-move", limit: 10 });

  test("an impossible move of a payment is believed, and causes one notice", async ({ world }) => {
    const { runId, payableId } = await world.approvedRun([{}]);
    await world.pay(runId);
    await world.control.advance("P9D");
    await world.follow(runId);
    expect((await world.line(runId, payableId)).state).toBe("settled");
    shows(world, (payment) => ({ status: "processing", updatedAt: later(payment, 1_000) }));
    await world.follow(runId);
    await world.follow(runId);
    expect((await world.line(runId, payableId)).state).toBe("processing");
    const [payment] = await world.paymentsOf(payableId);
    expect(await alarms(world)).toMatchObject([
      {
        runId,
        subject: `Payment ${payment?.id} went from completed to processing`,
        roles: ["operator"],
        data: { paymentId: payment?.id, from: "completed", to: "processing" },
      },
    ]);
    const entries = await listAudit(world.store.db, { businessId: world.businessId });
    const alarm = entries.filter(({ action }) => action === "alarm:impossible-move");
    expect(alarm).toMatchObject([{ subject: payment?.id, actor: runId }]);
    // The next state may well follow from that one.
    shows(world, (shown) => ({ updatedAt: later(shown, 2_000) }));
    await world.follow(runId);
    expect((await world.line(runId, payableId)).state).toBe("settled");
    expect(await alarms(world)).toHaveLength(1);
  });

  test("an older answer of the service changes nothing and causes no alarm", async ({ world }) => {
    const { runId, payableId } = await world.approvedRun([{}]);
    await world.pay(runId);
    await world.control.advance("P9D");
    await world.follow(runId);
    shows(world, (payment) => ({ status: "scheduled", updatedAt: later(payment, -1_000) }));
    await world.follow(runId);
    expect((await world.line(runId, payableId)).state).toBe("settled");
    expect(await alarms(world)).toEqual([]);
  });

  test("the retry of a failed bill reports an impossible move as well", async ({ world }) => {
    const { runId, payableId } = await world.approvedRun([{}]);
    await world.control.outcome({ match: { payableId }, outcome: "fail", code: "R03" });
    await world.pay(runId);
    await world.control.advance("P9D");
    await world.follow(runId);
    await world.look(payableId);
    shows(world, (payment) => ({ status: "completed", updatedAt: later(payment, 1_000) }));
    await world.look(payableId);
    expect(await alarms(world)).toMatchObject([{ data: { from: "failed", to: "completed" } }]);
  });
});
