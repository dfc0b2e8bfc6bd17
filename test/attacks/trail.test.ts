import { describe, expect } from "vitest";
import { sql } from "kysely";
import type { PlanLine } from "../../src/contracts/pay-run.ts";
import { hashOfLine } from "../../src/domain/planning/line-hash.ts";
import type { Db } from "../../src/store/index.ts";
import { askedRecords } from "../../src/store/lines/asked-records.ts";
import { claimPayables } from "../../src/store/payables/claims.ts";
import { createHold, endHolds } from "../../src/store/holds/holds.ts";
import { listNotices } from "../../src/store/notices/notices.ts";
import { type MoneyWorld, type PlannedBills, test } from "../activities/money-world.ts";
import { decide, type Tamper, unguarded } from "./tampered-store.ts";

/** Tries to pay; returns the reasons why the bills of the run wait, and what operators were told. */
async function whatIsPaid(world: MoneyWorld, { runId, payableIds }: PlannedBills) {
  await world.pay(runId);
  await world.pay(runId);
  await world.control.advance("P9D");
  const paid = await Promise.all(payableIds.map((id) => world.paymentsOf(id)));
  const lines = await Promise.all(payableIds.map((id) => world.line(runId, id)));
  const notices = await listNotices(world.store.db, { businessId: world.businessId, limit: 100 });
  return {
    payments: paid.flat().length,
    reasons: lines.map(({ reason }) => reason),
    alarms: notices.filter(({ kind }) => kind === "trail-differs").length,
  };
}

const TWO = {
  approve: [{ review: false, overCents: null, where: null, by: ["owner"], quorum: 2 }],
};

/** Changes a planned line everywhere in the store, with its hash. */
async function changedLine(
  db: Db,
  changes: Partial<PlanLine>,
  columns: { readonly amount_cents?: number; readonly quorum?: number },
): Promise<void> {
  const { business_id: businessId } = await db
    .selectFrom("run_lines")
    .select("business_id")
    .executeTakeFirstOrThrow();
  const { line: stored } = await db
    .selectFrom("plan_lines")
    .select("line")
    .executeTakeFirstOrThrow();
  const changed = { ...(JSON.parse(stored) as PlanLine), ...changes };
  const line = { ...changed, lineHash: hashOfLine(businessId, changed) };
  const hash = { line_hash: line.lineHash };
  await unguarded(db, "plan_lines", (trx) =>
    trx
      .updateTable("plan_lines")
      .set({ ...hash, amount_cents: line.amountCents, line: JSON.stringify(line) })
      .execute(),
  );
  await db
    .updateTable("run_lines")
    .set({ ...hash, ...columns })
    .execute();
}

