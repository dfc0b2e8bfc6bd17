import { expect, onTestFinished, test } from "vitest";
import { RunReviewBody } from "../../src/api/review.ts";
import { shortWarning } from "../../src/domain/deposits/terms.ts";
import { spokenDay } from "../../src/domain/clock/spoken.ts";
import { updateRetry, upsertRetry } from "../../src/store/retries/retries.ts";
import { setApproveBy } from "../../src/store/runs/runs.ts";
import { seedDeposit } from "../console/support/deposit.ts";
import { signedIn } from "../console/support/visits.ts";
import { noticeLoss } from "../support/lost-store.ts";
import { profile, startTestGateway, type TestGateway } from "./support/gateway.ts";
import { serviceWithBalance, silentService } from "./support/funding-service.ts";
import { planLine, seedRun, type SeededRun, setLine } from "./support/rows.ts";
import { typed } from "./support/typed.ts";

const PLANNED_MS = Date.parse("2026-12-01T15:00:00Z");
const DAY_MS = 86_400_000;

/** Ten bills of $81,508.34 in all, and the account's money when they were planned. */
const LINES = Array.from({ length: 10 }, (_, no) =>
  planLine(`p${no}`, { amountCents: no === 0 ? 950_834 : 800_000 }),
);
const SUMMARY = {
  source: LINES[0]?.funding ?? null,
  ...{ availableCents: 900_382_75, reservedCents: 114_278_86 },
};

/**
 * Starts a gateway with a service. The gateway stops first, since stopping waits for the service.
 */
async function gatewayAt(service: () => string | Promise<string>): Promise<TestGateway> {
  const started: TestGateway[] = [];
  onTestFinished(async () => started[0]?.stop());
  const gateway = await startTestGateway({ profiles: [profile({ apiUrl: await service() })] });
  started.push(gateway);
  return gateway;
}

/** Creates a run planned on Tuesday, Dec 1; another run has since reserved $7,451.37. */
async function planned(
  gateway: TestGateway,
  summary: Parameters<typeof seedRun>[1]["summary"] = {},
): Promise<SeededRun> {
  const { store } = gateway;
  const run = await seedRun(store, { lines: LINES, summary: { ...SUMMARY, ...summary } });
  await setApproveBy(store.db, run.runId, {
    plannedAtMs: PLANNED_MS,
    approveByMs: PLANNED_MS + 30 * DAY_MS,
  });
  const lines = [planLine("other", { amountCents: 7_451_37 })];
  const other = await seedRun(store, { lines, period: "2026-11-13" });
  await setLine(store, other.runId, "other", { state: "scheduled", paymentIds: ["pmt_other"] });
  return run;
}

async function reviewed(gateway: TestGateway, { runId }: SeededRun) {
  const path = `/v1/runs/${encodeURIComponent(runId)}/review`;
  const { json } = await gateway.call("GET", path, await gateway.token("cora", ["controller"]));
  return RunReviewBody.parse(json);
}

async function said(gateway: TestGateway, ...args: readonly string[]): Promise<string> {
  return (await typed(gateway, await gateway.token("cora", ["controller"]), args)).stdout;
}

test("an approver sees the account's money and other runs' reservations of now, not of the plan", async () => {
  let has = 794_222_03;
  const gateway = await gatewayAt(() => serviceWithBalance(() => has));
  const run = await planned(gateway);
  expect(await said(gateway, "show", run.runId)).toContain(
    "From Balance: 10 bills, $81,508.34; $794,222.03 now, $7,451.37 of it promised to other runs, $705,262.32 after.",
  );
  expect((await reviewed(gateway, run)).accounts).toEqual([
    expect.not.objectContaining({ asOf: expect.anything() }),
  ]);
  has = 30_000_00;
  const shown = await said(gateway, "show", run.runId);
  expect(shown).toContain("$30,000.00 now, $7,451.37 of it promised to other runs, short by");
  expect(shown).toContain(
    "Your approval lets 10 bills, $81,508.34, go out as far as the money reaches.",
  );
  const cora = await signedIn(gateway, "cora", ["controller"]);
  const page = `/runs/${encodeURIComponent(run.runId)}`;
  expect((await cora.get(page)).text).toContain("Now: $30,000.00");
  const check = await cora.get(`${page}/approve?plan=${run.planHash}`);
  expect(check.text).toContain("go out as far as the money reaches");
  expect(check.text).toContain("It is short by $58,959.71");
  const approved = await said(gateway, "approve", run.runId, "--yes");
  expect(approved).toContain("10 bills, $81,508.34, go out as far as the money reaches.");
  expect(approved).toContain("Balance is short by $58,959.71 for all bills of the plan");
});

test("a review in a restored store says that lost payments are not subtracted", async () => {
  const gateway = await gatewayAt(() => serviceWithBalance(() => 900_000_00));
  const run = await planned(gateway);
  const lost = "payments that it has lost are not subtracted";
  expect(await said(gateway, "show", run.runId)).not.toContain(lost);
  await noticeLoss(gateway.store);
  expect(await said(gateway, "show", run.runId)).toContain(lost);
  // After the release the store still lacks them, but sends nothing before they would show.
  const lifted = { released_at_ms: Date.now(), released_by: "oli" };
  await gateway.store.db.updateTable("holds").set(lifted).execute();
  expect((await reviewed(gateway, run)).warnings).toEqual([expect.stringContaining(lost)]);
  const cora = await signedIn(gateway, "cora", ["controller"]);
  const page = `/runs/${encodeURIComponent(run.runId)}`;
  expect((await cora.get(page)).text).toContain(lost);
});

