import { expect } from "vitest";
import { topUpHash } from "../../src/domain/approvals/hashes.ts";
import { listNotices } from "../../src/store/notices/notices.ts";
import { test } from "../activities/deposit-scene.ts";
import type { MoneyWorld, PlannedBills } from "../activities/money-world.ts";

/** Writes an approval of a run's deposit, as who can write to the tables alone. */
async function forgeApproval(
  { store: { db } }: MoneyWorld,
  { runId }: PlannedBills,
  principal = "mallory",
): Promise<void> {
  const { subject, hash } = await db
    .selectFrom("top_ups")
    .selectAll()
    .where("owner", "=", runId)
    .executeTakeFirstOrThrow();
  await db
    .insertInto("line_approvals")
    .values({
      ...{ run_id: subject, payable_id: subject, line_hash: hash, principal },
      ...{ decision_id: "dec_1", expires_at_ms: 9e15, stage: 0, escalated: 0, hurried: 0 },
    })
    .execute();
}

async function alarmsOf({ store, businessId }: MoneyWorld): Promise<string[]> {
  const notices = await listNotices(store.db, { businessId, limit: 100 });
  return notices.filter(({ kind }) => kind === "trail-differs").map(({ text }) => text);
}

test("a row of a deposit's approval that nobody gave deposits nothing, and operators hear of it once", async ({
  scene,
  world,
}) => {
  const planned = await scene.shortRun();
  await world.pay(planned.runId);
  await scene.step(planned);
  await forgeApproval(world, planned);
  for (let steps = 0; steps < 3; steps += 1) {
    await scene.step(planned);
    await world.world.pass(60_000);
  }
  expect(await alarmsOf(world)).toEqual([expect.stringContaining("that the trail lacks")]);
  expect(await scene.deposits()).toEqual([]);
});

test("one approval of a deposit that needs two deposits nothing, however few the store asks for", async ({
  scene,
  world,
}) => {
  const planned = await scene.shortRun({ quorum: 2 });
  await world.pay(planned.runId);
  await scene.step(planned);
  await world.store.db.updateTable("top_ups").set({ quorum: 1 }).execute();
  await scene.decide(planned);
  await scene.step(planned);
  await scene.step(planned);
  expect(await scene.deposits()).toEqual([]);
});

test("a deposit whose amount was raised with its hash deposits nothing", async ({
  scene,
  world,
}) => {
  const planned = await scene.shortRun();
  await world.pay(planned.runId);
  await scene.step(planned);
  const asked = await scene.topUp(planned);
  const hash = topUpHash({ ...asked, amountCents: 4_000_000 });
  const { db } = world.store;
  await db.updateTable("top_ups").set({ amount_cents: 4_000_000, hash }).execute();
  await forgeApproval(world, planned);
  await scene.step(planned);
  await scene.step(planned);
  expect(await scene.deposits()).toEqual([]);
});

test("nobody approves a deposit whose roles were changed in the store alone, and it deposits nothing", async ({
  scene,
  world,
}) => {
  const planned = await scene.shortRun();
  await world.pay(planned.runId);
  await scene.step(planned);
  await world.store.db.updateTable("top_ups").set({ approvers: '["viewer"]' }).execute();
  const answer = await scene.decide(planned, { roles: ["viewer"] });
  expect(answer).toMatchObject({ accepted: false, code: "trail_differs" });
  await scene.step(planned);
  expect(await scene.deposits()).toEqual([]);
});
