import { expect } from "vitest";
import type { ActionContext } from "../../../src/actions/context.ts";
import type { Principal } from "../../../src/actions/principal.ts";
import { resolve } from "../../../src/actions/payables/resolve.ts";
import { runLines } from "../../../src/cli/show/run.ts";
import { retryFailedPaymentId } from "../../../src/contracts/workflow-kinds.ts";
import { sumCents } from "../../../src/domain/money.ts";
import { sumsByDay } from "../../../src/store/lines/day-sums.ts";
import { openSumsOf } from "../../../src/store/lines/open-lines.ts";
import { sumsOfSent } from "../../../src/store/lines/sent-lines.ts";
import { sumOfParked } from "../../../src/store/lines/parked-lines.ts";
import { listParkedRetries } from "../../../src/store/retries/retries.ts";
import { listNotices } from "../../../src/store/notices/notices.ts";
import { getRun } from "../../../src/store/runs/runs.ts";
import { parkedBills } from "../../../src/reports/parked.ts";
import { reportCsv, reportOf } from "../../../src/reports/report.ts";
import { FIRST_PAGE, statusOf } from "../../../src/reports/status/run.ts";
import { explainIn } from "../explain.ts";
import { type MoneyWorld, test } from "../money-world.ts";

const BILL = 138_750_00;
const FAILED = 100_000_00;
const REST = 38_750_00;
const OTHER = 5_000_00;

/** Pays two bills. The service splits the first, and its larger payment fails at the bank. */
async function partlyFailed(world: MoneyWorld, code = "R16") {
  const planned = await world.approvedRun([
    { totalAmountCents: BILL },
    { totalAmountCents: OTHER },
  ]);
  await world.pay(planned.runId);
  const { payments } = world.context().clientOf("acme");
  const made = await payments.listAll({ payableId: planned.payableId });
  const large = made.find(({ amountCents }) => amountCents === FAILED);
  const match = { paymentId: large?.id ?? "" };
  await world.control.outcome({ match, outcome: "fail", code });
  return planned;
}

/** Advances days until the run knows that one part has failed; the other is still on its way. */
async function untilOneFails(world: MoneyWorld, runId: string, payableId: string) {
  for (let day = 0; day < 9; day += 1) {
    await world.control.advance("P1D");
    await world.follow(runId);
    const all = await world.paymentsOf(payableId);
    if (all.some(({ status }) => status === "failed")) return;
  }
  throw new Error("no payment failed");
}

function contextOf(world: MoneyWorld): ActionContext {
  const { profile } = world.world;
  return {
    store: world.store,
    nowMs: Date.now,
    profiles: { byBusinessId: () => profile, get: () => profile, all: () => [profile] },
    clientOf: () => world.context().clientOf("acme"),
    clocks: { read: () => world.context().clockOf("acme").now() },
    temporal: {
      workflow: world.context().temporal.workflow,
      withDeadline: (_at: number, sent: () => unknown) => sent(),
    },
  } as unknown as ActionContext;
}

async function told(world: MoneyWorld, runId: string) {
  const run = await getRun(world.store.db, runId);
  const status = await statusOf(contextOf(world), runId, FIRST_PAGE);
  if (run === undefined || status === undefined) throw new Error("no run");
  let csv = "";
  for await (const part of reportCsv(contextOf(world), run)) csv += part;
  return { status, csv, report: await reportOf(contextOf(world), run) };
}

const businessOf = (world: MoneyWorld) => [{ name: "acme", businessId: world.businessId }];
const PAGE = { page: 1, pageSize: 10 };