test("the console's answer to an approval uses the account's money of now", async () => {
  const gateway = await gatewayAt(() => serviceWithBalance(() => 5_000_00));
  const run = await planned(gateway);
  const cora = await signedIn(gateway, "cora", ["controller"]);
  const page = `/runs/${encodeURIComponent(run.runId)}/approve`;
  const answer = await cora.send(await cora.get(`${page}?plan=${run.planHash}`), page);
  expect(answer.text).toContain("10 bills, $81,508.34, wait for money.");
  expect(answer.text).toContain("It is short by $83,959.71");
});

test("money that has already left the account is not subtracted again", async () => {
  const gateway = await gatewayAt(() => serviceWithBalance(() => 100_000_00));
  const run = await planned(gateway);
  for (const state of ["processing", "settled", "scheduled"] as const) {
    const id = state === "processing" ? "p0" : state === "settled" ? "p1" : "p2";
    await setLine(gateway.store, run.runId, id, { state, paymentIds: [`pmt_${id}`] });
  }
  const { accounts, yours } = await reviewed(gateway, run);
  expect(accounts).toMatchObject([
    { bills: { count: 8, cents: 64_000_00 }, availableCents: 100_000_00, afterCents: 28_548_63 },
  ]);
  expect(yours).not.toHaveProperty("money");
});

test("money that a failed bill's new payment has taken is not subtracted again", async () => {
  const gateway = await gatewayAt(() => serviceWithBalance(() => 100_000_00));
  const { store } = gateway;
  const run = await planned(gateway);
  const { runId } = run;
  const paidAgain = { phase: "following", retriesMade: 1 };
  for (const [payableId, change] of [
    ["p0", { ...paidAgain, moneyTaken: true }],
    ["p1", paidAgain],
  ] as const) {
    await setLine(store, runId, payableId, { state: "retrying", paymentIds: ["pmt_failed"] });
    const retry = {
      businessId: "biz_acme",
      payableId,
      business: "acme",
      workflowId: payableId,
      runId,
    };
    await upsertRetry(store.db, { ...retry, nowMs: 1 });
    await updateRetry(store.db, retry, change, 1);
  }
  expect((await reviewed(gateway, run)).accounts).toMatchObject([
    { bills: { count: 9, cents: 72_000_00 }, availableCents: 100_000_00, afterCents: 20_548_63 },
  ]);
});

test("a deposit that has arrived counts once, and one on its way is not counted as there", async () => {
  const gateway = await gatewayAt(() => serviceWithBalance(() => 88_000_00));
  const run = await planned(gateway);
  await seedDeposit(gateway.store, { run, owner: run.runId, hash: "h".repeat(64) });
  const inState = async (state: "completed" | "on-its-way") => {
    await gateway.store.db.updateTable("top_ups").set({ state }).execute();
    return said(gateway, "show", run.runId);
  };
  const arrived = await inState("completed");
  expect(arrived).toContain("$88,000.00 now, $7,451.37 of it promised to other runs, short by");
  const coming = await inState("on-its-way");
  expect(coming).toContain(
    "$88,000.00 now, $7,451.37 of it promised to other runs, $1,500.00 deposited and on its way, $540.29 after.",
  );
  expect(coming).toContain("go out as far as the money reaches");
});

test("the plan's warnings about money have a date, and disappear once the account has the money", async () => {
  let has = 794_222_03;
  const gateway = await gatewayAt(() => serviceWithBalance(() => has));
  const short = shortWarning(100_00, "no deposit can be proposed: no account.");
  const cant = "Funding source “balance” can't pay now: the service doesn't say why.";
  const run = await planned(gateway, { warnings: [cant, short, "Odd."] });
  expect((await reviewed(gateway, run)).warnings).toEqual(["Odd."]);
  has = 0;
  const day = spokenDay(PLANNED_MS);
  expect((await reviewed(gateway, run)).warnings).toEqual([
    `As of when it was planned, ${day}: ${short}`,
    "Odd.",
  ]);
});

test("if the service can't be reached, the plan's figures are shown with their date", async () => {
  const gateway = await gatewayAt(() => "http://127.0.0.1:1");
  const run = await planned(gateway);
  expect(await said(gateway, "show", run.runId)).toContain(
    "From Balance: 10 bills, $81,508.34; when it was planned, Tue, Dec 1: $900,382.75 before, $114,278.86 of it promised to other runs, $704,595.55 after.",
  );
  const cora = await signedIn(gateway, "cora", ["controller"]);
  const page = `/runs/${encodeURIComponent(run.runId)}`;
  expect((await cora.get(page)).text).toContain(
    "This is the money when it was planned, Tue, Dec 1. Before: $900,3",
  );
  expect((await cora.get(`${page}/approve?plan=${run.planHash}`)).text).toContain(
    "It covered all of it when it was planned, Tue, Dec 1",
  );
  expect(await said(gateway, "approve", run.runId, "--yes")).toContain(
    "The service doesn't say what Balance has now; when it was planned, Tue, Dec 1, it had enough: what it doesn't cover waits for money.",
  );
});

test("if the service doesn't answer, the plan's figures are shown without a long wait", async () => {
  const gateway = await gatewayAt(silentService);
  const run = await planned(gateway);
  const { accounts, yours } = await reviewed(gateway, run);
  expect(accounts).toMatchObject([
    { asOf: "2026-12-01T15:00:00.000Z", availableCents: 900_382_75, promisedCents: 114_278_86 },
  ]);
  expect(yours).not.toHaveProperty("money");
});
