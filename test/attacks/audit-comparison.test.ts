import { describe, expect } from "vitest";
import { sql } from "kysely";
import { createToken } from "../../src/store/approvals/tokens.ts";
import { differencesOf } from "../../src/store/audit/audit-compare.ts";
import { STORE_TRAIL } from "../../src/store/audit/audit.ts";
import { openIncident } from "../../src/store/incidents/incidents.ts";
import { createHold, releaseHold } from "../../src/store/holds/holds.ts";
import { storePlaybook } from "../../src/actions/playbooks/apply-playbook.ts";
import { Clocks } from "../../src/business/clocks.ts";
import { CancelWorld } from "../activities/cancel-world.ts";
import { type MoneyWorld, type PlannedBills, test } from "../activities/money-world.ts";
import { POLICY } from "../activities/planning-world.ts";
import { decide, type Tamper, unguarded } from "./tampered-store.ts";

const STORE = { businessId: STORE_TRAIL, business: null };
const whoseOf = ({ businessId }: MoneyWorld) => ({ businessId, business: "acme" });

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
    const bounced = {
      sourceId: "balance",
      workflowId: "incident",
      code: "R01" as const,
      reason: ".",
    };
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
