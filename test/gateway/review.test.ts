import { stripVTControlCharacters } from "node:util";
import { expect, onTestFinished, vi } from "vitest";
import { OverviewBody } from "../../src/api/overview.ts";
import { RunReviewBody } from "../../src/api/review.ts";
import { RunListBody } from "../../src/api/runs.ts";
import { DecisionBody } from "../../src/api/schemas.ts";
import { billLines, reviewDigest, reviewHead } from "../../src/cli/show/review.ts";
import { addBankingDays, nextBankingDay } from "../../src/domain/clock/bank-calendar.ts";
import { newYorkDate } from "../../src/domain/clock/new-york.ts";
import { createHold } from "../../src/store/holds/holds.ts";
import { setRunPhase } from "../../src/store/runs/runs.ts";
import { profile, type TestGateway } from "./support/gateway.ts";
import { serviceWithoutSources } from "./support/funding-service.ts";
import { gatewayOf, gatewayTest } from "./support/gateway-test.ts";
import { approveLines, planLine, seedRun, type SeededRun, setLine } from "./support/rows.ts";

const NEW_VENDOR = [{ kind: "new-vendor", text: "No payment to Vendor has settled yet." }] as const;
const LATE = [
  { kind: "late", text: "Arrives 2029-11-29, after its due date 2029-11-26." },
] as const;

const test = gatewayTest().extend("run", { auto: true }, ({ gateway }) =>
  seedRun(gateway.store, {
    launchedBy: "lou",
    author: "ada",
    summary: { source: planLine("p1").funding },
    lines: [
      planLine("p1"),
      planLine("p2", { dueDate: "2029-11-26", arrivalDate: "2029-11-29", flags: LATE }),
      planLine("p_odd", { quorum: 2, flags: NEW_VENDOR, amountCents: 30_000 }),
      planLine("p_large", { amountCents: 2_000_000, approvers: ["owner"], ruleIndex: 0 }),
    ],
  }),
);

async function reviewFor(
  gateway: TestGateway,
  run: SeededRun,
  name: string,
  roles: readonly string[],
  query = "",
) {
  const path = `/v1/runs/${encodeURIComponent(run.runId)}/review${query}`;
  const answer = await gateway.call("GET", path, await gateway.token(name, roles));
  expect(answer.status).toBe(200);
  return RunReviewBody.parse(answer.json);
}

async function approve(
  gateway: TestGateway,
  run: SeededRun,
  name: string,
  roles: readonly string[],
  drop: string[] = [],
) {
  const path = `/v1/runs/${encodeURIComponent(run.runId)}/decisions`;
  const body = { decision: "approve", planHash: run.planHash, drop };
  return DecisionBody.parse(
    (await gateway.call("POST", path, await gateway.token(name, roles), body)).json,
  );
}

test("an approver sees what her approval releases, what it is one of several for, and what it can't approve", async ({
  gateway,
  run,
}) => {
  const { yours, waiting, missing } = await reviewFor(gateway, run, "cora", ["controller"]);
  expect(waiting).toEqual({ count: 4, cents: 2_050_000 });
  expect(yours).toMatchObject({
    refusal: null,
    goesOut: { count: 2, cents: 20_000 },
    oneOfSeveral: [{ quorum: 2, approvals: 1, lines: 1, totalCents: 30_000 }],
    none: [{ by: ["owner"], lines: 1, totalCents: 2_000_000 }],
    summary:
      "Your approval lets 2 bills, $200.00, go out and is one of 2 for 1 bill, $300.00; it counts for none of 1 bill, $20,000.00, which needs the owner.",
  });
  expect(missing.map(({ lines }) => lines)).toEqual([2, 1, 1]);
});

