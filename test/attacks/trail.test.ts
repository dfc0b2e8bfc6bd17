import { describe, expect } from "vitest";
import { sql } from "kysely";
import { takeDecision } from "../../src/decisions/take.ts";
import { createToken } from "../../src/store/approvals/tokens.ts";
import { differencesOf } from "../../src/store/audit/audit-compare.ts";
import { STORE_TRAIL } from "../../src/store/audit/audit.ts";
import type { PlanLine } from "../../src/contracts/pay-run.ts";
import { hashOfLine } from "../../src/domain/planning/line-hash.ts";
import type { Db } from "../../src/store/index.ts";
import { askedRecords } from "../../src/store/lines/asked-records.ts";
import { openIncident } from "../../src/store/incidents/incidents.ts";
import { claimPayables } from "../../src/store/payables/claims.ts";
import { createHold, endHolds, releaseHold } from "../../src/store/holds/holds.ts";
import { listNotices } from "../../src/store/notices/notices.ts";
import { getRun } from "../../src/store/runs/runs.ts";
import { storePlaybook } from "../../src/actions/playbooks/apply-playbook.ts";
import { Clocks } from "../../src/business/clock.ts";
import { CancelWorld } from "../activities/cancel-world.ts";
import { type MoneyWorld, type PlannedBills, test } from "../activities/money-world.ts";
import { POLICY } from "../activities/planning-world.ts";

/** Takes a decision on a run as the gateway does. */
async function decide(
  world: MoneyWorld,
  { runId }: PlannedBills,
  said: { readonly by: string; readonly decision?: "reject"; readonly drop?: readonly string[] },
  answers: object = { accepted: true },
): Promise<void> {
  const { by, decision = "approve", drop = [] } = said;
  const clock = await world.context().clockOf("acme").now();
  await world.store.transaction(async (trx) => {
    const run = await getRun(trx, runId);
    if (run?.planHash == null) throw new Error(`${runId} has no plan`);
    const request = { decision, planHash: run.planHash, drop } as const;
    const principal = { tokenId: `tok_${by}`, name: by, roles: ["owner"] };
    const answer = await takeDecision(trx, { run, request, principal, clock, nowMs: Date.now() });
    expect(answer).toMatchObject(answers);
  });
}

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

const STORE = { businessId: STORE_TRAIL, business: null };
const whoseOf = ({ businessId }: MoneyWorld) => ({ businessId, business: "acme" });

type Tamper = (world: MoneyWorld, planned: PlannedBills) => Promise<unknown>;

