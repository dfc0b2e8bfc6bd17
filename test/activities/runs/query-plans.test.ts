import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, onTestFinished, vi } from "vitest";
import { holdBackFromRun } from "../../../activities/cancel/hold-back.ts";
import { HOLD_SCOPES } from "../../../src/domain/holds.ts";
import { LineCounts } from "../../../src/reports/line-counts.ts";
import { openSumsOf } from "../../../src/store/lines/open-lines.ts";
import { mayBeCountedTwice } from "../../../src/store/lines/reserved.ts";
import { listAudit } from "../../../src/store/audit/audit.ts";
import { recallableLines, sumsOfSent } from "../../../src/store/lines/sent-lines.ts";
import { tookWebhookAfter } from "../../../src/store/events/inbox.ts";
import { openEventStarts } from "../../../src/store/events/event-starts.ts";
import { claimDeliveries } from "../../../src/store/notices/notice-deliveries.ts";
import { listedPage } from "../../../src/store/listed/listed.ts";
import { leftOpen } from "../../../src/store/payables/open-subjects.ts";
import { claimStrays } from "../../../src/store/janitor/open-runs.ts";
import { keysOfOpenWork } from "../../../src/store/runs/history-keys.ts";
import { clockAt } from "../../../src/store/sql/clocks.ts";
import type { MoneyWorld } from "../money-world.ts";
import { CancelWorld, test } from "../cancel-world.ts";

/** Tables that keep a row of every bill, request or fact forever, or for more than a year. */
const GROWING = [
  "run_lines",
  "plan_lines",
  "plan_skipped",
  "attempts",
  "sends",
  "looks",
  "late_answers",
  "adoptions",
  "line_approvals",
  "audit",
  "retries",
  "cancellation_items",
  "event_starts",
  "notices",
  "notice_deliveries",
];

/** Indexes of open rows only, which stay short. */
const SHORT = [
  "cancellation_items_withheld",
  "decisions_refusing",
  "event_starts_open",
  "notice_deliveries_due",
  "notices_to_route",
  "run_lines_parked",
  "run_lines_under_way",
];

/** An amount that the service pays in two payments. */
const SPLIT = 138_750_00;

/** Collects the statements that this process prepares from now on. */
function preparedOnes(): Set<string> {
  const prepared = new Set<string>();
  const prepare = Reflect.get(DatabaseSync.prototype, "prepare");
  const spied = vi.spyOn(DatabaseSync.prototype, "prepare");
  onTestFinished(() => spied.mockRestore());
  spied.mockImplementation(function (this: DatabaseSync, text, options) {
    prepared.add(text);
    return prepare.call(this, text, options);
  });
  return prepared;
}

test("no query that a run needs reads all that its business has ever paid", async ({
  cancels,
  world,
}) => {
  const prepared = preparedOnes();
  const { store, businessId } = world;
  const { runId, payableId } = await world.approvedRun([{}, { totalAmountCents: SPLIT }, {}]);
  await holdBackFromRun(world.context(), runId);
  await world.control.outcome({ match: { payableId }, outcome: "fail", code: "R09", times: 1 });
  await world.pay(runId);
  await sumsOfSent(store.db, businessId);
  await recallableLines(store.db, businessId, "2026-11-21", { offset: 0, limit: 10 });
  for (const scope of HOLD_SCOPES) await openSumsOf(store.db, businessId, { scope, value: runId });
  await world.control.advance("P10D");
  await world.follow(runId);
  await world.look(payableId);
  await world.assess(runId);
  for (const choose of [
    { run: CancelWorld.playbookOf(runId) },
    { vendor: "v1" },
    { payable: payableId },
  ]) {
    await cancels.turns(await cancels.ask(choose));
  }
  const balance = { businessId, sourceId: "balance", today: "2026-11-21" };
  await mayBeCountedTwice(store.db, balance);
  await claimStrays(store.db, businessId, Date.now());
  await leftOpen(store.db, businessId, { openedMs: Date.now(), lookedUpAtMs: Date.now() }, 10);
  await openEventStarts(store.db, Date.now(), 10);
  const claim = { holder: "test", nowMs: Date.now(), untilMs: Date.now() };
  await claimDeliveries(store.db, claim, 10);
  await new LineCounts(store).read();
  await listAudit(store.db, { businessId, subject: [payableId, runId] });

  const plans = plansOf(world, prepared).map(({ text, steps }) => ({
    text,
    reads: steps.filter((step) => readsAll(step, text)),
  }));
  expect(plans.filter(({ reads }) => reads.length > 0)).toEqual([]);
  expect(plans.length).toBeGreaterThan(50);
});

test("open work and the last webhooks are found through indexes that hold nothing else", async ({
  world,
}) => {
  const prepared = preparedOnes();
  await keysOfOpenWork(world.store.db);
  await tookWebhookAfter(world.store.db, world.businessId, 1);
  const steps = plansOf(world, prepared).flatMap((plan) => plan.steps);
  for (const index of ["runs_open", "retries_open", "inbox_taken"]) {
    expect(steps).toContainEqual(expect.stringMatching(new RegExp(`INDEX ${index}\\b`)));
  }
});

test("the list of runs is sorted, filtered and counted without reading a single run's row", async ({
  world,
}) => {
  const prepared = preparedOnes();
  const known = { businessIds: [world.businessId], clock: clockAt(Date.now()), left: ["a"] };
  const filters = [
    {},
    { playbook: "weekly", period: "2026-11-26" },
    { phase: "completed-with-exceptions" },
    { phase: "completed" },
    { fromMs: 1, beforeMs: 2 },
    { needsAction: false },
  ];
  for (const filter of filters) {
    await listedPage(world.store.db, { ...known, ...filter }, { page: 2, pageSize: 50 });
  }
  const plans = plansOf(world, prepared);
  const ofLists = plans.flatMap(({ steps }) => steps).filter((step) => LISTED_ROWS.test(step));
  expect(ofLists.length).toBeGreaterThan(10);
  for (const step of ofLists) expect(step).toMatch(/COVERING INDEX (runs|cancellations)_listed/);
});

/** A step that reads runs or cancellations, except by their ids, of which there are few then. */
const LISTED_ROWS = /^(?:SCAN|SEARCH) (?:runs|cancellations)\b(?!.*(?:run|workflow)_id=\?)/;

/** Returns the store's query plan of each of these statements, step by step. */
function plansOf({ world }: MoneyWorld, prepared: ReadonlySet<string>) {
  const file = new DatabaseSync(join(world.folder, "payrun.db"), { readOnly: true });
  file.function("payrun_now_ms", () => 0);
  const plans = [...prepared].filter(isQuery).map((text) => {
    const steps = file.prepare(`explain query plan ${text}`).all();
    return { text, steps: steps.map(({ detail }) => String(detail)) };
  });
  file.close();
  return plans;
}

function isQuery(text: string): boolean {
  return /^\s*(select|insert|update|delete|with)\b/i.test(text);
}

/** True if a step reads a growing table without a selective index. */
function readsAll(detail: string, text: string): boolean {
  const [, how, table = ""] = /^(SCAN|SEARCH) (\w+)/.exec(detail) ?? [];
  const [, index = "", terms = ""] = /INDEX (\w+)(?: \((.*)\))?/.exec(detail) ?? [];
  const isLast = /order by \S+ desc limit \?$/.test(text.trim());
  if (!GROWING.includes(table) || SHORT.includes(index) || isLast) return false;
  return how === "SCAN" || terms === "business_id=?";
}
