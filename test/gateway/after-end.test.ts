import { expect } from "vitest";
import type { LineState } from "../../src/contracts/line-states.ts";
import { retryFailedPaymentId } from "../../src/contracts/workflow-kinds.ts";
import { shownSumsOf } from "../../src/store/lines/shown-sums.ts";
import { updateRetry, upsertRetry } from "../../src/store/retries/retries.ts";
import { setRunPhase } from "../../src/store/runs/runs.ts";
import { signedIn } from "../console/support/visits.ts";
import { gatewayTest } from "./support/gateway-test.ts";
import type { TestGateway } from "./support/gateway.ts";
import { planLine, seedRun, setLine, type SeededRun } from "./support/rows.ts";
import { typed } from "./support/typed.ts";

const test = gatewayTest()
  .extend("run", { auto: true }, async ({ gateway }) => {
    const late = { dueDate: "2026-11-20", flags: [{ kind: "late", text: "Late." }] } as const;
    return seedRun(gateway.store, { lines: [planLine("p1", late), planLine("p2")] });
  })
  .extend("viewer", ({ gateway }) => gateway.token("vic", ["viewer"]));

/** Completes the run with its bills in these states. */
async function completed(
  gateway: TestGateway,
  run: SeededRun,
  p1: LineState,
  p2: LineState,
): Promise<void> {
  await setLine(gateway.store, run.runId, "p1", {
    state: p1,
    ...(p1 === "parked" ? { reasonCode: "R02" } : {}),
  });
  await setLine(gateway.store, run.runId, "p2", { state: p2 });
  const ended = { phase: "completed", endedAtMs: Date.now() } as const;
  await setRunPhase(gateway.store.db, run.runId, ended);
}

const said = async (gateway: TestGateway, viewer: string, ...args: readonly string[]) => {
  const { code, stdout, stderr } = await typed(gateway, viewer, args);
  expect([code, stderr]).toEqual([0, expect.not.stringContaining("error")]);
  return stdout;
};

const phaseIn = async (gateway: TestGateway, viewer: string, ...args: readonly string[]) =>
  (JSON.parse(await said(gateway, viewer, ...args, "--json")) as { phase: string }).phase;

test("a run whose payments were all called back says so, and stays completed for programs", async ({
  gateway,
  run,
  viewer,
}) => {
  await completed(gateway, run, "cancelled", "cancelled");
  const outcome =
    "nothing of it was paid: all of its 2 bills, $200.00, were called back or left out";
  for (const args of [
    ["status"],
    ["status", run.runId],
    ["show", run.runId],
    ["report", run.runId],
  ])
    expect(await said(gateway, viewer, ...args), args.join(" ")).toContain(outcome);
  expect(await phaseIn(gateway, viewer, "status", run.runId)).toBe("completed");
});

test("a completed run says how many bills were called back or left out, if any", async ({
  gateway,
  run,
  viewer,
}) => {
  await completed(gateway, run, "cancelled", "settled");
  const some = "1 bill of 2, $100.00, was called back or left out";
  expect(await said(gateway, viewer, "status", run.runId)).toContain(some);
  expect(await said(gateway, viewer, "report", run.runId)).toContain(some);
  await completed(gateway, run, "cancelled", "parked");
  const besides = `${some}; 1 more, $100.00, has not settled`;
  expect(await said(gateway, viewer, "status", run.runId)).toContain(besides);
  await completed(gateway, run, "settled", "settled");
  expect(await said(gateway, viewer, "status", run.runId)).not.toContain("Outcome");
});

test("if money came back after a run had completed, status, list, show and report have one phase", async ({
  gateway,
  run,
  viewer,
}) => {
  await completed(gateway, run, "parked", "settled");
  const one = "completed-with-exceptions";
  for (const command of ["status", "show", "report"]) {
    expect([command, await phaseIn(gateway, viewer, command, run.runId)]).toEqual([command, one]);
  }
  const listed = async (phase: string) => {
    const { json } = await gateway.call("GET", `/v1/runs?phase=${phase}`, viewer);
    return (json["items"] as { phase: string }[]).map((item) => item.phase);
  };
  expect([await listed(one), await listed("completed")]).toEqual([[one], []]);
});

