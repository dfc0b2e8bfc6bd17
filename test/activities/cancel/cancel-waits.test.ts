import { describe, expect } from "vitest";
import { outcomeOfError } from "../../../activities/pay/error-outcome.ts";
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
];

async function scheduled(cancels: CancelWorld): Promise<string> {
  return cancels.payment(await cancels.bill(10_000), { scheduledAt: inDays(5) });
}

/** The whole business waits because of a code, until so long from now. */
async function waitFor(world: MoneyWorld, code: string, forMs: number): Promise<void> {
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

describe("a cancel", () => {
  test.for(NOT_OF_CANCELS)(
    "is not kept back where payments are refused with %s, and neither tries nor ends that wait",
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

  test("does not wait where the token may not read what a payment reads of its bill or vendor", async ({
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

  test("that is itself refused so rests alone: no payment waits for it, and it is tried until it goes through", async ({
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

  test("goes out while something that no cancel reads can't be read", async ({
    cancels,
    world,
  }) => {
    for (const code of ["unreachable_read", "unreadable_read"])
      await waitFor(world, code, 3_600_000);
    const paymentId = await scheduled(cancels);
    const id = await cancels.ask({ payments: [paymentId] });
    await cancels.turns(id);
    expect(await cancels.shown(id)).toEqual([`${paymentId} cancelled`]);
  });

  test("that went through ends the waits in which neither reads nor cancels go", async ({
    cancels,
    world,
  }) => {
    for (const code of ["unreachable", "forbidden", "payments_locked"])
      await waitFor(world, code, -1);
    const id = await cancels.ask({ payments: [await scheduled(cancels)] });
    await cancels.turns(id);
    expect(await waits(world)).toEqual([["payments_locked", 0]]);
  });

  test("that needed no request ends only the waits that reading has shown to be over", async ({
    cancels,
    world,
  }) => {
    const paymentId = await scheduled(cancels);
    const cancelled = await world.world.sandbox.api("POST", `/v1/payments/${paymentId}/cancel`, {
      key: crypto.randomUUID(),
    });
    expect(cancelled.status).toBe(200);
    for (const code of ["unreachable", "forbidden"]) await waitFor(world, code, -1);
    const id = await cancels.ask({ payments: [paymentId] });
    await cancels.turns(id);
    expect(await cancels.shown(id)).toEqual([`${paymentId} cancelled`]);
    expect(await waits(world)).toEqual([["forbidden", 1]]);
  });
});
