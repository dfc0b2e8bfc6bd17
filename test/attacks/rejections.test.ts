import { sql } from "kysely";
import { expect } from "vitest";
import { listNotices } from "../../src/store/notices/notices.ts";
import { MoneyWorld } from "../activities/money-world.ts";
import { NEXT_DAY_RETRIES } from "../support/next-day-retries.ts";
import { inDays } from "../activities/planning-world.ts";
import { type PlannedScene, REVIEWED, test } from "./planned-scene.ts";

async function people({ gateway }: PlannedScene) {
  return {
    cora: await gateway.token("Cora", ["controller"]),
    olga: await gateway.token("Olga", ["owner"]),
    otto: await gateway.token("Ottilie", ["owner"]),
  };
}

const FRAUD = { decision: "reject", comment: "FRAUD" };

test("a bill that was rejected needs the rule for flagged bills in the next run, and off-cycle, until it is approved once", async ({
  scene,
}) => {
  const { cora, olga } = await people(scene);
  const id = await scene.enter();
  const first = await scene.plan();
  expect((await scene.line(first, id)).plan.quorum).toBe(1);
  expect((await scene.decide(first, cora, FRAUD)).status).toBe(200);
  // One of two approvals, in a run that is cancelled then, clears nothing.
  for (const only of [undefined, [id]]) {
    const runId = await scene.plan(undefined, only);
    const { plan } = await scene.line(runId, id);
    expect(plan.quorum).toBe(2);
    expect(plan.flags.map(({ kind }) => kind)).toContain("rejected-before");
    const flag = await scene.flag(runId, id, "rejected-before");
    expect(flag?.text).toMatch(/^Rejected by cora on \d{4}-\d\d-\d\d: “FRAUD”\.$/);
    expect((await scene.decide(runId, olga)).json).toMatchObject({ goesOut: { count: 0 } });
    await scene.cancel(runId);
  }
  const last = await scene.plan();
  for (const token of [cora, olga]) await scene.decide(last, token);
  expect((await scene.line(last, id)).line.state).toBe("planned");
  await scene.cancel(last);
  expect((await scene.line(await scene.plan(), id)).plan).toMatchObject({ quorum: 1, flags: [] });
});

test("a bill that an approver left out is flagged in the next plan with who, when and why, also if the playbook reviews nothing", async ({
  scene,
}) => {
  const { cora } = await people(scene);
  const [kept, dropped] = [await scene.enter(), await scene.enter({ contactId: "v2" })];
  const first = await scene.plan();
  await scene.decide(first, cora, { drop: [dropped], comment: "not ours" });
  await scene.cancel(first);
  const next = await scene.plan({ ...REVIEWED, review: [] });
  expect(await scene.flag(next, kept, "rejected-before")).toBeUndefined();
  expect((await scene.flag(next, dropped, "rejected-before"))?.text).toMatch(
    /^Left out by cora on .*: “not ours”\.$/,
  );
  expect((await scene.line(next, dropped)).plan.quorum).toBe(2);
});

test("an approval that comes in after the rejection of the same run clears nothing", async ({
  scene,
}) => {
  const { cora, olga, otto } = await people(scene);
  const id = await scene.enter();
  const runId = await scene.plan();
  const path = `/v1/runs/${encodeURIComponent(runId)}/decisions`;
  const planHash = (await scene.gateway.call("GET", path.replace("/decisions", ""), cora)).json[
    "planHash"
  ];
  // The run has not looked yet when the approvals arrive.
  for (const [token, decision] of [
    [cora, "reject"],
    [olga, "approve"],
    [otto, "approve"],
  ] as const) {
    await scene.gateway.call("POST", path, token, { decision, planHash });
  }
  await scene.decide(runId, cora, FRAUD);
  expect(await scene.flag(await scene.plan(), id, "rejected-before")).toBeDefined();
});