test("a bill that its retry has given back waits for the next run, and for no decision", async ({
  gateway,
  run,
  viewer,
}) => {
  await completed(gateway, run, "parked", "settled");
  const parked = async () => {
    const { json } = await gateway.call("GET", "/v1/payables?state=parked", viewer);
    return json["totalCount"];
  };
  expect(await parked()).toBe(1);
  const key = { businessId: "biz_acme", payableId: "p1" };
  await upsertRetry(gateway.store.db, {
    ...{ ...key, business: "acme", runId: run.runId, nowMs: 1 },
    workflowId: retryFailedPaymentId("acme", "p1"),
  });
  expect(await parked()).toBe(1);
  expect(await said(gateway, viewer, "status", "--needs-action")).toContain(run.runId);
  const vic = await signedIn(gateway, "vic", ["viewer"]);
  expect((await vic.get("/needs-action")).text).toContain("1 bill of $100.00 waits for a decision");
  await updateRetry(gateway.store.db, key, { phase: "ended" }, 2);
  expect(await parked()).toBe(0);
  expect(await said(gateway, viewer, "status", "--needs-action")).not.toContain(run.runId);
  // The sums in notices agree.
  expect([...(await shownSumsOf(gateway.store.db, run.runId)).keys()].toSorted()).toEqual([
    "given-back",
    "settled",
  ]);
  const told = await said(gateway, viewer, "explain", "BILL-p1");
  expect(told).toContain("given back for the next run");
  expect(told).toContain("It was given back, and waits for the next run");
  expect(told).not.toContain("waits for a person");
  for (const words of [
    ["status", run.runId],
    ["status", retryFailedPaymentId("acme", "p1")],
    ["show", run.runId],
    ["report", run.runId],
  ]) {
    expect(await said(gateway, viewer, ...words), words.join(" ")).toMatch(/BILL-p1 .*given-back/);
  }
  const csv = await said(gateway, viewer, "report", run.runId, "--csv");
  expect(csv).toMatch(/^payable_id,.*,stands,settled_usd,in_state_usd\r\n/);
  expect(csv).toMatch(/^p1,BILL-p1,.*,parked,.*,given-back,0\.00,100\.00\r$/m);
  expect(JSON.parse(await said(gateway, viewer, "status", run.runId, "--json"))).toMatchObject({
    givenBack: { count: 1, cents: 10_000 },
    payments: expect.arrayContaining([
      expect.objectContaining({ payableId: "p1", state: "parked", givenBack: true }),
    ]),
  });
  for (const page of ["runs", "reports"]) {
    const { text } = await vic.get(`/${page}/${encodeURIComponent(run.runId)}`);
    expect(text, page).toContain("Given back");
    expect(text, page).not.toContain("Needs a person");
  }
  const bulk = ["resolve", "--retry", "--reason", "new account", "--reason-code", "R02", "--yes"];
  const operator = await gateway.token("oli", ["operator"]);
  const none = await typed(gateway, operator, bulk);
  expect({ code: none.code, stderr: none.stderr }).toEqual({
    code: 2,
    stderr: expect.stringMatching(/no bill is parked for R02\n.*No bill is parked\./),
  });
  await setLine(gateway.store, run.runId, "p2", { state: "parked", reasonCode: "over_bill_limit" });
  expect((await typed(gateway, operator, bulk)).stderr).toContain(
    "Bills are parked for over_bill_limit.",
  );
});

test("a bill that was given back stays so in its run even if the next run's payment fails too", async ({
  gateway,
  run,
  viewer,
}) => {
  await completed(gateway, run, "parked", "settled");
  const { db } = gateway.store;
  const next = await seedRun(gateway.store, { lines: [planLine("p1")], period: "2026-11-27" });
  await setLine(gateway.store, next.runId, "p1", { state: "parked", reasonCode: "R03" });
  const key = { businessId: "biz_acme", payableId: "p1" };
  await upsertRetry(db, {
    ...{ ...key, business: "acme", runId: next.runId, nowMs: 1 },
    workflowId: retryFailedPaymentId("acme", "p1"),
  });
  await updateRetry(db, key, { phase: "parked" }, 2);
  expect(await said(gateway, viewer, "report", run.runId)).toMatch(/BILL-p1 .*given-back/);
  expect(await said(gateway, viewer, "report", next.runId)).toMatch(/BILL-p1 .*parked/);
});

test("show calls no settled bill late, and shows no balances once everything is decided", async ({
  gateway,
  run,
  viewer,
}) => {
  const before = await said(gateway, viewer, "show", run.runId);
  expect(before).toContain("Late (1 bill), even if approved at once");
  await completed(gateway, run, "settled", "settled");
  const after = await said(gateway, viewer, "show", run.runId);
  expect(after).not.toContain("Late");
  expect(after).not.toMatch(/ before[;,]| after\./);
});

test("an open run first waits for its parked bills, without those given back", async ({
  gateway,
  run,
  viewer,
}) => {
  const { db } = gateway.store;
  await setLine(gateway.store, run.runId, "p1", { state: "parked", reasonCode: "R02" });
  await db.updateTable("runs").set({ waiting_for: "1 bill scheduled" }).execute();
  const waits = "Waits for: 1 bill waiting for a person, 1 bill scheduled";
  for (const command of ["status", "show"])
    expect(await said(gateway, viewer, command, run.runId), command).toContain(waits);
  const key = { businessId: "biz_acme", payableId: "p1" };
  await upsertRetry(db, {
    ...{ ...key, business: "acme", runId: run.runId, nowMs: 1 },
    workflowId: retryFailedPaymentId("acme", "p1"),
  });
  await updateRetry(db, key, { phase: "ended" }, 2);
  expect(await said(gateway, viewer, "status", run.runId)).toContain("Waits for: 1 bill scheduled");
});