/** Changes of the store alone, with what “payrun audit verify” says of them. */
const CHANGES: readonly [string, string, Tamper][] = [
  [
    "another person's approval",
    "line_approvals",
    ({ store: { db } }) => db.updateTable("line_approvals").set({ principal: "mallory" }).execute(),
  ],
  [
    "an approval's decision",
    "line_approvals",
    ({ store: { db } }) => db.updateTable("line_approvals").set({ decision_id: "dec_2" }).execute(),
  ],
  [
    "a deleted approval",
    "line_approvals",
    ({ store: { db } }) => db.deleteFrom("line_approvals").execute(),
  ],
  [
    "a decision's roles",
    "decisions",
    ({ store: { db } }) => db.updateTable("decisions").set({ roles: '["admin"]' }).execute(),
  ],
  ["a deleted decision", "decisions", ({ store: { db } }) => db.deleteFrom("decisions").execute()],
  [
    "a bill that was left out",
    "left out",
    ({ store: { db } }) => db.updateTable("run_lines").set({ dropped_by: null }).execute(),
  ],
  [
    "a hold's reason",
    "holds",
    ({ store: { db } }) => db.updateTable("holds").set({ reason: "." }).execute(),
  ],
  ["a deleted hold", "holds", ({ store: { db } }) => db.deleteFrom("holds").execute()],
  [
    "a request's bytes",
    "sends",
    ({ store: { db } }) =>
      unguarded(db, "sends", (trx) => trx.updateTable("sends").set({ body: "{}" }).execute()),
  ],
  [
    "a request's answer",
    "sends",
    ({ store: { db } }) =>
      unguarded(db, "sends", (trx) =>
        trx.updateTable("sends").set({ result: "refused" }).execute(),
      ),
  ],
  [
    "a run's policy",
    "runs",
    ({ store: { db } }) => db.updateTable("runs").set({ policy: "{}" }).execute(),
  ],
  [
    "a run's launcher",
    "runs",
    ({ store: { db } }) => db.updateTable("runs").set({ launched_by: "mallory" }).execute(),
  ],
  [
    "a run that somebody has cancelled in the store alone",
    ", cancelled is in the store",
    ({ store: { db } }) => db.updateTable("runs").set({ cancel_requested_by: "mallory" }).execute(),
  ],
  [
    "a plan's hash",
    "plans",
    ({ store: { db } }) =>
      unguarded(db, "plans", (trx) => trx.updateTable("plans").set({ plan_hash: "f" }).execute()),
  ],
  [
    "a line's terms under the hash that was approved",
    "isAsHashed is false",
    ({ store: { db } }) =>
      unguarded(db, "plan_lines", (trx) =>
        trx
          .updateTable("plan_lines")
          .set({ line: sql`replace(line, '"quorum":1', '"quorum":0')` })
          .execute(),
      ),
  ],
  [
    "a confirmed record that nobody has given",
    "confirmed_records dec_1 v1",
    ({ store: { db }, businessId }) =>
      db
        .insertInto("confirmed_records")
        .values({
          ...{ decision_id: "dec_1", business_id: businessId, contact_id: "v1", record: "" },
          ...{ run_id: "run", token_id: "tok", decided_at_ms: 1 },
        })
        .execute(),
  ],
  [
    "a lookup that nobody has made",
    "lookups look_1",
    ({ store: { db }, businessId }) =>
      db
        .insertInto("lookups")
        .values({
          ...{ lookup_id: "look_1", business_id: businessId, subject: "bill", begun_at_ms: 1 },
          ...{ begun_service_ms: null, is_whole: 1, shown_ids: "[]", recorded_at_ms: 1 },
        })
        .execute(),
  ],
  [
    "an adoption of a payment that nobody has found",
    "adoptions pmt_1 att_1",
    ({ store: { db }, businessId }) =>
      db
        .insertInto("adoptions")
        .values({
          ...{ business_id: businessId, found_id: "pmt_1", attempt_id: "att_1" },
          ...{ subject: "bill", operation: "pay", at_ms: 1 },
        })
        .execute(),
  ],
  [
    "a late answer that nobody has sent",
    "late_answers late_1",
    ({ store: { db }, businessId }) =>
      db
        .insertInto("late_answers")
        .values({
          ...{ late_answer_id: "late_1", send_id: "snd", business_id: businessId },
          ...{ subject: "bill", result: "applied", status: 201, code: null, made_ids: "[]" },
          at_ms: 1,
        })
        .execute(),
  ],
  [
    "a cancellation's reason",
    "cancellations",
    ({ store: { db } }) => db.updateTable("cancellations").set({ reason: "." }).execute(),
  ],
  [
    "a payment that a cancellation has not chosen",
    "cancellation_items cancel",
    ({ store: { db } }) =>
      db.updateTable("cancellation_items").set({ payment_id: "pmt_other" }).execute(),
  ],
  [
    "an incident's decision",
    "incidents",
    ({ store: { db } }) =>
      db.updateTable("incidents").set({ decision: "other-source", phase: "ended" }).execute(),
  ],
  ["a deleted incident", "incidents", ({ store: { db } }) => db.deleteFrom("incidents").execute()],
  [
    "a playbook's author",
    "playbooks weekly 1",
    ({ store: { db } }) => db.updateTable("playbooks").set({ author: "mallory" }).execute(),
  ],
  [
    "a playbook's meaning under the same text",
    "playbooks weekly 1",
    ({ store: { db } }) => db.updateTable("playbooks").set({ compiled: "{}" }).execute(),
  ],
  [
    "a proposed text that nobody has proposed",
    "playbook_proposals weekly",
    ({ store: { db } }) =>
      db
        .insertInto("playbook_proposals")
        .values({
          ...{ business: "acme", name: "weekly", text: "kind: pay-run", author: "mallory" },
          ...{ author_token_id: null, created_at_ms: 1 },
        })
        .execute(),
  ],
  [
    "a deleted request",
    "sends",
    ({ store: { db } }) => unguarded(db, "sends", (trx) => trx.deleteFrom("sends").execute()),
  ],
];

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

