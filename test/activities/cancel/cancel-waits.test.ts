import { describe, expect } from "vitest";
import { outcomeOfError } from "../../../activities/pay/error-outcome.ts";
import type { WaitCode } from "../../../src/contracts/reason-codes.ts";
import { PaymentsApiError } from "../../../src/payments-api/index.ts";
import { listWaits, setWait } from "../../../src/store/runs/waits.ts";
import { type CancelWorld, test } from "../cancel-world.ts";
import { inDays } from "../planning-world.ts";
import type { MoneyWorld } from "../money-world.ts";

const NOT_OF_CANCELS = [
  "payments_locked",
  "setup_required",
  "setup_incomplete",
  "feature_unavailable",
  "forbidden_for_payments",
  "forbidden_read",
] as const;

async function scheduled(cancels: CancelWorld): Promise<string> {
  return cancels.payment(await cancels.bill(10_000), { scheduledAt: inDays(5) });
}

/**
 * Sets a wait of the whole business because of a code; it is tried again in `forMs` milliseconds.
 */
async function waitFor(world: MoneyWorld, code: WaitCode, forMs: number): Promise<void> {
  const { store, businessId } = world;
  const { serviceMs: nowMs, realMs } = await world.context().clockOf("acme").now();
  const fault = { businessId, sourceId: "", code, message: code, nowMs, realMs };
  await store.transactionOf(businessId, (trx) =>
    setWait(trx, { ...fault, retryAtMs: nowMs + forMs }),
  );
}

async function waits(world: MoneyWorld): Promise<readonly (readonly [string, number])[]> {
  const found = await listWaits(world.store.db, world.businessId);
  return found.map(({ code, tries }) => [code, tries] as const);
}

describe("waits and cancels", () => {
  test.for(NOT_OF_CANCELS)(
    "a cancel goes out while payments are refused with %s, and neither tries nor ends that wait",
    async (code, { cancels, world }) => {
      await waitFor(world, code, -1);
      const paymentId = await scheduled(cancels);
      const id = await cancels.ask({ payments: [paymentId] });
      const { businessId, store } = world;
      const [before] = await listWaits(store.db, businessId);
      await cancels.turns(id, 1);
      expect(await cancels.shown(id)).toEqual([`${paymentId} cancelled`]);
      expect(await listWaits(store.db, businessId)).toEqual([before]);
      await waitFor(world, code, 3_600_000);
      const other = await scheduled(cancels);
      const again = await cancels.ask({ payments: [other] });
      expect((await cancels.look(again)).waitingFor).not.toContain(code);
      await cancels.turns(again, 1);
      expect(await cancels.shown(again)).toEqual([`${other} cancelled`]);
    },
  );

  test("a token that may not read what a payment needs makes payments wait under a code of their own", async ({
    world,
  }) => {
    const fields = { code: "forbidden", message: "no scope", outcome: "not_applied" } as const;
    const request = { status: 403, method: "GET", path: "/v1/contacts/c1" };
    const { businessId } = world;
    const owner = { business: "acme", businessId } as never;
    const job = { plan: { payableId: "p1" } } as never;
    const error = new PaymentsApiError({ ...fields, ...request });
    const outcome = await outcomeOfError(world.context(), owner, job, error);
    expect(outcome).toMatchObject({ kind: "business-wait", code: "forbidden_for_payments" });
  });

  test("a refused cancel makes no payment wait, and is retried until it succeeds", async ({
    cancels,
    world,
  }) => {
    const paymentId = await scheduled(cancels);
    const body = { error: "payments_locked", message: "locked" };
    const answer = { kind: "http", status: 409, body, bodyText: JSON.stringify(body) } as never;
    world.override = { sendMoneyWrite: () => Promise.resolve(answer) };
    const id = await cancels.ask({ payments: [paymentId] });
    await cancels.turns(id, 9);
    expect((await cancels.itemsOf(id))[0]).toMatchObject({
      open: true,
      reason: expect.stringContaining("payments_locked"),
    });
    expect(await waits(world)).toEqual([]);
    world.override = {};
    await cancels.turns(id);
    expect(await cancels.shown(id)).toEqual([`${paymentId} cancelled`]);
    expect((await cancels.cancelKeys(paymentId)).size).toBe(1);
  });

  test("a cancel goes out while reads that it does not need fail", async ({ cancels, world }) => {
    for (const code of ["unreachable_read", "unreadable_read"] as const)
      await waitFor(world, code, 3_600_000);
    const paymentId = await scheduled(cancels);
    const id = await cancels.ask({ payments: [paymentId] });
    await cancels.turns(id);
    expect(await cancels.shown(id)).toEqual([`${paymentId} cancelled`]);
  });

  test("a successful cancel ends the waits that stop both reads and cancels", async ({
    cancels,
    world,
  }) => {
    for (const code of ["unreachable", "forbidden", "payments_locked"] as const)
      await waitFor(world, code, -1);
    const id = await cancels.ask({ payments: [await scheduled(cancels)] });
    await cancels.turns(id);
    expect(await waits(world)).toEqual([["payments_locked", 0]]);
  });

  test("a cancel that needed no request ends only the waits that its reads disprove", async ({
    cancels,
    world,
  }) => {
    const paymentId = await scheduled(cancels);
    const cancelled = await world.world.sandbox.api("POST", `/v1/payments/${paymentId}/cancel`, {
      key: crypto.randomUUID(),
    });
    expect(cancelled.status).toBe(200);
    for (const code of ["unreachable", "forbidden"] as const) await waitFor(world, code, -1);
    const id = await cancels.ask({ payments: [paymentId] });
    await cancels.turns(id);
    expect(await cancels.shown(id)).toEqual([`${paymentId} cancelled`]);
    expect(await waits(world)).toEqual([["forbidden", 1]]);
  });
});