test("a review says if bills go out only as far as the money reaches", async ({ gateway, run }) => {
  const { yours } = await reviewFor(gateway, run, "olga", ["owner"]);
  expect(yours).toMatchObject({ goesOut: { count: 3, cents: 2_020_000 }, money: "short" });
  expect(yours.summary).toContain(
    "lets 3 bills, $20,200.00, go out as far as the money reaches and is one of 2",
  );
  const without = await reviewFor(gateway, run, "olga", ["owner"], "?drop=p_large");
  expect(without.yours).not.toHaveProperty("money");
  expect(without.accounts).toMatchObject([{ bills: { count: 3, cents: 50_000 } }]);
});

test("a review doesn't count the bills that the approver would drop", async ({ gateway, run }) => {
  const { yours } = await reviewFor(gateway, run, "cora", ["controller"], "?drop=p1,p_odd");
  expect(yours).toMatchObject({ goesOut: { count: 1, cents: 10_000 }, oneOfSeveral: [] });
});

test("an approval's answer has the bills and sums that go out, and what is still needed", async ({
  gateway,
  run,
}) => {
  const answer = await approve(gateway, run, "cora", ["controller"]);
  expect(answer).toMatchObject({ goesOut: { count: 2, cents: 20_000 }, onHold: { count: 0 } });
  expect(answer.summary).toBe(
    "2 bills, $200.00, go out; 1 needs a second person (controller or owner), 1 needs the owner.",
  );
  const { yours } = await reviewFor(gateway, run, "cora", ["controller"]);
  expect(yours.summary).toMatch(
    /^Your approval lets no bill go out: you have approved 1 bill, \$300\.00, which needs/,
  );
  const owner = await approve(gateway, run, "olga", ["owner"]);
  expect(owner.summary).toBe("2 bills, $20,300.00, go out.");
});

test("a launcher and a playbook's author see that their approval doesn't count; a viewer sees all bills", async ({
  gateway,
  run,
}) => {
  const launcher = await reviewFor(gateway, run, "lou", ["owner"]);
  expect(launcher.yours).toMatchObject({ refusal: { code: "launcher" }, mayReject: true });
  expect(launcher.yours.summary).toContain("lou launched this run");
  expect((await reviewFor(gateway, run, "ada", ["owner"])).yours.refusal?.code).toBe(
    "playbook_author",
  );
  const viewer = await reviewFor(gateway, run, "vera", ["viewer"]);
  expect(viewer.yours).toMatchObject({ refusal: null, goesOut: { count: 0 }, mayReject: false });
  expect(viewer.bills).toHaveLength(4);
});

test("a review and an approval's answer don't count bills on hold as going out", async ({
  gateway,
  run,
}) => {
  await gateway.store.transaction(async (trx) => {
    const hold = { businessId: "biz_acme", scope: "contact", value: "con_p1" } as const;
    await createHold(trx, { ...hold, reason: "a call is open", author: "oli", nowMs: 1 });
  });
  const { yours } = await reviewFor(gateway, run, "cora", ["controller"]);
  expect(yours).toMatchObject({ goesOut: { count: 1 }, onHold: { count: 1, cents: 10_000 } });
  const answer = await approve(gateway, run, "cora", ["controller"]);
  expect(answer.summary).toMatch(/^1 bill, \$100\.00, goes out; 1 bill, \$100\.00, stays on hold;/);
});

test("a second approval says which of the bills are on hold", async ({ gateway, run }) => {
  await approve(gateway, run, "cora", ["controller"]);
  for (const bill of ["p1", "p2"])
    await setLine(gateway.store, run.runId, bill, { state: "on-hold" });
  const answer = await approve(gateway, run, "olga", ["owner"]);
  expect(answer).toMatchObject({ countsForCount: 4, onHold: { count: 2, cents: 20_000 } });
  expect(answer.summary).toBe("2 bills, $20,300.00, go out; 2 bills, $200.00, stay on hold.");
});