test("a failed part is shown apart from the part that is still on its way", async ({ world }) => {
  const { runId, payableId } = await partlyFailed(world);
  await untilOneFails(world, runId, payableId);
  const { status, report } = await told(world, runId);
  expect(status.byState).toMatchObject({ parked: { count: 0, cents: FAILED, parts: 1 } });
  const bill = status.payments.find((each) => each.payableId === payableId);
  expect(bill).toMatchObject({
    ...{ state: "processing", amountCents: BILL, reasonCode: "partly_failed" },
    reason: expect.stringMatching(/^\$100,000\.00 of it failed \(R16/),
    parts: { settledCents: 0, onItsWayCents: REST, openCents: FAILED },
  });
  expect(status.counts).toEqual({ processing: 2 });
  expect(report).toMatchObject({ totalCents: BILL + OTHER, exceptionCount: 1 });
  const { db } = world.store;
  const target = { scope: "run", value: runId } as const;
  for (const sums of [
    await sumsOfSent(db, world.businessId),
    await openSumsOf(db, world.businessId, target),
  ]) {
    expect(sumCents(sums.map(({ cents }) => cents))).toBe(REST + OTHER);
  }
  const shown = runLines(status).join("\n");
  expect(shown).toMatch(/processing +2 +\$43,750\.00/);
  expect(shown).toMatch(/parked +part of 1 +\$100,000\.00/);
});

test("all views of a partly paid bill say what has settled and what needs a person", async ({
  world,
}) => {
  const { runId, payableId } = await partlyFailed(world);
  await world.control.advance("P9D");
  await world.follow(runId);
  await world.look(payableId);
  const { details } = await world.assess(runId);
  const { status, report, csv } = await told(world, runId);
  const byState = {
    settled: { count: 1, cents: OTHER + REST, parts: 1 },
    parked: { count: 1, cents: FAILED },
  };
  expect(status.byState).toEqual(byState);
  expect(report).toMatchObject({ byState, settledBills: 1, settledCents: OTHER + REST });
  expect(report.exceptions[0]).toMatchObject({ parts: { settledCents: REST, openCents: FAILED } });
  expect(details).toContain("| settled | 1 and part of 1 | $43,750.00 |");
  expect(runLines(status).join("\n")).toContain("$100,000.00 of $138,750.00");
  expect(csv).toMatch(/,138750\.00,parked,.*,38750\.00,100000\.00\r\n/);

  const { db } = world.store;
  expect(await sumOfParked(db, world.businessId)).toEqual({ count: 1, cents: FAILED });
  const needs = await parkedBills(db, businessOf(world), PAGE);
  expect(needs).toMatchObject({ totalCents: FAILED, items: [{ parts: { openCents: FAILED } }] });
  const retry = retryFailedPaymentId("acme", payableId);
  expect(await listParkedRetries(db, [retry])).toMatchObject([{ openCents: FAILED }]);
  const days = await sumsByDay(db, world.businessId, { from: "2020-01-01", to: "2100-01-01" });
  expect(days.find(({ state }) => state === "parked")?.cents).toBe(FAILED);
  const [notice] = await listNotices(db, { kind: "parked", limit: 9 });
  expect(notice?.subject).toContain("1 bill of $100,000.00 needs a person");
  expect(notice?.text).toContain(", $100,000.00 of $138,750.00: $38,750.00 of it has settled");
  const { text, history } = await explainIn(world, payableId);
  expect(history.bill).toMatchObject({ parts: { settledCents: REST, openCents: FAILED } });
  expect(text).toContain("$100,000.00 of $138,750.00");
});

test("a retry of the open part of a bill leaves it to the next run, and says so at once", async ({
  world,
}) => {
  const { runId, payableId } = await partlyFailed(world, "R01");
  await world.control.advance("P9D");
  await world.follow(runId);
  await world.look(payableId);
  const request = { payableId, action: "retry", reason: "The account is open again" } as const;
  const by = { tokenId: "tok_1", name: "ada", roles: ["admin"] } as unknown as Principal;
  expect(await resolve(contextOf(world), world.world.profile, request, by)).toMatchObject({
    parts: { openCents: FAILED },
    approvalEnded: expect.stringMatching(/^\$100,000\.00 of it is still owed/),
  });
  expect((await world.look(payableId)).phase).toBe("ended");
  const { status } = await told(world, runId);
  expect(status.givenBack).toEqual({ count: 1, cents: FAILED });
  expect(runLines(status).join("\n")).toMatch(/given-back +1 +\$100,000\.00/);
});

test("giving up a partly paid bill gives up its open part", async ({ world }) => {
  const { runId, payableId } = await partlyFailed(world);
  await world.control.advance("P9D");
  await world.follow(runId);
  await world.look(payableId);
  const request = { payableId, action: "give-up", reason: "Disputed" } as const;
  const by = { tokenId: "tok_1", name: "ada", roles: ["admin"] } as unknown as Principal;
  const { state, parts } = await resolve(contextOf(world), world.world.profile, request, by);
  expect({ state, parts }).toMatchObject({ state: "given-up", parts: { openCents: FAILED } });
  expect((await told(world, runId)).status.byState).toEqual({
    settled: { count: 1, cents: OTHER + REST, parts: 1 },
    "given-up": { count: 1, cents: FAILED },
  });
});
