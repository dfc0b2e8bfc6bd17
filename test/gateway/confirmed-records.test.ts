import { expect } from "vitest";
import { recordsConfirmed } from "../../src/domain/facts/decisions.ts";
import { listAudit } from "../../src/store/audit/audit.ts";
import { askedRecords } from "../../src/store/lines/asked-records.ts";
import { getRun } from "../../src/store/runs/runs.ts";
import { signedIn } from "../console/support/visits.ts";
import { test as decidingTest } from "./support/deciding.ts";
import { approveLines } from "./support/rows.ts";
import { typed } from "./support/typed.ts";

const RECORD = "2026-11-28T03:00:00.000Z";
const REASON =
  "The vendor's record was changed after the approval: phone differs. Is the account still right?";

const test = decidingTest
  .extend("scene", async ({ scene }) => {
    await scene.gateway.store.db
      .updateTable("run_lines")
      .set({ record_asked: RECORD, record_asked_at_ms: 1, reason: REASON })
      .set({ reason_code: "changed_record" })
      .where("payable_id", "in", ["p1", "p2"])
      .execute();
    return scene;
  })
  .extend("carla", ({ scene }) => scene.gateway.token("carla", ["controller"]))
  .extend("lou", ({ scene }) => scene.gateway.token("lou", ["controller"]));

const confirmedRecords = [{ contactId: "con_p1", updatedAt: "2026-11-28T03:00:00Z" }];

test("an answer about a vendor's changed record approves no bill, and is an entry of the trail", async ({
  scene,
  carla,
}) => {
  const { db } = scene.gateway.store;
  const review = await scene.gateway.call("GET", scene.path("review"), carla);
  expect(review.json["changedRecords"]).toMatchObject([
    { contactId: "con_p1", updatedAt: RECORD, count: 1, text: REASON },
    { contactId: "con_p2", updatedAt: RECORD, count: 1 },
  ]);
  const answer = await scene.decide(carla, { confirmedRecords });
  expect(answer).toMatchObject({ status: 200, json: { countsFor: ["p1"], dropped: [] } });
  expect(await scene.approved("p1")).toBe(false);
  expect(await scene.outcomes()).toEqual([]);
  expect((await askedRecords(db, scene.run.runId)).map(({ contactId }) => contactId)).toEqual([
    "con_p2",
  ]);
  const [entry] = await listAudit(db, {
    businessId: (await getRun(db, scene.run.runId))?.businessId ?? "",
    subject: scene.run.runId,
    actions: [recordsConfirmed.action],
  });
  expect(entry).toMatchObject({
    actor: "carla",
    details: { records: [{ contactId: "con_p1", record: RECORD }], lines: 1 },
  });
});

test("who confirmed a vendor's changed record is shown in the run's report and in the bill's history", async ({
  scene,
  carla,
}) => {
  await scene.decide(carla, { confirmedRecords, comment: "called them" });
  const said = {
    ...{ runId: scene.run.runId, by: "carla", roles: ["controller"], comment: "called them" },
    records: [{ contactId: "con_p1", contactName: "Vendor of p1", updatedAt: RECORD }],
  };
  const report = await scene.gateway.call("GET", scene.path("report"), carla);
  expect(report.json["decisions"]).toMatchObject({ counted: [], confirmed: [said] });
  const history = await scene.gateway.call("GET", "/v1/payables/p1/history", carla);
  expect(history.json["confirmed"]).toMatchObject([said]);
  const other = await scene.gateway.call("GET", "/v1/payables/p2/history", carla);
  expect(other.json["confirmed"]).toEqual([]);
  const explained = await typed(scene.gateway, carla, ["explain", "p1"]);
  expect(explained.stdout).toMatch(/still right\n.*carla \(controller\): called them/);
  const text = await typed(scene.gateway, carla, ["report", scene.run.runId]);
  expect(text.stdout).toMatch(
    /still right, says carla \(controller\), .*: Vendor of p1: called them/,
  );
});

test("a bill's history has the words about its own vendor alone, whoever gave others in the run", async ({
  scene,
  carla,
}) => {
  const { gateway } = scene;
  const carl = await gateway.token("carl", ["controller"]);
  await scene.decide(carla, { confirmedRecords });
  await scene.decide(carl, { confirmedRecords: [{ contactId: "con_p2", updatedAt: RECORD }] });
  for (const [bill, by] of [
    ["p1", "carla"],
    ["p2", "carl"],
  ] as const) {
    const history = await gateway.call("GET", `/v1/payables/${bill}/history`, carla);
    expect(history.json["confirmed"]).toMatchObject([
      { by, records: [{ contactName: `Vendor of ${bill}` }] },
    ]);
  }
});

test("a row of a confirmed record that nobody has given is shown nowhere", async ({
  scene,
  carla,
}) => {
  const { db } = scene.gateway.store;
  const { runId } = scene.run;
  const businessId = (await getRun(db, runId))?.businessId ?? "";
  await db
    .insertInto("confirmed_records")
    .values({
      ...{ decision_id: "dec_forged", business_id: businessId, contact_id: "con_p1" },
      ...{ record: RECORD, run_id: runId, token_id: "tok_1", decided_at_ms: 9e15 },
    })
    .execute();
  const report = await scene.gateway.call("GET", scene.path("report"), carla);
  expect(report.json["decisions"]).toMatchObject({ confirmed: [] });
});

