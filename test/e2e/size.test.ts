import { afterEach, expect, test, vi } from "vitest";
import { historyFigures } from "../../bench/run/history.ts";
import type { RunStatus } from "../../src/contracts/pay-run.ts";
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

test("a service that lets 20 requests a second through slows its own business down, without errors, and no other", async () => {
  payrun = await StubPayrun.start([
    { businessId: "slow", token: "slow-token", bills: 150, requestsPerSecond: 20 },
    { businessId: "free", token: "free-token", bills: 150 },
  ]);
  const slow = await payrun.approvedRun("of-slow", playbook("slow"));
  const free = await payrun.approvedRun("of-free", playbook("free"));
  expect((await payrun.untilPhase(free, "completed", 120_000)).counts).toEqual({ settled: 150 });
  const done = await payrun.untilPhase(slow, "completed", 180_000);
  expect(done.counts).toEqual({ settled: 150 });

  const ofFree = await payrun.figures("free");
  const ofSlow = await payrun.figures("slow");
  expect(ofFree).toMatchObject({ paidBills: 150, paidMoreThanOnce: 0, rateLimited: 0 });
  expect(ofSlow).toMatchObject({ paidBills: 150, paidMoreThanOnce: 0 });
  expect(ofSlow.rateLimited).toBeGreaterThan(0);
  expect(ofFree.lastPaidMs).toBeLessThan(ofSlow.lastPaidMs);
});
