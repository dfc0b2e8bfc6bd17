import { afterEach, expect, test, vi } from "vitest";
import { historyFigures } from "../../bench/run/history.ts";
import type { DryPlan } from "../../src/contracts/pay-run.ts";
import type { RunStatus } from "../../src/api/runs.ts";
import { type CliResult, payrun as cli } from "../cli/cli.ts";
import { StubPayrun } from "../support/stub-payrun.ts";
import { isLong } from "../support/long.ts";

vi.setConfig({ testTimeout: 240_000 });

let payrun: StubPayrun | undefined;
afterEach(async () => {
  await payrun?.stop();
  payrun = undefined;
});

/** Pays all bills of a business with one approval; `where` narrows it. */
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

test.runIf(isLong)(
  "a run of a thousand bills needs few events, and no payload grows with its bills",
  async () => {
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
    // 15 times the bills: the excess comes from another poll, or from a lane that ended by itself.
    expect(ofLarge.largestBytes).toBeLessThan(ofSmall.largestBytes + 500);
    expect(ofLarge.bytes).toBeLessThan(ofSmall.bytes * 2.5);
    expect(ofLarge.events).toBeLessThan(250);
    expect(ofLarge.actions).toBeLessThan(80);
  },
);

test.runIf(isLong)(
  "a run's plan, status and report come in pages that have each bill once",
  async () => {
    payrun = await StubPayrun.start([{ businessId: "acme", token: "acme-token", bills: 1_100 }]);
    // 200 bills are planned, and 900 are left out.
    await payrun.apply("some", playbook("acme", "payable.amountCents < 13700"));
    const ask = async (...args: string[]): Promise<CliResult> => {
      const env = { PAYRUN_GATEWAY_URL: payrun?.gatewayUrl ?? "" };
      const asked = { ...env, PAYRUN_TOKEN: payrun?.tokenOf("launcher") ?? "" };
      const result = await cli(args, { env: asked });
      if (result.code !== 0) throw new Error(result.stderr.slice(-500));
      return result;
    };
    const planned = await ask("plan", "some", "--json");
    const plan = JSON.parse(planned.stdout) as DryPlan & { payments: { payableId: string }[] };
    expect(plan).toMatchObject({ lineCount: 200, skippedCount: 900, totalCount: 1_100 });
    expect(plan.lines).toHaveLength(200);
    expect(plan.skipped).toHaveLength(900);
    expect(new Set(plan.payments.map(({ payableId }) => payableId)).size).toBe(1_100);

    const runId = await payrun.launch("some");
    await payrun.untilPhase(runId, "awaiting-approval");
    const path = `/v1/runs/${encodeURIComponent(runId)}`;
    const ids: string[] = [];
    for (let page: number | null = 1; page !== null;) {
      const query: string = `?page=${page}&pageSize=400`;
      const { body } = await payrun.call<RunStatus>("launcher", "GET", `${path}${query}`);
      expect(body.payments.length).toBeLessThanOrEqual(400);
      expect(body).toMatchObject({ totalCount: 1_100, page, pageSize: 400 });
      ids.push(...body.payments.map(({ payableId }) => payableId));
      page = body.nextPage ?? null;
    }
    expect(new Set(ids).size).toBe(1_100);
    expect(ids).toHaveLength(1_100);
    const { body } = await payrun.call<RunStatus>("launcher", "GET", path);
    expect(body.payments.map(({ payableId }) => payableId)).toEqual(ids);
    expect(body.nextPage).toBeNull();
    const wrong = await payrun.call("launcher", "GET", `${path}?pageSize=0`);
    expect(wrong.status).toBe(400);

    const status = JSON.parse((await ask("status", runId, "--json")).stdout) as RunStatus;
    expect(status.payments.map(({ payableId }) => payableId)).toEqual(ids);
    const rows = (await ask("report", runId, "--csv")).stdout.trimEnd().split("\r\n").slice(1);
    expect(rows.map((row) => row.split(",")[0])).toEqual(ids.slice(0, 200));
  },
);

test.runIf(isLong)(
  "a service that allows 20 requests a second slows only its own business down, without errors",
  async () => {
    payrun = await StubPayrun.start([
      { businessId: "slow", token: "slow-token", bills: 150, requestsPerSecond: 20 },
      { businessId: "free", token: "free-token", bills: 150 },
    ]);
    const slow = await payrun.approvedRun("of-slow", playbook("slow"));
    const free = await payrun.approvedRun("of-free", playbook("free"));
    expect((await payrun.untilPhase(free, "completed", 120_000)).counts).toEqual({ settled: 150 });
    // The slow run was launched before, and still has most of its bills to pay.
    const meanwhile = await payrun.figures("slow");
    expect(meanwhile.paidBills).toBeLessThan(150);
    const done = await payrun.untilPhase(slow, "completed", 180_000);
    expect(done.counts).toEqual({ settled: 150 });

    const ofFree = await payrun.figures("free");
    const ofSlow = await payrun.figures("slow");
    expect(ofFree).toMatchObject({
      paidBills: 150,
      paidMoreThanOnce: 0,
      rateLimited: 0,
      pays: 150,
    });
    expect(ofSlow).toMatchObject({ paidBills: 150, paidMoreThanOnce: 0 });
    // It was refused without an error and backed off: most requests went through.
    expect(ofSlow.rateLimited).toBeGreaterThan(0);
    expect(ofSlow.rateLimited).toBeLessThan(ofSlow.pays + ofSlow.reads);
    const notices = await payrun.store.db
      .selectFrom("notices")
      .select("kind")
      .where("kind", "in", ["parked", "run-failed"])
      .execute();
    expect(notices).toEqual([]);
    const keys = await payrun.store.db.selectFrom("attempts").select("seq").distinct().execute();
    expect(keys).toEqual([{ seq: 1 }]);
  },
);
