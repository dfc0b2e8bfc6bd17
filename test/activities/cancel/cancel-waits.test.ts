import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { outcomeOfError } from "../../../activities/pay/error-outcome.ts";
import { PaymentsApiError } from "../../../src/payments-api/index.ts";
import { listWaits, setWait } from "../../../src/store/runs/waits.ts";
import { CancelWorld } from "../cancel-world.ts";
import { inDays } from "../planning-world.ts";

const NOT_OF_CANCELS = [
  "payments_locked",
  "setup_required",
  "setup_incomplete",
  "feature_unavailable",
  "forbidden_for_payments",
  "forbidden_read",
];

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

/** The whole business waits because of a code, until so long from now. */
async function waitFor(code: string, forMs: number): Promise<void> {
  const { store, businessId } = world.money;
  const { serviceMs: nowMs, realMs } = await world.money.context().clockOf("acme").now();
  const fault = { businessId, sourceId: "", code, message: code, nowMs, realMs };
  await store.transactionOf(businessId, (trx) =>
    setWait(trx, { ...fault, retryAtMs: nowMs + forMs }),
  );
}

async function waits(): Promise<readonly (readonly [string, number])[]> {
  const found = await listWaits(world.money.store.db, world.money.businessId);
  return found.map(({ code, tries }) => [code, tries] as const);
}

describe("a cancel", () => {
  test.each(NOT_OF_CANCELS)(
    "is not kept back where payments are refused with %s, and neither tries nor ends that wait",
    async (code) => {
      await waitFor(code, -1);
      const paymentId = await scheduled();
      const id = await world.ask({ payments: [paymentId] });
      const { businessId, store } = world.money;
      const [before] = await listWaits(store.db, businessId);
      await world.turns(id, 1);
      expect(await world.shown(id)).toEqual([`${paymentId} cancelled`]);
      expect(await listWaits(store.db, businessId)).toEqual([before]);
      await waitFor(code, 3_600_000);
      const other = await scheduled();
      const again = await world.ask({ payments: [other] });
      expect((await world.look(again)).waitingFor).not.toContain(code);
      await world.turns(again, 1);
      expect(await world.shown(again)).toEqual([`${other} cancelled`]);
    },
  );

  test("does not wait where the token may not read what a payment reads of its bill or vendor", async () => {
    const fields = { code: "forbidden", message: "no scope", outcome: "not_applied" } as const;
    const request = { status: 403, method: "GET", path: "/v1/contacts/c1" };
    const { businessId } = world.money;
    const owner = { business: "acme", businessId } as never;
    const job = { plan: { payableId: "p1" } } as never;
    const error = new PaymentsApiError({ ...fields, ...request });
    const outcome = await outcomeOfError(world.money.context(), owner, job, error);
    expect(outcome).toMatchObject({ kind: "business-wait", code: "forbidden_for_payments" });
  });

  test("that is itself refused so rests alone: no payment waits for it, and it is tried until it goes through", async () => {
    const paymentId = await scheduled();
    const body = { error: "payments_locked", message: "locked" };
    const answer = { kind: "http", status: 409, body, bodyText: JSON.stringify(body) } as never;
    world.money.override = { sendMoneyWrite: () => Promise.resolve(answer) };
    const id = await world.ask({ payments: [paymentId] });
    await world.turns(id, 9);
    expect((await world.itemsOf(id))[0]).toMatchObject({
      open: true,
      reason: expect.stringContaining("payments_locked"),
    });
    expect(await waits()).toEqual([]);
    world.money.override = {};
    await world.turns(id);
    expect(await world.shown(id)).toEqual([`${paymentId} cancelled`]);
    expect((await world.cancelKeys(paymentId)).size).toBe(1);
  });

  test("goes out while something that no cancel reads can't be read", async () => {
    for (const code of ["unreachable_read", "unreadable_read"]) await waitFor(code, 3_600_000);
    const paymentId = await scheduled();
    const id = await world.ask({ payments: [paymentId] });
    await world.turns(id);
    expect(await world.shown(id)).toEqual([`${paymentId} cancelled`]);
  });

  test("that went through ends the waits in which neither reads nor cancels go", async () => {
    for (const code of ["unreachable", "forbidden", "payments_locked"]) await waitFor(code, -1);
    const id = await world.ask({ payments: [await scheduled()] });
    await world.turns(id);
    expect(await waits()).toEqual([["payments_locked", 0]]);
  });

  test("that needed no request ends only the waits that reading has shown to be over", async () => {
    const paymentId = await scheduled();
    const cancelled = await world.money.world.sandbox.api(
      "POST",
      `/v1/payments/${paymentId}/cancel`,
      { key: crypto.randomUUID() },
    );
    expect(cancelled.status).toBe(200);
    for (const code of ["unreachable", "forbidden"]) await waitFor(code, -1);
    const id = await world.ask({ payments: [paymentId] });
    await world.turns(id);
    expect(await world.shown(id)).toEqual([`${paymentId} cancelled`]);
    expect(await waits()).toEqual([["forbidden", 1]]);
  });
});
