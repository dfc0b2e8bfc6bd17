import { expect } from "vitest";
import { payRunId } from "../../src/contracts/workflow-kinds.ts";
import { recordLaunch, setRunPhase } from "../../src/store/runs/runs.ts";
import { payRunPlaybook } from "../support/pay-run-playbook.ts";
import { storePlaybook } from "../support/stored-playbook.ts";
import type { TestGateway } from "./support/gateway.ts";
import { planLine, seedRun, setLine } from "./support/rows.ts";
import { ospreyTest as test } from "./support/osprey.ts";
import { typedBy } from "./support/typed.ts";

/** Problems that people had with runs and their bills, tested with the commands that they typed. */

function as(gateway: TestGateway, name: string, roles: readonly string[], args: readonly string[]) {
  return typedBy(gateway, { name, roles }, args);
}

test("a plan-only playbook pays nothing, and its runs say so", async ({ gateway }) => {
  const schedule = { every: "thursday", mode: "plan-only" };
  await storePlaybook(gateway.store, {
    name: "beside",
    text: `kind: pay-run\nschedule: ${JSON.stringify(schedule)}\n`,
  });
  const asked = await as(gateway, "lena", ["launcher"], ["pay", "BILL-000071"]);
  expect(asked.stderr).toMatch(/several pay-run playbooks \(beside, weekly\).*--playbook weekly\./);
  const paid = await as(
    gateway,
    "lena",
    ["launcher"],
    ["pay", "BILL-000071", "--playbook", "beside"],
  );
  expect([paid.code, paid.stderr]).toEqual([
    2,
    expect.stringContaining("Nothing is paid under “beside”: its playbook's schedule only plans"),
  ]);
  const policy = payRunPlaybook({
    schedule: {
      days: { every: "week", on: "thursday" },
      ...{ at: "10:00", zone: "America/New_York", holidays: "skip", catchUpDays: 1 },
      mode: "plan-only",
    },
  });
  await gateway.store.transaction((trx) =>
    recordLaunch(trx, {
      ...{ businessId: "biz_acme", business: "acme", playbook: "beside", playbookRevision: 1 },
      ...{ policy, period: "2026-11-26", launchedBy: "lou", launchedByTokenId: null },
      nowMs: Date.now(),
    }),
  );
  const id = payRunId("acme", "beside", "2026-11-26", 1);
  const { stdout } = await as(gateway, "cora", ["controller"], ["status"]);
  expect(stdout).toMatch(new RegExp(`${id} +planning +\\$0\\.00 +only planned`));
});

test("a parked bill's reason says what to do, and status and explain show the command", async ({
  gateway,
  run,
}) => {
  await setLine(gateway.store, run.runId, "p1", { state: "parked", reason: "Ask the vendor." });
  for (const command of ["status", "explain"]) {
    const what = command === "status" ? "weekly" : "BILL-000071";
    const { stdout } = await as(gateway, "vic", ["viewer"], [command, what]);
    expect(stdout).toContain("Ask the vendor.");
    expect(stdout).toContain("payrun resolve BILL-000071 --retry, --paid-elsewhere or --give-up");
  }
});

test("a bill over a limit is shown with the ways to pay it, and its retry is refused with the same", async ({
  gateway,
  run,
}) => {
  const reasonCode = "over_bill_limit";
  await setLine(gateway.store, run.runId, "p1", { state: "parked", reasonCode, reason: "Over." });
  const way = /Over limits\.bill .*raise it .*payrun pay BILL-000071 does/;
  for (const told of [
    ["status", "weekly"],
    ["explain", "BILL-000071"],
  ]) {
    const { stdout } = await as(gateway, "vic", ["viewer"], told);
    expect(stdout).toMatch(way);
    expect(stdout).toContain("payrun resolve BILL-000071 --paid-elsewhere or --give-up");
  }
  const retry = ["resolve", "BILL-000071", "--retry", "--reason", "now", "--yes"];
  expect((await as(gateway, "oli", ["operator"], retry)).stdout).toMatch(way);
});

test("a bill that another run has paid doesn't wait for a person in the run that parked it", async ({
  gateway,
  run,
}) => {
  const reasonCode = "over_bill_limit";
  await setLine(gateway.store, run.runId, "p1", { state: "parked", reasonCode, reason: "Over." });
  const later = await seedRun(gateway.store, { period: "2027-01-08", lines: [planLine("p1")] });
  await setLine(gateway.store, later.runId, "p1", { state: "settled" });
  for (const command of ["status", "report"]) {
    const { stdout } = await as(gateway, "vic", ["viewer"], [command, run.runId]);
    expect(stdout).toMatch(/given-back +1/);
    expect(stdout).toContain(`Over. ${later.runId} has had it since.`);
    expect(stdout).not.toMatch(/parked|payrun resolve/);
  }
});