test("the launcher's word about an account doesn't count, nor does a rejection or another decision beside it", async ({
  scene,
  carla,
  lou,
}) => {
  expect(await scene.decide(lou, { confirmedRecords })).toMatchObject({ status: 403 });
  const rejected = await scene.decide(carla, { decision: "reject", confirmedRecords });
  expect(rejected).toMatchObject({ status: 422, json: { error: "not_rejectable" } });
  const verifiedBankChanges = [{ contactId: "con_p1", person: "Ann Lee", phone: "+12125550100" }];
  for (const beside of [{ drop: ["p1"] }, { verifiedBankChanges }, { topUpHash: "h" }]) {
    const answer = await scene.decide(carla, { confirmedRecords, ...beside });
    expect(answer).toMatchObject({ status: 400 });
  }
  expect(await askedRecords(scene.gateway.store.db, scene.run.runId)).toHaveLength(2);
});

test("one command answers for one vendor or for all, and names whom it is about", async ({
  scene,
  carla,
}) => {
  const { gateway, run } = scene;
  const none = await typed(gateway, carla, [
    "approve",
    run.runId,
    "--same-account",
    "Acme",
    "--yes",
  ]);
  expect(none).toMatchObject({ code: 2 });
  expect(none.stderr).toContain(
    "“Acme” is none of the vendors that you are asked about in this run: Vendor of p1 (con_p1), Vendor of p2 (con_p2)",
  );
  const shown = await typed(gateway, carla, ["show", run.runId]);
  expect(shown.stdout).toContain("Is the account still right? (2 vendors)");
  const all = await typed(gateway, carla, ["approve", run.runId, "--same-account", "all", "--yes"]);
  expect(all.stdout).toContain("The accounts of 2 vendors are still right");
  expect(await askedRecords(gateway.store.db, run.runId)).toEqual([]);
});

test.for([
  ["--drop", "p1"],
  ["--verified", "Acme=Ann Lee, +1 212 555 0100"],
  ["--plan-hash", "0"],
  ["--top-up"],
])(
  "an answer about an account with $0 beside it is refused, and nobody's account is confirmed",
  async (beside, { scene, carla }) => {
    const { gateway, run } = scene;
    const approve = ["approve", run.runId, "--same-account", "all", "--yes"];
    const refused = await typed(gateway, carla, [...approve, ...beside]);
    expect(refused).toMatchObject({ code: 2 });
    expect(refused.stderr).toContain(`--same-account can't have ${beside[0]} beside it`);
    expect(await askedRecords(gateway.store.db, run.runId)).toHaveLength(2);
  },
);

test("a person whose role can't give a word learns which role can, and one who isn't asked learns that", async ({
  scene,
}) => {
  const { gateway, run } = scene;
  const otto = await gateway.token("otto", ["operator"]);
  const say = () => typed(gateway, otto, ["approve", run.runId, "--same-account", "all", "--yes"]);
  await approveLines(gateway.store, run, ["p1", "p2"]);
  const refused = await say();
  expect(refused).toMatchObject({ code: 1 });
  expect(refused.stderr).toContain("Refused: this takes one of the roles controller, owner.");
  const asked = { record_asked: null, record_asked_at_ms: null };
  await gateway.store.db.updateTable("run_lines").set(asked).execute();
  expect((await say()).stderr).toContain("nobody waits for your word in this run");
});

test("the answer to a word about a scheduled payment says that it is scheduled already", async ({
  scene,
  carla,
}) => {
  const { gateway, run } = scene;
  const lines = gateway.store.db.updateTable("run_lines");
  await lines.set({ state: "scheduled" }).where("payable_id", "=", "p1").execute();
  const answer = await scene.decide(carla, { confirmedRecords });
  expect(answer.json["summary"]).toMatch(
    /^The account of 1 vendor is still right: 1 bill of \$100\.00 is scheduled already\./,
  );
  const other = await typed(gateway, carla, ["approve", run.runId, "--same-account", "all", "-y"]);
  expect(other.stdout).toContain("still right: 1 bill of $100.00 goes on.");
});

test("an approval doesn't count for bills that wait only for a word, and its answer names the command for the word", async ({
  scene,
  carla,
}) => {
  const { gateway, run } = scene;
  await approveLines(gateway.store, run, ["p1", "p2"]);
  const { stdout } = await typed(gateway, carla, ["approve", run.runId, "--yes"]);
  expect(stdout).toContain("it counts for 1 bill\n");
  expect(stdout).toContain("2 wait until the controller or owner says");
  expect(stdout).toMatch(
    /still needed: a word of controller or owner for 2 bills, \$200\.00: (npx )?payrun approve \S+ --same-account VENDOR, or all/,
  );
});

test("the run as everyone sees it counts bills that wait only for a word apart, with what differs and the command", async ({
  scene,
}) => {
  const { gateway, run } = scene;
  await approveLines(gateway.store, run, ["p1", "p2"]);
  const viewer = await gateway.token("vera", ["viewer"]);
  const { stdout } = await typed(gateway, viewer, ["show", run.runId]);
  expect(stdout).toContain(
    "the controller or owner says whether the account is still right (phone differs)",
  );
  expect(stdout).toContain("2 wait for approval, ");
  expect(stdout).toMatch(
    /2 wait only for one word, .*, \$200\.00: (npx )?payrun approve \S+ --same-account VENDOR, or all\./,
  );
});

test("the run's page asks about all vendors with one button", async ({ scene }) => {
  const carla = await signedIn(scene.gateway, "carla", ["controller"]);
  const page = `/runs/${encodeURIComponent(scene.run.runId)}`;
  const asked = await carla.get(page);
  expect(asked.text).toContain("Is the account still right?");
  const record = JSON.stringify({ contactId: "con_p2", updatedAt: RECORD });
  const said = await carla.send(asked, `${page}/accounts`, { plan: scene.run.planHash, record });
  expect(said.text).toContain("still right");
  expect(
    (await askedRecords(scene.gateway.store.db, scene.run.runId)).map(({ contactId }) => contactId),
  ).toEqual(["con_p1"]);
});
