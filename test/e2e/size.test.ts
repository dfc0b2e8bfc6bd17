import { afterEach, expect, test, vi } from "vitest";
import { historyFigures } from "../../bench/run/history.ts";
import type { DryPlan, RunStatus } from "../../src/contracts/pay-run.ts";
import { type CliResult, payrun as cli } from "../cli/cli.ts";
import { StubPayrun } from "../support/stub-payrun.ts";

vi.setConfig({ testTimeout: 240_000 });

let payrun: StubPayrun | undefined;
afterEach(async () => {
  await payrun?.stop();
  payrun = undefined;
});

/** Everything of a business, on one controller's word; `where` narrows it. */
function playbook(business: string, where = ""): string {
  return `kind: pay-run
business: ${business}
select: { due: all }
${where === "" ? "" : `where: ${where}\n`}pay: { on: next-business-day }
review: []
approve:
  - { by: [controller, owner] }
late: next-business-day
`;
}

test("a run of a thousand bills costs a few events in all, and no payload grows with its bills", async () => {
  payrun = await StubPayrun.start([{ businessId: "acme", token: "acme-token", bills: 1_000 }]);
  const few = await payrun.approvedRun("few", playbook("acme", "payable.amountCents < 11110"));
  const small = await payrun.untilPhase(few, "completed", 120_000);
  const many = await payrun.approvedRun("many", playbook("acme"));
  const large = await payrun.untilPhase(many, "completed", 120_000);
  expect(small.counts.settled).toBe(60);
  expect(large.counts.settled).toBe(940);
  expect(await payrun.figures("acme")).toMatchObject({ paidBills: 1_000, paidMoreThanOnce: 0 });

  const ofSmall = await historyFigures(payrun.temporal, few);
  const ofLarge = await historyFigures(payrun.temporal, many);
  // Fifteen times the bills: what is over comes from a poll more, or a lane that ended by itself.
  expect(ofLarge.largestBytes).toBeLessThan(ofSmall.largestBytes + 500);
  expect(ofLarge.bytes).toBeLessThan(ofSmall.bytes * 2.5);
  expect(ofLarge.events).toBeLessThan(250);
  expect(ofLarge.actions).toBeLessThan(80);
});

test("status, plan and report of a run come by page, and each bill on one of them", async () => {
  payrun = await StubPayrun.start([{ businessId: "acme", token: "acme-token", bills: 130 }]);
  await payrun.apply("some", playbook("acme", "payable.amountCents < 13700"));
  const runId = await payrun.launch("some");
  await payrun.untilPhase(runId, "awaiting-approval");
  const path = `/v1/runs/${encodeURIComponent(runId)}`;
  const ids: string[] = [];
  for (let page: number | null = 1; page !== null;) {
    const query: string = `?page=${page}&pageSize=40`;
    const { body } = await payrun.call<RunStatus>("launcher", "GET", `${path}${query}`);
    expect(body.payments.length).toBeLessThanOrEqual(40);
    expect(body).toMatchObject({ totalCount: 130, page, pageSize: 40 });
    ids.push(...body.payments.map(({ payableId }) => payableId));
    page = body.nextPage ?? null;
  }
  expect(new Set(ids).size).toBe(130);
  expect(ids).toHaveLength(130);
  const { body } = await payrun.call<RunStatus>("launcher", "GET", path);
  expect(body.payments.map(({ payableId }) => payableId)).toEqual(ids);
  expect(body.nextPage).toBeNull();
  const wrong = await payrun.call("launcher", "GET", `${path}?pageSize=0`);
  expect(wrong.status).toBe(400);
});

test("the command line reads plan, status and report of thousands of bills by page", async () => {
  payrun = await StubPayrun.start([{ businessId: "acme", token: "acme-token", bills: 2_300 }]);
  await payrun.apply("all", playbook("acme"));
  const ask = (...args: string[]): Promise<CliResult> => {
    const env = { PAYRUN_GATEWAY_URL: payrun?.gatewayUrl ?? "" };
    return cli(args, { env: { ...env, PAYRUN_TOKEN: payrun?.tokenOf("launcher") ?? "" } });
  };
  const plan = (await ask("plan", "all", "--json")).json<DryPlan & { payments: object[] }>();
  expect(new Set(plan.lines.map(({ payableId }) => payableId)).size).toBe(2_300);
  expect(plan).toMatchObject({ lineCount: 2_300, skipped: [] });
  expect(plan.payments).toHaveLength(2_300);
  const shown = await ask("plan", "all", "--summary");
  expect(shown.stdout).toContain("2,300 bills to pay");
  expect(shown.stdout).toMatch(/Needs controller or owner: 2,300 bills/);

  const runId = await payrun.launch("all");
  await payrun.untilPhase(runId, "awaiting-approval");
  const status = (await ask("status", runId, "--json")).json<RunStatus>();
  expect(status.payments).toHaveLength(2_300);
  const { stdout } = await ask("report", runId, "--csv");
  const rows = stdout.trimEnd().split("\r\n").slice(1);
  expect(new Set(rows.map((row) => row.split(",")[0])).size).toBe(2_300);
  const answer = await payrun.decide("controller", runId, "approve");
  expect(answer.body).toMatchObject({ countsForCount: 2_300 });
  expect(answer.body["countsFor"]).toHaveLength(1_000);
});

test("a service that lets 20 requests a second through slows its own business down, without errors, and no other", async () => {
  payrun = await StubPayrun.start([
    { businessId: "slow", token: "slow-token", bills: 150, requestsPerSecond: 20 },
    { businessId: "free", token: "free-token", bills: 150 },
  ]);
  const slow = await payrun.approvedRun("of-slow", playbook("slow"));
  const free = await payrun.approvedRun("of-free", playbook("free"));
  expect((await payrun.untilPhase(free, "completed", 120_000)).counts).toEqual({ settled: 150 });
  // The other was launched before, and has most of its bills still to pay.
  const meanwhile = await payrun.figures("slow");
  expect(meanwhile.paidBills).toBeLessThan(150);
  const done = await payrun.untilPhase(slow, "completed", 180_000);
  expect(done.counts).toEqual({ settled: 150 });

  const ofFree = await payrun.figures("free");
  const ofSlow = await payrun.figures("slow");
  expect(ofFree).toMatchObject({ paidBills: 150, paidMoreThanOnce: 0, rateLimited: 0, pays: 150 });
  expect(ofSlow).toMatchObject({ paidBills: 150, paidMoreThanOnce: 0 });
  // It was refused, told nobody of an error, and didn't hammer: most requests came through.
  expect(ofSlow.rateLimited).toBeGreaterThan(0);
  expect(ofSlow.rateLimited).toBeLessThan(ofSlow.pays + ofSlow.reads);
  const notices = await payrun.store.db
    .selectFrom("notices")
    .select("kind")
    .where("kind", "in", ["parked", "run-failed"])
    .execute();
  expect(notices).toEqual([]);
  const attempts = await payrun.store.db
    .selectFrom("attempts")
    .select(["seq", "state"])
    .distinct()
    .execute();
  expect(attempts).toEqual([{ seq: 1, state: "applied" }]);
});