test("watching a run without a worker says so", async ({ gateway, run }) => {
  await setLine(gateway.store, run.runId, "p1", { state: "settled" });
  await setRunPhase(gateway.store.db, run.runId, { phase: "completed", endedAtMs: Date.now() });
  const { code, stderr } = await as(gateway, "vic", ["viewer"], ["watch", run.runId]);
  expect(code).toBe(0);
  expect(stderr).toMatch(/no worker has been heard from\n.*payrun worker/);
});

test("status, show, approve, release and cancel say if no worker is running", async ({
  gateway,
}) => {
  const nobody = /no worker has been heard from\n.*payrun worker/;
  for (const words of [
    ["status", "weekly"],
    ["show", "weekly"],
  ])
    expect((await as(gateway, "vic", ["viewer"], words)).stderr, words[0]).toMatch(nobody);
  await as(gateway, "cora", ["controller"], ["hold", "BILL-000071", "--reason", "a call is open"]);
  const released = await as(gateway, "cora", ["controller"], ["release", "BILL-000071"]);
  expect(released.stderr).toMatch(nobody);
  expect(
    (await as(gateway, "cora", ["controller"], ["approve", "weekly", "--yes"])).stderr,
  ).toMatch(nobody);
  expect((await as(gateway, "oli", ["operator"], ["cancel", "weekly"])).stderr).toMatch(nobody);
});

test("a decision by playbook name on an ended run says which run that is", async ({
  gateway,
  run,
}) => {
  await setRunPhase(gateway.store.db, run.runId, { phase: "rejected", endedAtMs: Date.now() });
  const decide = (text: string) => as(gateway, "cora", ["controller"], ["approve", text, "--yes"]);
  expect((await decide("weekly")).stderr).toMatch(/The newest run of that name is weekly\/2026/);
  expect((await decide(run.runId)).stderr).not.toContain("newest");
});

test("watching a run that ends with exceptions exits with 1, as waiting for it does", async ({
  gateway,
  run,
}) => {
  await setLine(gateway.store, run.runId, "p1", { state: "given-up" });
  const phase = "completed-with-exceptions";
  await setRunPhase(gateway.store.db, run.runId, { phase, endedAtMs: Date.now() });
  expect((await as(gateway, "vic", ["viewer"], ["watch", run.runId])).code).toBe(1);
});

test("an off-cycle run shows on which day each of its bills is paid, and when that arrives", async ({
  gateway,
}) => {
  const bill = { publicId: "BILL-000072", contactName: "Osprey Robotics", amountCents: 4_000 };
  const dates = { executionDate: "2026-11-30", arrivalDate: "2026-12-03" };
  const { runId } = await seedRun(gateway.store, {
    period: "2026-11-27-pay-1f9c",
    lines: [planLine("p2", { ...bill, ...dates })],
  });
  const { stdout } = await as(gateway, "vic", ["viewer"], ["status", runId]);
  expect(stdout).toMatch(/\nBill +Amount +Pays on +Arrives\n/);
  expect(stdout).toMatch(/\nOsprey Robotics BILL-000072 +\$40\.00 +2026-11-30 +2026-12-03\n/);
});

test("asking for the status of a bill names the command to use instead", async ({ gateway }) => {
  const { code, stderr } = await as(gateway, "vic", ["viewer"], ["status", "BILL-000071"]);
  expect(code).toBe(2);
  expect(stderr).toContain("payrun explain BILL-000071 says what happened to it");
});

test("reject says what it means for the run", async ({ gateway, run }) => {
  const { code, stdout } = await as(gateway, "cora", ["controller"], ["reject", run.runId]);
  expect([code, stdout]).toEqual([0, expect.stringContaining("Nothing more of it is paid.")]);
});

test("cancel says that the run is cancelled, and shows its final states", async ({
  gateway,
  run,
}) => {
  const cancel = as(
    gateway,
    "oli",
    ["operator"],
    ["cancel", run.runId, "--reason", "again", "--yes"],
  );
  // As if a worker looked a moment later.
  const change = { state: "cancelled", reasonCode: "run_cancelled" } as const;
  setTimeout(() => void setLine(gateway.store, run.runId, "p1", change), 300);
  const { code, stdout } = await cancel;
  expect(code).toBe(0);
  expect(stdout).toContain(`cancelled: ${run.runId}`);
  expect(stdout).toMatch(/cancelled +1 /);
  expect(stdout).not.toMatch(/awaiting-approval +1 /);
});