test("a bill on hold that needs another person is shown as needing them", async ({
  gateway,
  run,
}) => {
  await setLine(gateway.store, run.runId, "p_odd", { state: "on-hold" });
  const shown = billLines((await reviewFor(gateway, run, "vera", ["viewer"])).bills).join("\n");
  expect(shown.match(/.*; on hold$/gm)).toEqual([
    expect.stringMatching(/p_odd .* 2 people of controller or owner; on hold$/),
  ]);
  const answer = await approve(gateway, run, "cora", ["controller"]);
  expect(answer.summary).toBe(
    "2 bills, $200.00, go out; 1 needs a second person (controller or owner), 1 needs the owner.",
  );
});

test("a bill that needs the owner for what its vendor is paid together is shown with the sum", async ({
  gateway,
}) => {
  const besidesCents = { vendor: 0, "vendor-week": 1_000_000 };
  const summed = { besidesCents, ruleIndex: 0, approvers: ["owner"] };
  const run = await seedRun(gateway.store, {
    period: "2026-11-27",
    lines: [planLine("p_sum", summed), planLine("p_alone", { ...summed, amountCents: 1_000_001 })],
  });
  const shown = billLines((await reviewFor(gateway, run, "vera", ["viewer"])).bills).join("\n");
  expect(shown).toMatch(
    /p_sum .* the owner: its vendor's week comes to \$10,100\.00, above \$10,000\.00$/m,
  );
  expect(shown).toMatch(/p_alone .* the owner$/m);
});

test("a bill on hold that lacks a second approval is shown to the second approver everywhere", async ({
  gateway,
}) => {
  const { store } = gateway;
  const lines = [planLine("p_sent", { quorum: 2 }), planLine("p_held", { quorum: 2 })];
  const run = await seedRun(store, { period: "2026-11-27", lines });
  await approve(gateway, run, "cora", ["controller"]);
  await setLine(store, run.runId, "p_sent", { state: "scheduled" });
  await setLine(store, run.runId, "p_held", { state: "on-hold" });
  await setRunPhase(store.db, run.runId, { phase: "settling" });
  const read = async (who: string, path: string) =>
    (await gateway.call("GET", path, await gateway.token(who, ["controller"]))).json;
  expect(await read("bea", `/v1/runs/${encodeURIComponent(run.runId)}`)).toMatchObject({
    // Its date doesn't change before the hold is released.
    decideBy: null,
    approvals: [{ by: ["controller", "owner"], quorum: 2, given: 1, lines: 1, onHold: true }],
  });
  const listed = RunListBody.parse(await read("bea", "/v1/runs?needsAction=true"));
  expect(listed.items.map(({ id }) => id)).toContain(run.runId);
  const today = async (who: string) => {
    const { waiting } = OverviewBody.parse(await read(who, "/v1/overview"));
    const of = waiting.find(({ id }) => id === run.runId);
    return [of?.waiting.count, of?.yours.count];
  };
  expect(await today("bea")).toEqual([1, 1]);
  expect(await today("cora")).toEqual([1, 0]);
});

test("the first payment is that of bills waiting for approval, or of all bills once none waits", async ({
  gateway,
}) => {
  const [soon, late] = ["2029-11-26", "2029-11-29"];
  const run = await seedRun(gateway.store, {
    period: "2026-11-27",
    lines: [
      planLine("p_sent", { executionDate: soon }),
      planLine("p_open", { executionDate: late }),
    ],
  });
  await setLine(gateway.store, run.runId, "p_sent", { state: "scheduled" });
  expect((await reviewFor(gateway, run, "cora", ["controller"])).firstPayment).toBe(late);
  await setLine(gateway.store, run.runId, "p_open", { state: "scheduled" });
  expect((await reviewFor(gateway, run, "cora", ["controller"])).firstPayment).toBe(soon);
});