test("whoever rejected a bill is notified by name that it is asked about again, whatever the playbook says of notices; approvers read who rejected it and why", async ({
  scene,
}) => {
  const { cora } = await people(scene);
  const id = await scene.enter();
  await scene.decide(await scene.plan(), cora, FRAUD);
  const runId = await scene.plan({ ...REVIEWED, notify: { people: "none", digest: "none" } });
  const notices = await listNotices(scene.world.store.db, { kind: "asked-again", limit: 9 });
  expect(notices).toMatchObject([{ runId, person: "cora", roles: ["controller"] }]);
  expect(notices[0]?.subject).toContain("1 bill of $500.00 that cora rejected or left out waits");
  expect(notices[0]?.text).toContain("launched by lena");
  expect(notices[0]?.text).toContain("“FRAUD”");
  await scene.cancel(runId);
  const last = await scene.plan();
  const [needed] = await listNotices(scene.world.store.db, {
    runId: last,
    kind: "approval-needed",
    limit: 9,
  });
  expect(needed?.text).toMatch(/Rejected or left out before:\n- .*Rejected by cora on .*“FRAUD”/);
  const path = `/v1/payables/${id}/history`;
  const timeline = (await scene.gateway.call("GET", path, cora)).text;
  expect(timeline).toContain("Rejected by cora: “FRAUD”");
  expect(timeline).toMatch(/Planned: [^"]*Worth a look: Rejected by cora on/);
});

test.for([
  ["left out", (id: string) => ({ drop: [id] }), /left it out/],
  ["rejected", () => ({ decision: "reject" }), /Its run was rejected/],
] as const)(
  "a bill that is %s after it was sent is not sent again, and the answer names the command that recalls it",
  async ([, said, why], { scene }) => {
    const { cora } = await people(scene);
    const money = new MoneyWorld(scene.world);
    const { control } = scene.world.sandbox;
    const id = await scene.enter();
    const runId = await scene.plan();
    await scene.decide(runId, cora);
    await control.outcome({ match: { payableId: id }, outcome: "fail", code: "R01", times: 1 });
    await money.pay(runId);
    for (const already of [undefined, expect.any(String)]) {
      const { status, json } = await scene.decide(runId, cora, said(id));
      expect([status, json["alreadySince"], json["notRecalledCount"]]).toEqual([200, already, 1]);
      // It is not left out of this run, whose payment of it is on its way.
      expect(json).not.toHaveProperty("leftOut");
      expect(json["summary"]).toMatch(
        /1 bill .* not recalled: payrun stop --run run-1.* --cancel-scheduled/,
      );
    }
    expect((await scene.line(runId, id)).line.state).toBe("scheduled");
    await control.advance("P9D");
    await money.follow(runId);
    await money.look(id);
    await money.retry(id);
    expect(await money.line(runId, id)).toMatchObject({
      state: "parked",
      reason: expect.stringMatching(why) as string,
    });
    expect(await money.paymentsOf(id)).toHaveLength(1);
  },
);

test("a line that was left out while a lane had it is not sent, whatever its approvals", async ({
  scene,
}) => {
  const { cora } = await people(scene);
  const money = new MoneyWorld(scene.world);
  const id = await scene.enter();
  const runId = await scene.plan();
  await scene.decide(runId, cora);
  const { db } = scene.world.store;
  await db.updateTable("run_lines").set({ dropped_by: "cora" }).execute();
  await money.pay(runId);
  expect(await money.paymentsOf(id)).toEqual([]);
  expect(await money.line(runId, id)).toMatchObject({ state: "cancelled", reasonCode: "dropped" });
});

test("a rejected bill that is voided and entered again, with another number and nearly the same amount, is flagged with who rejected the first one and why", async ({
  scene,
}) => {
  const { cora } = await people(scene);
  const dated = { dueDate: inDays(8), issueDate: inDays(-3) };
  const first = await scene.enter({ customNumber: "J-1", ...dated });
  await scene.decide(await scene.plan(undefined, [first]), cora, FRAUD);
  await scene.world.sandbox.control.changePayable(first, { status: "void" });
  const again = await scene.enter({
    ...{ customNumber: "K-22", totalAmountCents: 49_900 },
    ...{ dueDate: inDays(50), issueDate: inDays(40) },
  });
  const runId = await scene.plan(undefined, [again]);
  const flag = await scene.flag(runId, again, "likely-duplicate");
  expect(flag?.twins).toEqual([first]);
  expect(flag?.text).toMatch(/void\)\. Rejected by cora on \d{4}-\d\d-\d\d: “FRAUD”\.$/);
  expect((await scene.line(runId, again)).plan.quorum).toBe(2);
});

test.for(["the store", "the trail alone"])(
  "a payment that comes back is not made again if the rest of its bill was rejected since, as %s says",
  async (author, { planning, scene }) => {
    const world = new MoneyWorld(planning);
    await world.failurePlaybook(NEXT_DAY_RETRIES);
    const { control } = scene.world.sandbox;
    const { cora } = await people(scene);
    const id = await scene.enter();
    const first = await scene.plan(REVIEWED, [id], 30_000);
    await scene.decide(first, cora);
    await world.pay(first);
    await control.advance("P14D");
    await world.follow(first);
    await world.assess(first);
    const second = await scene.plan(REVIEWED, [id], 20_000);
    expect((await scene.decide(second, cora, FRAUD)).status).toBe(200);
    const [made] = await world.paymentsOf(id);
    const match = { paymentId: made?.id ?? "" };
    await control.outcome({ match, outcome: "return", code: "R01" });
    if (author === "the trail alone") {
      await sql`update decisions set outcome = 'stale' where run_id = ${second}`.execute(
        world.store.db,
      );
    }
    await world.look(id);
    await control.advance("P1D");
    await world.look(id);
    await world.retry(id);
    expect(await world.paymentsOf(id)).toHaveLength(1);
    const { reason } = await world.line(first, id);
    expect(reason).toContain(author === "the store" ? "FRAUD" : "which the store no longer says");
  },
);