/** Does what a table's triggers refuse, as who owns the file can. */
async function unguarded(db: Db, table: string, act: (db: Db) => Promise<unknown>): Promise<void> {
  const found = await sql<{ name: string }>`select name from sqlite_master
    where type = 'trigger' and tbl_name = ${table}`.execute(db);
  for (const { name } of found.rows) await sql`drop trigger ${sql.ref(name)}`.execute(db);
  await act(db);
}

describe("the store compared with the trail", () => {
  test("what an honest run has written agrees with the trail, both ways", async ({ world }) => {
    await scene(world);
    expect(await differencesOf(world.store.db, whoseOf(world))).toEqual([]);
    expect(await differencesOf(world.store.db, STORE)).toEqual([]);
  });

  test.for(CHANGES)("%s doesn't agree, and is named", async ([_what, named, tamper], { world }) => {
    await tamper(world, await scene(world));
    const found = await differencesOf(world.store.db, whoseOf(world));
    expect(found.map(({ text }) => text).join("\n")).toContain(named);
  });

  test("roles and secrets of tokens that were changed in the store alone are named", async ({
    world,
  }) => {
    const { store } = world;
    const token = { name: "carla", roles: ["viewer"], createdBy: "ada", nowMs: Date.now() };
    const { tokenId } = await createToken(store, token);
    expect(await differencesOf(store.db, STORE)).toEqual([]);
    const changed = { roles: '["controller"]', token_hash: "f".repeat(64) };
    await store.db.updateTable("tokens").set(changed).execute();
    const [difference] = await differencesOf(store.db, STORE);
    expect(difference).toMatchObject({ kind: "differs", subject: `tokens ${tokenId}` });
    expect(difference?.text).toMatch(/roles is \["controller"\], and was \["viewer"\]; secret is/);
    await store.db.deleteFrom("tokens").execute();
    const gone = await differencesOf(store.db, STORE);
    expect(gone).toMatchObject([{ kind: "only-in-trail", subject: `tokens ${tokenId}` }]);
  });
});

/**
 * A run with a paid bill, one left out, a hold that was released, a cancellation, an account that
 * bounced, and a playbook.
 */
async function scene(world: MoneyWorld): Promise<PlannedBills> {
  const planned = await world.plannedRun([{}, {}]);
  const { businessId } = world;
  const [out = ""] = planned.payableIds;
  await decide(world, planned, { by: "olga", drop: [out] });
  await world.store.transaction(async (trx) => {
    const hold = { businessId, scope: "contact", value: "v9", reason: "Ask." } as const;
    const { holdId } = await createHold(trx, { ...hold, author: "olga", nowMs: Date.now() });
    await releaseHold(trx, holdId, "otto", Date.now());
  });
  await world.pay(planned.runId);
  const [payment, ...others] = await world.paymentsOf(planned.payableIds[1] ?? "");
  expect(others).toEqual([]);
  await new CancelWorld(world).ask({ payments: [payment?.id ?? ""] });
  await world.store.transaction(async (trx) => {
    const bounced = { sourceId: "balance", workflowId: "incident", code: "R01", reason: "." };
    const about = { businessId, business: "acme", ...bounced, roles: ["owner"] };
    await openIncident(trx, { ...about, nowMs: Date.now(), failedAtMs: Date.now() });
  });
  const { profile } = world.world;
  const playbook = { ...POLICY, name: "weekly" };
  const actions = { store: world.store, nowMs: Date.now, clocks: new Clocks() };
  await storePlaybook(
    actions as unknown as Parameters<typeof storePlaybook>[0],
    { name: "weekly", text: "kind: pay-run", playbook, profile },
    { author: "ada", authorTokenId: null },
  );
  return planned;
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
      const refused = { accepted: false, code: "trail-differs" };
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