test("a review has odd bills with reasons, late ones with days, and who is missing for each bill", async ({
  gateway,
  run,
}) => {
  const { odd, late, bills, leftOut, accounts } = await reviewFor(gateway, run, "vera", ["viewer"]);
  expect(odd).toMatchObject({ count: 1, items: [{ payableId: "p_odd", flags: NEW_VENDOR }] });
  // The service doesn't answer, so the review does not claim that there were no payments.
  expect(odd.items[0]?.lastPayments).toBeNull();
  expect(late).toMatchObject({ count: 1, items: [{ payableId: "p2", daysLate: 3 }] });
  expect(bills.map(({ payableId, missing }) => [payableId, missing?.by])).toEqual([
    ["p1", ["controller", "owner"]],
    ["p2", ["controller", "owner"]],
    ["p_odd", ["controller", "owner"]],
    ["p_large", ["owner"]],
  ]);
  expect(leftOut.byReason).toEqual([{ code: "not_due", reason: "not due yet", count: 1 }]);
  expect(accounts).toMatchObject([{ sourceId: "balance", bills: { count: 4, cents: 2_050_000 } }]);
});

test("an odd bill is shown with the last payments to its vendor, or with none", async ({
  gateway,
  run,
}) => {
  const review = await reviewFor(gateway, run, "vera", ["viewer"]);
  const said = (lastPayments: (typeof review.odd.items)[number]["lastPayments"]) => {
    const items = review.odd.items.map((bill) => ({ ...bill, lastPayments }));
    return reviewDigest({ ...review, odd: { ...review.odd, items } }).join("\n");
  };
  const payment = { paymentId: "pmt_1", payableId: "p0", amountCents: 9_000 };
  expect(said([{ ...payment, on: "2026-10-01", status: "completed" }])).toContain(
    "last payments: $90.00 on 2026-10-01 (completed)",
  );
  expect(said([])).toContain("no earlier payment to this vendor");
});

test("the lateness of a bill that is paid later than planned is counted from its new arrival", async ({
  gateway,
  run,
}) => {
  const { db } = gateway.store;
  const later = { execution_date: "2029-12-03" };
  await db.updateTable("run_lines").set(later).where("payable_id", "=", "p2").execute();
  const { late } = await reviewFor(gateway, run, "vera", ["viewer"]);
  expect(late.items).toMatchObject([{ arrivalDate: "2029-12-06", daysLate: 10 }]);
});

test("a bill whose day has passed is shown, and counted late, with the dates of an approval now", async ({
  gateway,
}) => {
  const passed = { executionDate: "2020-03-02", arrivalDate: "2020-03-05" };
  const run = await seedRun(gateway.store, {
    period: "2026-11-27",
    lines: [
      planLine("in_time", { ...passed, dueDate: "2029-11-26" }),
      planLine("late", { ...passed, dueDate: "2020-03-05" }),
      planLine("later", { ...passed, dueDate: "2020-03-04" }),
    ],
  });
  const { late, bills } = await reviewFor(gateway, run, "cora", ["controller"]);
  expect(late.count).toBe(2);
  expect(late.items).toEqual([bills[2], bills[1]]);
  const executionDate = nextBankingDay(newYorkDate(Date.now()));
  const arrivalDate = addBankingDays(executionDate, 3);
  expect(late.items[0]).toMatchObject({ payableId: "later", executionDate, arrivalDate });
  await setLine(gateway.store, run.runId, "late", { state: "scheduled", paymentIds: ["pmt_1"] });
  const sent = await reviewFor(gateway, run, "cora", ["controller"]);
  expect(sent.late.items.map(({ payableId }) => payableId)).toEqual(["later"]);
  expect(sent.bills[1]?.executionDate).toBe("2020-03-02");
});

test('a late bill that is already decided is not called late "even if approved at once"', async ({
  gateway,
  run,
}) => {
  const late = async () => {
    const lines = reviewDigest(await reviewFor(gateway, run, "vera", ["viewer"])).map(
      stripVTControlCharacters,
    );
    return lines.find((line) => line.startsWith("Late"));
  };
  expect(await late()).toBe("Late (1 bill), even if approved at once:");
  await setLine(gateway.store, run.runId, "p2", { state: "scheduled", paymentIds: ["pmt_p2"] });
  expect(await late()).toBe("Late (1 bill):");
});

