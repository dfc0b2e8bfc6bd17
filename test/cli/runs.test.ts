import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import type { DryPlan } from "../../src/contracts/pay-run.ts";
import type { RunStatus } from "../../src/api/runs.ts";
import { type Bill, bills } from "../support/bills.ts";
import { startPayrun, type TestPayrun } from "../support/payrun.ts";
import { attemptsOf } from "../../src/ledger/attempts.ts";
import { createToken } from "../../src/store/approvals/tokens.ts";
import { type CliResult, payrun, temporaryFolder } from "./cli.ts";
import { sinceLastWeek } from "../support/launchers.ts";
import { until } from "../support/waits.ts";

const PLAYBOOK = `kind: pay-run
select: { due: all }
pay: { on: next-business-day }
review: []
approve:
  - { over: $500, by: [owner] }
  - { by: [controller] }
`;

let stack: TestPayrun;
let made: Bill[];
let runId: string;
const tokens = new Map<string, string>();

async function person(name: string, roles: string[]): Promise<void> {
  const { token } = await createToken(stack.store, {
    name,
    roles,
    createdBy: "setup",
    nowMs: Date.now() - 60_000,
  });
  tokens.set(name, token);
}

function as(name: string, args: readonly string[], cwd?: string): Promise<CliResult> {
  const env = {
    PAYRUN_GATEWAY_URL: stack.gatewayUrl,
    PAYRUN_TOKEN: tokens.get(name) ?? "",
    PAYRUN_DATABASE_URL: stack.databaseUrl,
  };
  return payrun(args, { env, ...(cwd === undefined ? {} : { cwd }) });
}

beforeAll(async () => {
  stack = await startPayrun();
  await person("ada", ["admin", "launcher"]);
  await person("cleo", ["controller"]);
  await person("lou", ["launcher"]);
  await person("olga", ["owner", "operator"]);
  made = await bills(stack.sandbox, [100_00, 200_00, 900_00]);
});

afterAll(() => stack.stop());

function idOf(index: number): string {
  const bill = made[index];
  if (bill === undefined) throw new Error(`no bill ${index}`);
  return bill.id;
}

