import { expect, test as base } from "vitest";
import { openIncident } from "../../src/store/incidents/incidents.ts";
import { profile, type TestGateway } from "../gateway/support/gateway.ts";
import { gatewayOf } from "../gateway/support/gateway-test.ts";
import type { SeededRun } from "../gateway/support/rows.ts";
import { seedDeposit } from "./support/deposit.ts";
import { signedIn } from "./support/visits.ts";
import { seedWeekly } from "./support/weekly-run.ts";

const HASH = "h".repeat(64);
const INCIDENT = "funding-incident/acme/balance";

const careful = profile({ signIn: { freshOverCents: 100_000 } });

const test = base
  .extend("clock", () => ({ nowMs: Date.now() }))
  .extend("gateway", ({ clock }) => gatewayOf({ profiles: [careful], nowMs: () => clock.nowMs }))
  .extend("run", { auto: true }, ({ gateway }) => seedWeekly(gateway.store))
  .extend("otto", ({ gateway }) => signedIn(gateway, "otto", ["owner"]))
  .extend("page", ({ run }) => `/runs/${encodeURIComponent(run.runId)}/deposit`);

const ask = (gateway: TestGateway, run: SeededRun, owner: string) =>
  seedDeposit(gateway.store, { run, owner, hash: HASH });

async function standsAs(gateway: TestGateway, owner: string): Promise<string[]> {
  const rows = await gateway.store.db.selectFrom("top_ups").selectAll().execute();
  return rows.filter((row) => row.owner === owner).map(({ state }) => state);
}

const check = (run: SeededRun, page: string) => `${page}?topUp=${HASH}&plan=${run.planHash}`;

test("a deposit is decided only by a choice: a comment alone decides nothing", async ({
  gateway,
  run,
  otto,
  page,
}) => {
  await ask(gateway, run, run.runId);
  const asked = await otto.get(check(run, page));
  expect(asked.text).toContain("Approve the deposit");
  const silent = await otto.send(asked, page, { comment: "no, too much" });
  expect(silent.status).toBe(422);
  expect(silent.text).toContain("Say whether it is approved or refused.");
  expect(silent.html).toContain('value="no, too much"');
  expect(await standsAs(gateway, run.runId)).toEqual(["proposed"]);
  const refused = await otto.send(silent, page, { decision: "reject", comment: "no, too much" });
  expect(refused.text).toContain("Your rejection counts");
  expect(await standsAs(gateway, run.runId)).toEqual(["refused"]);
});

test("Today and Needs action show a waiting deposit, and whether it waits for the reader", async ({
  gateway,
  run,
  otto,
  page,
}) => {
  await ask(gateway, run, run.runId);
  const db = gateway.store.db;
  const bills = db
    .updateTable("run_lines")
    .set({ state: "planned" })
    .where("run_id", "=", run.runId);
  await bills.execute();
  await db.updateTable("runs").set({ phase: "paying" }).where("run_id", "=", run.runId).execute();
  const mine = await otto.get("/");
  expect(mine.text).toContain("1 deposit of $1,500.00 waits for your approval.");
  expect(mine.text).toMatch(/From First Bank ••1234 into the balance; it waits for you/);
  expect(mine.text).toContain("to be made by Fri, Nov 27");
  expect(mine.text).not.toMatch(/Nothing needs you now|No run waits/);
  expect(mine.html).toContain(`${page}?topUp=${HASH}`);
  const needs = await otto.get("/needs-action");
  expect(needs.text).toContain("1 deposit of $1,500.00 waits for approval.");
  expect(needs.text).not.toContain("Nothing stands still");
  expect(needs.html).toContain(`${page}?topUp=${HASH}`);
  for (const [name, roles] of [
    ["cora", ["controller"]],
    // The run's launcher can't approve its deposits.
    ["lou", ["owner"]],
  ] as const) {
    const other = await (await signedIn(gateway, name, roles)).get("/");
    expect(other.text).toContain("Nothing needs you now.");
    expect(other.text).toMatch(/Waits for others.*it needs the owner/s);
  }
  const asked = await otto.get(check(run, page));
  await otto.send(asked, page, { decision: "approve", comment: "" });
  expect((await otto.get("/")).text).toContain("Nothing needs you now.");
});

test("a deposit of a plan that has changed can't be decided, and the page says so", async ({
  gateway,
  run,
  otto,
  page,
}) => {
  await ask(gateway, run, run.runId);
  const old = await otto.get(`${page}?topUp=${HASH}&plan=another`);
  expect(old.status).toBe(409);
  expect(old.text).toContain("The plan has changed");
});

test("a large deposit for an account needs a newer sign-in, and keeps what was filled in", async ({
  gateway,
  run,
  otto,
  clock,
}) => {
  await gateway.store.transaction((trx) =>
    openIncident(trx, {
      ...{ businessId: "biz_acme", business: "acme", sourceId: "balance", code: "R01" },
      ...{ workflowId: INCIDENT, reason: "Insufficient funds" },
      ...{ roles: ["owner"], nowMs: clock.nowMs, failedAtMs: clock.nowMs },
    }),
  );
  await ask(gateway, run, INCIDENT);
  const path = "/incidents/balance?business=acme";
  clock.nowMs += 16 * 60_000;
  const filled = { decision: "top-up", reason: "agreed with Olga" };
  const refused = await otto.send(await otto.get(path), path, filled);
  expect(refused.status).toBe(403);
  expect(refused.text).toContain("Sign in again first");
  expect(refused.html).toContain(`/sign-in?again=true&amp;to=${encodeURIComponent(path)}`);
  const token = await gateway.token("otto", ["owner"]);
  const link = await gateway.call("POST", "/v1/sign-in-links", token);
  await otto.browser.post("/sign-in", { code: String(link.json["code"]), to: "/" });
  const again = await otto.get(path);
  expect(again.html).toContain('value="agreed with Olga"');
  expect(again.html).toMatch(/value="top-up"\s+required\s+checked/);
  const done = await otto.send(again, path, filled);
  expect(done.text).toContain("The deposit is approved.");
});
