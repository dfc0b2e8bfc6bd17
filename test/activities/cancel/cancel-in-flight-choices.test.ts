import { describe, expect, vi } from "vitest";
import { databaseNowMs } from "../../../src/store/sql/database-clock.ts";
import { NEXT_DAY_RETRIES } from "../../support/next-day-retries.ts";
import { CancelWorld, test } from "../cancel-world.ts";
import { dueRetry } from "../retry-world.ts";

test.beforeEach(({ world }) => world.failurePlaybook(NEXT_DAY_RETRIES));

describe("choosing a request under way", () => {
  test.for([
    ["by its vendor", () => ({ vendor: "v1" })],
    ["by its bill", (payableId: string) => ({ payable: payableId })],
    ["by a condition", () => ({ where: "payable.amountCents == 10000" })],
  ] as const)(
    "a bill under way is waited for and cancelled if it is chosen %s, and other bills stay as they are",
    async ([_, choose], { cancels, world }) => {
      const planned = await cancels.left(
        await world.approvedRun([{}, { contactId: "v2", totalAmountCents: 20_000 }]),
      );
      const [payableId = "", other = ""] = planned.payableIds;
      const id = await cancels.ask(choose(payableId));
      expect(await cancels.shown(id)).toEqual([`${payableId} unknown`]);
      const [paymentId = ""] = await cancels.arrive(payableId);
      await cancels.arrive(other);
      await cancels.turns(id);
      expect(await cancels.shown(id)).toEqual([`${paymentId} cancelled`]);
      expect((await world.paymentsOf(other)).map(({ status }) => status)).toEqual(["scheduled"]);
      expect(await cancels.held()).toEqual([payableId]);
    },
  );

  test("a request under way is chosen by its vendor even if the service already shows a part of the bill", async ({
    cancels,
    world,
  }) => {
    const planned = await cancels.left(await world.approvedRun([{}]));
    const [paymentId = ""] = await cancels.arrive(planned.payableId);
    const id = await cancels.ask({ vendor: "v1" });
    await cancels.turns(id);
    expect(await cancels.shown(id)).toEqual([`${paymentId} cancelled`]);
  });

  test("an off-cycle request for a part of a bill is waited for and cancelled", async ({
    cancels,
    world,
  }) => {
    const planned = await world.plannedRun([{}], {}, 4_000);
    await world.approve(planned.runId);
    await cancels.left(planned);
    const id = await cancels.ask({ run: CancelWorld.playbookOf(planned.runId) });
    const [paymentId = ""] = await cancels.arrive(planned.payableId);
    expect(await cancels.turns(id)).toMatchObject({ phase: "completed", totalCents: 4_000 });
    expect(await cancels.shown(id)).toEqual([`${paymentId} cancelled`]);
  });

  test.for([
    ["a part of the bill", 4_000],
    ["the whole bill", null],
  ] as const)(
    "a retry's request for %s is waited for and its payment is cancelled",
    async ([_, partCents], { cancels, world }) => {
      const { runId, payableId } = await dueRetry(world, "R01", partCents);
      expect((await world.look(payableId)).phase).toBe("pay");
      await cancels.lost(payableId, () => world.retry(payableId));
      const id = await cancels.ask({ run: CancelWorld.playbookOf(runId) });
      expect(await cancels.shown(id)).toEqual([`${payableId} unknown`]);
      await cancels.arrive(payableId);
      await cancels.turns(id);
      const [second] = await world.paymentsOf(payableId);
      expect(await cancels.shown(id)).toEqual([`${second?.id} cancelled`]);
    },
  );
});

describe("cancelling a leased bill before its request is sent", () => {
  test("a leased bill that is cancelled before its request is sent is withheld and stays unpaid", async ({
    cancels,
    world,
  }) => {
    const planned = await world.approvedRun([{}]);
    const { runId, payableId } = planned;
    let isRead = false;
    let goOn = (): void => {};
    const { payables } = world.context().clientOf("acme");
    world.override = {
      getPayable: async (...args) => {
        isRead = true;
        await new Promise<void>((resolve) => {
          goOn = resolve;
        });
        return payables.get(...args);
      },
    };
    const paying = world.pay(runId);
    await expect.poll(() => isRead, { interval: 20 }).toBe(true);
    const id = await cancels.ask({ run: CancelWorld.playbookOf(runId) });
    goOn();
    await paying;
    expect(await cancels.look(id)).toMatchObject({ phase: "completed", ended: true });
    expect(await cancels.shown(id)).toEqual([`${payableId} withheld`]);
    expect(await world.paymentsOf(payableId)).toEqual([]);
    await cancels.staysUnpaid(planned);
  });

  test("a bill leased by its retry is withheld even if the canceller's clock is ten minutes fast", async ({
    cancels,
    world,
  }) => {
    const { runId, payableId } = await dueRetry(world);
    const nowMs = await databaseNowMs(world.store.db);
    const leased = { lease_until_ms: nowMs + 60_000 };
    await world.store.db.updateTable("run_lines").set(leased).where("run_id", "=", runId).execute();
    const context = world.context();
    const clock = context.clockOf("acme");
    const now = async () => (await clock.now()).with({ realMs: nowMs + 600_000 });
    Object.defineProperties(context, { clockOf: { value: () => ({ now }) } });
    const spy = vi.spyOn(world, "context").mockReturnValue(context);
    const id = await cancels.ask({ run: CancelWorld.playbookOf(runId) });
    spy.mockRestore();
    expect(await cancels.shown(id)).toEqual([`${payableId} withheld`]);
    expect(await cancels.held()).toEqual([payableId]);
  });

  test("a bill that no lane has leased is not chosen", async ({ cancels, world }) => {
    const { runId } = await world.approvedRun([{}]);
    const id = await cancels.ask({ run: CancelWorld.playbookOf(runId) });
    expect(await cancels.shown(id)).toEqual([]);
    expect(await cancels.held()).toEqual([]);
  });
});