test("a review wraps on a narrow terminal and has one line each elsewhere", async ({
  gateway,
  run,
}) => {
  const review = await reviewFor(gateway, run, "cora", ["controller"]);
  const reasons = ["paid already", "not due yet", "not approved in the service", "void in it"];
  const byReason = reasons.map((reason, at) => ({ code: `code-${at}`, reason, count: 1_000 + at }));
  const digest = () => reviewDigest({ ...review, leftOut: { count: 4_006, byReason } });
  const leftOut = `Left out (4,006 bills): ${byReason.map(({ count, reason }) => `${count} ${reason}`).join(", ")}`;
  expect(digest().map(stripVTControlCharacters)).toContain(leftOut);
  vi.spyOn(process, "stdout", "get").mockReturnValue(
    Object.assign(Object.create(process.stdout) as typeof process.stdout, { columns: 60 }),
  );
  onTestFinished(() => void vi.restoreAllMocks());
  const narrow = digest().map(stripVTControlCharacters);
  expect(narrow.filter((line) => line.length > 60)).toEqual([]);
  expect(narrow.map((line) => line.trim()).join(" ")).toContain(leftOut);
});

test("a review warns of an account that was removed while bills wait for it", async () => {
  const gateway = await gatewayOf({
    profiles: [profile({ apiUrl: await serviceWithoutSources() })],
  });
  const run = await seedRun(gateway.store, { lines: [planLine("p1")] });
  const why = /“balance” can't pay: the service doesn't list it any more/;
  const review = await reviewFor(gateway, run, "cora", ["controller"]);
  expect(review.warnings).toEqual([expect.stringMatching(why)]);
  expect(reviewDigest(review).join("\n")).toMatch(why);
  await setLine(gateway.store, run.runId, "p1", { state: "scheduled", paymentIds: ["pmt_1"] });
  expect((await reviewFor(gateway, run, "cora", ["controller"])).warnings).toEqual([]);
});

test("a review's pages have the requested bills, and its sums cover all bills", async ({
  gateway,
  run,
}) => {
  const second = await reviewFor(gateway, run, "vera", ["viewer"], "?page=2&pageSize=3");
  expect(second.bills.map(({ payableId }) => payableId)).toEqual(["p_large"]);
  expect(second).toMatchObject({ totalCount: 4, nextPage: null, plan: { count: 4 } });
});

test("once everything is decided, a review shows no missing approver and no deadline", async ({
  gateway,
  run,
}) => {
  await approveLines(gateway.store, run, ["p1", "p2", "p_odd", "p_large"]);
  for (const id of ["p1", "p2", "p_odd", "p_large"]) {
    await setLine(gateway.store, run.runId, id, { state: "scheduled", paymentIds: [`pmt_${id}`] });
  }
  const { waiting, missing, decideBy, yours } = await reviewFor(gateway, run, "olga", ["owner"]);
  expect({ waiting: waiting.count, missing, decideBy }).toEqual({
    waiting: 0,
    missing: [],
    decideBy: null,
  });
  expect(yours.summary).toBe("No bill of it waits for an approval.");
  const launcher = await reviewFor(gateway, run, "lou", ["owner"]);
  expect(launcher.yours.refusal).not.toBeNull();
  expect(reviewDigest(launcher).join("\n")).not.toContain("doesn't count");
});

test("the review of a run that could not be planned says why", async ({ gateway, run }) => {
  const failure = "The service lists no funding source of the business yet.";
  await setRunPhase(gateway.store.db, run.runId, { phase: "failed", failure });
  const review = await reviewFor(gateway, run, "olga", ["owner"]);
  expect(reviewHead(review)).toContain(`Failed: ${failure}`);
});

test("a run that doesn't exist has no review", async ({ gateway }) => {
  const token = await gateway.token("vera", ["viewer"]);
  const unknown = await gateway.call(
    "GET",
    "/v1/runs/pay-run%2Facme%2Fx%2F2026-01-01/review",
    token,
  );
  expect(unknown.status).toBe(404);
});