describe("runs, from the command line", () => {
  test("plan of a file stores nothing and equals the plan of the applied playbook", async () => {
    const cwd = temporaryFolder();
    writeFileSync(join(cwd, "cli-weekly.yaml"), PLAYBOOK);
    const unstored = await as("lou", ["plan", "cli-weekly.yaml", "--json"], cwd);
    expect(unstored.code).toBe(0);
    expect((await as("ada", ["apply", "cli-weekly.yaml", "--check"], cwd)).code).toBe(1);
    expect((await as("ada", ["plan", "cli-weekly"])).code).toBe(1);
    expect((await as("ada", ["apply", "cli-weekly.yaml"], cwd)).code).toBe(0);
    expect((await as("ada", ["apply", "cli-weekly.yaml", "--check"], cwd)).code).toBe(0);
    const stored = await as("lou", ["plan", "cli-weekly", "--json"]);
    expect(stored.json()).toEqual(unstored.json());
  });

  test("plan says why each bill is in or out, without a run", async () => {
    const human = await as("ada", ["plan", "cli-weekly"]);
    expect(human.code).toBe(0);
    // The summary comes last; bills left out are only counted, and listed with --all.
    expect(human.stdout).toMatch(/Pays +Amount[\s\S]+\n3 bills to pay, \$1,200\.00/);
    expect(human.stdout).not.toContain("Leaves out");
    const cwd = temporaryFolder();
    const dear = PLAYBOOK.replace("review: []", "where: payable.amountCents > 15000");
    writeFileSync(join(cwd, "dear.yaml"), dear.replace("[controller]", "[controler]"));
    const some = await as("ada", ["plan", "dear.yaml"], cwd);
    expect(some.stdout).toMatch(
      /\nLeft out \(1 bill\): 1 outside the playbook's “where”\n +--all lists them\n2 bills to pay, \$1,100\.00\n/,
    );
    expect(some.stdout).not.toContain("Leaves out");
    expect(some.stdout).toMatch(/approval by controler, .* role\. Did you mean controller\?/);
    const all = await as("ada", ["plan", "dear.yaml", "--all"], cwd);
    expect(all.stdout).toMatch(
      /Leaves out +Amount[^]*\n.* \$100\.00 .*The playbook's “where” condition leaves it out\./,
    );
    expect(all.stdout).not.toContain("--all lists them");
    const result = await as("ada", ["plan", "cli-weekly", "--json"]);
    const plan = result.json<DryPlan>();
    expect(plan).toMatchObject({ playbook: "cli-weekly", lineCount: 3, totalCents: 1_200_00 });
    expect((await as("ada", ["status", "--json"])).json()).toMatchObject({
      items: [],
      totalCount: 0,
    });
  });

  test("applying an unchanged playbook again keeps its revision", async () => {
    const cwd = temporaryFolder();
    writeFileSync(join(cwd, "cli-weekly.yaml"), PLAYBOOK);
    const result = await as("ada", ["apply", "cli-weekly.yaml", "--json"], cwd);
    expect(result.json()).toEqual({
      applied: [{ name: "cli-weekly", business: "default", revision: 1, changed: false }],
    });
  });

  test("revert stores an earlier revision again, as the newest", async () => {
    const cwd = temporaryFolder();
    for (const text of [PLAYBOOK, `${PLAYBOOK}# changed\n`]) {
      writeFileSync(join(cwd, "reverted.yaml"), text);
      await as("ada", ["apply", "reverted.yaml"], cwd);
    }
    const result = await as("ada", ["revert", "reverted", "--json"]);
    expect(result.json()).toMatchObject({ applied: [{ revision: 3 }], revertedTo: 1 });
    const { body } = await stack.call<{ items: { text: string }[] }>(
      "admin",
      "GET",
      "/v1/playbooks/reverted",
    );
    expect(body.items[0]?.text).toBe(PLAYBOOK);
    expect((await as("ada", ["revert", "reverted", "9"])).stderr).toContain("it has 3, 2, 1");
    expect((await as("cleo", ["revert", "reverted"])).code).toBe(1);
    const history = await as("cleo", ["playbook", "history", "reverted"]);
    expect(history.stdout).toMatch(/\b3 +ada .* as revision 1\n2 +ada .* \(\+1 −0 lines\)\n1 +ada/);
    const shown = await as("cleo", ["playbook", "show", "reverted", "2"]);
    expect(shown.stdout).toBe(`${PLAYBOOK}# changed\n`);
    const list = await as("cleo", ["playbook", "list", "--json"]);
    const named = (list.json() as { items: object[] }).items;
    expect(named).toContainEqual(expect.objectContaining({ name: "reverted", revision: 3 }));
    expect((await as("cleo", ["playbook", "history", "none"])).stderr).toContain("playbook list");
    expect((await as("ada", ["revert", "none"])).code).toBe(1);
  });

  test("apply of a folder stores referenced playbooks first, and on an error lists what is stored", async () => {
    const cwd = temporaryFolder();
    const write = (name: string, text: string): void =>
      writeFileSync(join(cwd, `${name}.yaml`), text);
    const rules = "kind: retry-failed\nrules:\n  - { match: anything-else, ask: [operator] }\n";
    write("named-last", rules);
    write("asks-first", `${PLAYBOOK}onFailure: named-last\n`);
    expect((await as("ada", ["apply", cwd])).code).toBe(0);
    write("bad-one", `${PLAYBOOK}onFailure: nobody-has-it\n`);
    const stopped = await as("ada", ["apply", cwd]);
    expect(stopped.code).toBe(2);
    expect(stopped.stderr).toMatch(/bad-one: onFailure names “nobody-has-it”/);
    expect(stopped.stderr).toMatch(
      /named-last, asks-first are stored, but bad-one and what follows/,
    );
  });

  test("apply shows what a new revision changes; --check reports a changed file or schedule", async () => {
    const cwd = temporaryFolder();
    const file = join(cwd, "nightly.yaml");
    const text = (every: string): string => `${PLAYBOOK}schedule: { every: ${every} }\n`;
    writeFileSync(file, text("thursday"));
    expect((await as("ada", ["apply", file])).stdout).toContain("nightly, revision 1");
    expect((await as("ada", ["apply", file])).stdout).toContain("revision 1 as before");
    writeFileSync(file, text("day"));
    const drift = await as("ada", ["apply", file, "--check"]);
    expect(drift.code).toBe(1);
    expect(drift.stdout).toContain("differs from revision 1");
    const applied = await as("ada", ["apply", file]);
    expect(applied.stdout).toMatch(
      /-schedule: \{ every: thursday \}\s+\+schedule: \{ every: day \}/,
    );
    expect((await as("ada", ["schedule", "delete", "nightly"])).code).toBe(0);
    const missing = await as("ada", ["apply", file, "--check", "--json"]);
    expect(missing.code).toBe(1);
    expect(missing.json()).toMatchObject({ checked: [{ changed: false, schedule: "missing" }] });
    expect((await as("ada", ["apply", file])).code).toBe(0);
    expect((await as("ada", ["apply", file, "--check"])).code).toBe(0);
  });

  test("a schedule is listed with its next five runs, paused, resumed, and launches by itself", async () => {
    const list = await as("ada", ["schedule", "list", "nightly"]);
    expect(list.stdout).toContain("America/New_York");
    const paused = await as("olga", ["schedule", "pause", "nightly", "--reason", "stocktaking"]);
    expect(paused.stdout).toContain("paused  olga: stocktaking");
    expect((await as("cleo", ["schedule", "resume", "nightly"])).code).toBe(1);
    const resumed = await as("olga", ["schedule", "resume", "nightly", "--json"]);
    expect({ code: resumed.code, stderr: resumed.stderr }).toMatchObject({ code: 0 });
    const { state, next } = resumed.json<{ state: string; next: unknown[] }>();
    expect({ state, runs: next.length }).toEqual({ state: "active", runs: 5 });
    expect((await as("ada", ["schedule", "pause", "cli-weekly"])).code).toBe(1);

    const file = join(temporaryFolder(), "daily.yaml");
    writeFileSync(file, "kind: pay-run\nschedule: { every: day }\n");
    expect((await as("ada", ["apply", file])).code).toBe(0);
    await sinceLastWeek(stack, "daily");
    await stack.temporal.schedule.getHandle("scheduled-pay-run/default/daily").trigger();
    const daily = async () => {
      const { items } = (await as("ada", ["status", "--json"])).json<{
        items: { playbook: string; launchedBy: string; id: string }[];
      }>();
      return items.find(({ playbook }) => playbook === "daily");
    };
    const run = await until(daily, (found) => found !== undefined, { intervalMs: 500 });
    expect(run.launchedBy).toBe("schedule of daily");
    await as("olga", ["cancel", run.id]);
    await as("ada", ["schedule", "delete", "daily"]);
    await as("ada", ["schedule", "delete", "nightly"]);
    const deleted = await as("ada", ["schedule", "list", "nightly"]);
    expect(deleted.stdout).toMatch(
      /nightly for default: deleted; .*payrun apply FILE makes it again\s*$/,
    );
  });

  test("launch prints the run, and launching again joins it", async () => {
    const first = await as("ada", ["launch", "cli-weekly", "--json"]);
    expect(first.code).toBe(0);
    runId = first.json<RunStatus>().id;
    const again = await as("ada", ["launch", "cli-weekly", "--json"]);
    expect(again.json<RunStatus>().id).toBe(runId);
  });

  test("a command without the needed role exits 1 and names the roles that may run it", async () => {
    const { code, stderr } = await as("cleo", ["launch", "cli-weekly"]);
    expect(stderr).toContain("launcher, admin");
    expect(code).toBe(1);
    const nobody = await as("nobody", ["status"]);
    expect(nobody.code).toBe(1);
    expect(nobody.stderr).toContain("PAYRUN_TOKEN");
  });

  test("the launcher's approval, an old plan's and an unknown bill's are refused", async () => {
    const launcher = await as("ada", ["approve", runId, "--yes"]);
    expect(launcher.code).toBe(1);
    expect(launcher.stderr).toMatch(/has changed this playbook/);
    const old = await as("cleo", ["approve", runId, "--plan-hash", "0000", "--yes", "--json"]);
    expect(old.code).toBe(1);
    expect(old.json()).toMatchObject({ error: "stale_plan" });
    const stranger = await as("cleo", ["approve", runId, "--drop", "pbl_none", "--yes"]);
    expect(stranger.code).toBe(2);
    expect(stranger.stderr).toContain("pbl_none");
  });

  test("launch --wait exits 3 if the run still waits for a person at the timeout", async () => {
    const args = ["launch", "cli-weekly", "--wait", "--timeout", "2s", "--json"];
    const { code, json, stderr } = await as("ada", args);
    expect(code).toBe(3);
    expect(json<RunStatus>()).toMatchObject({ id: runId, phase: "awaiting-approval" });
    expect(stderr).toContain("awaiting-approval");
  });

  test("a hold shows in the list and is released", async () => {
    const made = await as("olga", ["hold", idOf(1), "--reason", "check it", "--json"]);
    expect(made.code).toBe(0);
    const { id } = made.json<{ id: string }>();
    expect((await as("olga", ["holds"])).stdout).toContain("check it");
    expect((await as("cleo", ["release", id])).code).toBe(1);
    expect((await as("olga", ["release", id])).code).toBe(0);
    expect((await as("olga", ["holds", "--json"])).json()).toEqual({ items: [] });
  });

  test("approve prints what it counts for, what it leaves out and what is still needed", async () => {
    const { code, stdout } = await as("cleo", [
      "approve",
      "cli-weekly",
      "--drop",
      idOf(1),
      "--yes",
    ]);
    expect(stdout).toContain("counts for 1 bill, 1 bill left out");
    expect(stdout).toContain("still needed: 1 more of owner for 1 bill, $900.00");
    expect(code).toBe(0);
    const owner = await as("olga", ["approve", runId, "--yes", "--json"]);
    expect(owner.json()).toMatchObject({ accepted: true, missing: [] });
  });

  test("watch follows the run to its end, and launch --wait then exits 0", async () => {
    await stack.untilPhase(runId, "settling");
    await stack.sandbox.control.setScale(43_200);
    const watched = await as("cleo", ["watch", runId, "--json"]);
    // The run is over, so the clock no longer has to run fast.
    await stack.sandbox.control.setScale(1);
    expect(watched.json()).toMatchObject({ phase: "completed" });
    expect(watched.code).toBe(0);
    // Days have passed on the business clock: without --period this would be another period.
    const period = runId.split("/").at(-1) ?? "";
    const args = ["launch", "cli-weekly", "--period", period, "--wait", "--json"];
    const joined = await as("ada", args);
    expect(joined.json()).toMatchObject({ phase: "completed" });
    expect(joined.code).toBe(0);
  });

  test("report prints a run for people, as JSON and as CSV", async () => {
    const json = (await as("cleo", ["report", runId, "--json"])).json();
    expect(json).toMatchObject({ bills: 3, settledBills: 2, settledCents: 1_000_00 });
    const csv = await as("cleo", ["report", runId, "--csv"]);
    expect(csv.stdout.split("\r\n")[0]).toContain("payable_id");
    expect(csv.stdout.split("\r\n")).toHaveLength(5);
    expect((await as("cleo", ["report", runId])).stdout).toContain("settled: 2, $1,000.00");
  });

  test("explain prints a bill's approvals, requests and events", async () => {
    const { stdout, code } = await as("cleo", ["explain", idOf(0)]);
    expect(code).toBe(0);
    const [attempt] = await attemptsOf(stack.store.db, stack.sandbox.business.businessId, idOf(0));
    const told = ["Approved", "by token", "Requests", "1  pay", "What happened"];
    for (const words of told) expect(stdout).toContain(words);
    expect(stdout).toContain(attempt?.idempotencyKey ?? "an attempt");
    const unknown = await as("cleo", ["explain", "pbl_none", "--json"]);
    expect(unknown.code).toBe(2);
    expect(unknown.json()).toMatchObject({ error: "not_found" });
  });

  test("resolve exits 1 and refuses a bill that is not parked", async () => {
    const args = ["resolve", idOf(0), "--give-up", "--reason", "no", "--yes", "--json"];
    const { code, json } = await as("olga", args);
    expect(code).toBe(1);
    expect(json()).toMatchObject({ resolved: [], refused: [{ payableId: idOf(0) }] });
  });

  test("cancel and reject of a run that has ended exit 1 and say so", async () => {
    const cancelled = await as("olga", ["cancel", runId]);
    expect(cancelled.code).toBe(1);
    expect(cancelled.stderr).toContain("ended");
    const rejected = await as("cleo", ["reject", runId, "--reason", "late"]);
    expect(rejected.code).toBe(1);
  });

  test("status lists the runs and shows one, by its id or its playbook's name", async () => {
    expect((await as("cleo", ["status"])).stdout).toContain(runId);
    const one = await as("cleo", ["status", "cli-weekly"]);
    expect(one.stdout).toContain("completed");
    expect(one.stdout).toMatch(/settled +2 +\$1,000\.00/);
    const unknown = await as("cleo", ["status", "no-such"]);
    expect(unknown.code).toBe(2);
    expect((await as("cleo", ["status", "pay-run/x/y/2026-01-01"])).code).toBe(2);
  });
});
