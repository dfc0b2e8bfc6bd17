import { describe, expect } from "vitest";
import { claimOwners } from "../../../src/store/payables/claims.ts";
import { createHold, releaseHold } from "../../../src/store/holds/holds.ts";
import { flagLooks } from "../../../src/store/payables/subscriptions.ts";
import { netCreditByPayable } from "../../support/sandbox.ts";
import type { MoneyWorld, PlannedBills } from "../money-world.ts";
import { dueRetry, test } from "../retry-world.ts";

/** Pays if the workflow would, then lets nine days pass at the bank. */
async function tryAgain(world: MoneyWorld, { payableId }: PlannedBills): Promise<void> {
  if ((await world.look(payableId)).phase === "pay") await world.retry(payableId);
  await world.control.advance("P9D");
}

async function netCents(world: MoneyWorld, { payableId }: PlannedBills): Promise<number> {
  return netCreditByPayable(await world.control.ledger()).get(payableId) ?? 0;
}

async function isFree(world: MoneyWorld, { payableId }: PlannedBills): Promise<boolean> {
  return (await claimOwners(world.store.db, world.businessId, [payableId])).size === 0;
}

describe("a retry whose bill has changed", () => {
  test("a retry whose bill was paid in full elsewhere pays nothing and ends", async ({ world }) => {
    const planned = await dueRetry(world);
    await world.control.payOutside(planned.payableId);
    expect(await world.look(planned.payableId)).toMatchObject({
      phase: "ended",
      outcome: "paid elsewhere",
    });
    expect((await world.line(planned.runId, planned.payableId)).state).toBe("paid-elsewhere");
    expect(await isFree(world, planned)).toBe(true);
    expect(await netCents(world, planned)).toBe(0);
  });

  test("a retry whose bill was paid in part elsewhere leaves the rest to the next run", async ({
    world,
  }) => {
    const planned = await dueRetry(world);
    await world.control.payOutside(planned.payableId, 4_000);
    await tryAgain(world, planned);
    expect(await world.line(planned.runId, planned.payableId)).toMatchObject({
      state: "parked",
      reasonCode: "changed_since_approval",
      reason: expect.stringMatching(/from \$100\.00 to \$60\.00/),
    });
    expect(await isFree(world, planned)).toBe(true);
    expect(await netCents(world, planned)).toBe(0);
  });

  test.for(["void", "declined", "blocked"])(
    "a retry whose bill is %s by now pays nothing and says so",
    async (status, { world }) => {
      const planned = await dueRetry(world);
      await world.control.changePayable(planned.payableId, { status });
      await tryAgain(world, planned);
      expect(await world.look(planned.payableId)).toMatchObject({
        phase: "parked",
        details: expect.stringMatching(
          new RegExp(`^\\*\\*BILL-.* of One\\*\\* needs a person \\(payable_${status}\\)`),
        ),
      });
      expect(await world.line(planned.runId, planned.payableId)).toMatchObject({
        state: "parked",
        reasonCode: `payable_${status}`,
        reason: expect.stringContaining(`status is ${status} now`),
      });
      expect(await netCents(world, planned)).toBe(0);
    },
  );

  test("a retry whose bill must be approved again at the service waits for it, and then pays", async ({
    world,
  }) => {
    const planned = await dueRetry(world);
    const { payableId } = planned;
    await world.control.changePayable(payableId, { status: "pending_approval" });
    await tryAgain(world, planned);
    expect(await world.line(planned.runId, payableId)).toMatchObject({
      state: "retrying",
      reasonCode: "approval_required",
    });
    expect((await world.look(payableId)).phase).toBe("waiting");
    expect(await netCents(world, planned)).toBe(0);
    await world.control.changePayable(payableId, { status: "approved" });
    await world.store.transaction((trx) =>
      flagLooks(trx, { businessId: world.businessId, payableIds: [payableId] }),
    );
    await tryAgain(world, planned);
    expect(await netCents(world, planned)).toBe(10_000);
    expect(await world.look(payableId)).toMatchObject({ phase: "ended", outcome: "settled" });
  });

  test("a retry whose bill is put on hold after the look pays nothing until the release", async ({
    world,
  }) => {
    const planned = await dueRetry(world);
    const { payableId } = planned;
    expect((await world.look(payableId)).phase).toBe("pay");
    const { businessId } = world;
    const hold = { businessId, scope: "payable" as const, value: payableId, reason: "Ask first." };
    const { holdId } = await world.store.transaction((trx) =>
      createHold(trx, { ...hold, author: "olga", untilMs: null, nowMs: Date.now() }),
    );
    await world.retry(payableId);
    await world.control.advance("P9D");
    expect(await world.paymentsOf(payableId)).toHaveLength(1);
    await world.store.transaction((trx) => releaseHold(trx, holdId, "olga", Date.now()));
    await tryAgain(world, planned);
    expect(await netCents(world, planned)).toBe(10_000);
  });
});