describe("who can write to the store's tables alone", () => {
  test("a row of an approval that nobody gave pays nothing, and operators hear of it once", async ({
    world,
  }) => {
    const planned = await world.plannedRun([{}, {}]);
    const { db } = world.store;
    const lines = await db.selectFrom("run_lines").selectAll().execute();
    await db
      .insertInto("line_approvals")
      .values(
        lines.map((line) => ({
          ...{ run_id: line.run_id, payable_id: line.payable_id, line_hash: line.line_hash },
          ...{ principal: "mallory", decision_id: "dec_1", expires_at_ms: 9e15 },
          ...{ stage: 0, escalated: 0, hurried: 0 },
        })),
      )
      .execute();
    const { payments, reasons, alarms } = await whatIsPaid(world, planned);
    expect({ payments, alarms }).toEqual({ payments: 0, alarms: 1 });
    expect(reasons.join()).toContain("an approval of it that the trail lacks");
  });

  test.for<[string, (world: MoneyWorld, planned: PlannedBills) => Promise<unknown>]>([
    [
      "copied under another name",
      async ({ store: { db } }) => {
        const rows = await db.selectFrom("line_approvals").selectAll().execute();
        const copies = rows.map((row) => ({ ...row, principal: "mallory" }));
        await db.insertInto("line_approvals").values(copies).execute();
      },
    ],
    [
      "of which the rule needs fewer",
      ({ store: { db } }) => db.updateTable("run_lines").set({ quorum: 1 }).execute(),
    ],
  ])("one approval of two, %s, pays nothing", async ([_how, tamper], { world }) => {
    const planned = await world.plannedRun([{}], TWO);
    await decide(world, planned, { by: "olga" });
    await tamper(world, planned);
    expect(await whatIsPaid(world, planned)).toMatchObject({ payments: 0, alarms: 1 });
  });

  test("an approval whose end was moved pays nothing", async ({ world }) => {
    const planned = await world.approvedRun([{}], {}, 60_000);
    await world.control.advance("PT1H");
    await world.store.db.updateTable("line_approvals").set({ expires_at_ms: 9e15 }).execute();
    expect(await whatIsPaid(world, planned)).toMatchObject({ payments: 0, alarms: 1 });
  });

  test("a row that says a changed record's account is still right pays nothing", async ({
    world,
  }) => {
    const planned = await world.approvedRun([{}]);
    await world.control.changeContact("v1", { phone: "+1 646 555 0199" });
    await world.pay(planned.runId);
    const { db } = world.store;
    const asked = await askedRecords(db, planned.runId);
    await db
      .insertInto("confirmed_records")
      .values(
        asked.map(({ contactId, record }) => ({
          ...{ decision_id: "dec_1", business_id: world.businessId, contact_id: contactId },
          ...{ record, run_id: planned.runId, token_id: "tok_olga", decided_at_ms: Date.now() },
        })),
      )
      .execute();
    await db
      .updateTable("run_lines")
      .set({ state: "planned", record_asked: null, record_asked_at_ms: null, not_before_ms: 0 })
      .execute();
    const { payments, reasons } = await whatIsPaid(world, planned);
    expect({ payments, asked: asked.length }).toEqual({ payments: 0, asked: 1 });
    expect(reasons[0]).toContain("Is the account still right?");
  });

  test("an approval of one run doesn't pay the same line of another", async ({ world }) => {
    const { payableId, ...first } = await world.approvedRun([{}]);
    const { db } = world.store;
    await db.deleteFrom("claims").execute();
    await db.updateTable("run_lines").set({ state: "cancelled" }).execute();
    const again = await world.planAgain([payableId], 10_000);
    const hashes = await db.selectFrom("run_lines").select(["run_id", "line_hash"]).execute();
    expect(hashes[0]?.line_hash).toBe(hashes[1]?.line_hash);
    await db
      .updateTable("line_approvals")
      .set({ run_id: again.runId })
      .where("run_id", "=", first.runId)
      .execute();
    expect(await whatIsPaid(world, again)).toMatchObject({ payments: 0, alarms: 1 });
  });

  test.for<[string, Tamper]>([
    [
      "shows another amount",
      ({ store: { db } }) => changedLine(db, { amountCents: 100 }, { amount_cents: 100 }),
    ],
    [
      "shows another amount, in its columns alone",
      ({ store: { db } }) => db.updateTable("run_lines").set({ amount_cents: 100 }).execute(),
    ],
    [
      "needs fewer people",
      ({ store: { db } }) => db.updateTable("run_lines").set({ quorum: 1 }).execute(),
    ],
    [
      "needs fewer people, with a hash that says so",
      ({ store: { db } }) => changedLine(db, { quorum: 1 }, { quorum: 1 }),
    ],
    [
      "needs fewer people, by the run's rules",
      ({ store: { db } }) => {
        const policy = sql<string>`replace(policy, '"quorum":2', '"quorum":1')`;
        return db.updateTable("runs").set({ policy }).execute();
      },
    ],
    [
      "says that somebody else launched it",
      ({ store: { db } }) => db.updateTable("runs").set({ launched_by: "mallory" }).execute(),
    ],
  ])(
    "a run that %s in the store alone is approved by nobody",
    async ([_what, tamper], { world }) => {
      const planned = await world.plannedRun([{}], TWO);
      await tamper(world, planned);
      const refused = { accepted: false, code: "trail_differs" };
      await decide(world, planned, { by: "olga" }, refused);
      await decide(world, planned, { by: "otto", decision: "reject" });
    },
  );

  test("a hold whose end was moved into the past in the store alone doesn't end", async ({
    world,
  }) => {
    const planned = await world.approvedRun([{}]);
    const { businessId, store } = world;
    const hold = { businessId, scope: "contact", value: "v1", reason: "Ask." } as const;
    const times = { businessMs: 9e15, nowMs: 2 };
    await store.transaction((trx) => createHold(trx, { ...hold, author: "olga", nowMs: 1 }));
    await store.db.updateTable("holds").set({ until_ms: 1 }).execute();
    expect(await store.transaction((trx) => endHolds(trx, businessId, times))).toBe(0);
    expect(await whatIsPaid(world, planned)).toMatchObject({ payments: 0, alarms: 1 });
  });

  test("a run whose launcher was changed after its approval pays nothing", async ({ world }) => {
    const planned = await world.approvedRun([{}]);
    await world.store.db.updateTable("runs").set({ launched_by: "mallory" }).execute();
    const { payments, reasons, alarms } = await whatIsPaid(world, planned);
    expect({ payments, alarms }).toEqual({ payments: 0, alarms: 1 });
    expect(reasons[0]).toContain('launchedBy is "mallory", and was "lena"');
  });

  test("a rejection that was taken out of the store still stops the run", async ({ world }) => {
    const planned = await world.plannedRun([{}]);
    await decide(world, planned, { by: "olga" });
    await decide(world, planned, { by: "otto", decision: "reject" });
    await world.store.db.deleteFrom("decisions").where("decision", "=", "reject").execute();
    const { payments, reasons, alarms } = await whatIsPaid(world, planned);
    expect({ payments, alarms }).toEqual({ payments: 0, alarms: 1 });
    expect(reasons[0]).toContain("otto has rejected it");
  });

  test("a bill that was left out stays out, whatever its line says", async ({ world }) => {
    const planned = await world.plannedRun([{}, {}]);
    const [out = ""] = planned.payableIds;
    await decide(world, planned, { by: "olga" });
    await decide(world, planned, { by: "otto", drop: [out] });
    await world.store.db
      .updateTable("run_lines")
      .set({ state: "planned", reason_code: null, reason: null, dropped_by: null })
      .execute();
    const { businessId, store } = world;
    const claim = { businessId, payableIds: [out], owner: planned.runId, nowMs: 1 };
    await store.transaction((trx) => claimPayables(trx, claim));
    expect(await whatIsPaid(world, planned)).toMatchObject({ alarms: 1 });
    expect(await world.paymentsOf(out)).toEqual([]);
  });

  test.for<[string, (world: MoneyWorld) => Promise<unknown>]>([
    ["deleted", ({ store: { db } }) => db.deleteFrom("holds").execute()],
    [
      "released by nobody",
      ({ store: { db } }) => db.updateTable("holds").set({ released_at_ms: 1 }).execute(),
    ],
    ["ended", ({ store: { db } }) => db.updateTable("holds").set({ until_ms: 1 }).execute()],
    ["moved", ({ store: { db } }) => db.updateTable("holds").set({ value: "other" }).execute()],
  ])("a hold that was %s in the store alone still holds", async ([_how, tamper], { world }) => {
    const planned = await world.approvedRun([{}]);
    const { businessId } = world;
    const hold = { businessId, scope: "contact", value: "v1", reason: "Ask." } as const;
    await world.store.transaction((trx) => createHold(trx, { ...hold, author: "olga", nowMs: 1 }));
    await tamper(world);
    const { payments, reasons, alarms } = await whatIsPaid(world, planned);
    expect({ payments, alarms }).toEqual({ payments: 0, alarms: 1 });
    expect(reasons[0]).toContain("a hold is set on it, which the store no longer has");
  });
});
