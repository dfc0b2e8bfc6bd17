import { UNKNOWN_SENDER } from "../../src/contracts/authors.ts";
import { expect, test } from "vitest";
import type { BusinessProfile } from "../../src/config/business-profile.ts";
import type { PlaybookSchedule } from "../../src/contracts/playbook.ts";
import { lateConditions } from "../../src/reports/late-conditions.ts";
import { holdForLoss } from "../../src/store/janitor/behind.ts";
import { appendAudit } from "../../src/store/audit/audit.ts";
import { webhookRefused } from "../../src/domain/facts/access.ts";
import { record } from "../../src/store/facts/record.ts";
import { webhooksOf } from "../../src/store/audit/refused-webhooks.ts";
import { insertEvents, markDispatched } from "../../src/store/events/inbox.ts";
import type { Store } from "../../src/store/index.ts";
import { changeLine } from "../../src/store/lines/lines.ts";
import { applyPlaybook } from "../../src/store/playbooks/playbooks.ts";
import { setRunPhase, upsertRun } from "../../src/store/runs/runs.ts";
import { approvedRun } from "../store/approved-run.ts";
import { newRun } from "../store/fixtures.ts";
import { testStore } from "../store/support.ts";
import { payRunPlaybook } from "../support/pay-run-playbook.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

const ACME: BusinessProfile = {
  name: "acme",
  apiUrl: "https://payments.example.com",
  businessId: "biz_1",
  token: { kind: "value", value: "t" },
  webhookSecrets: [],
  sandbox: false,
};

/** Thursdays at 9:00 in New York. */
const THURSDAYS: PlaybookSchedule = {
  days: { every: "week", on: "thursday" },
  at: "09:00",
  zone: "America/New_York",
  holidays: "business-day-before",
  catchUpDays: 1,
};
const THURSDAY_9_00 = Date.parse("2026-11-05T14:00:00Z");

const codes = async (store: Store, nowMs: number): Promise<string[]> =>
  (await lateConditions({ db: store.db, profiles: [ACME], nowMs })).map(({ code }) => code);

async function scheduled(store: Store, nowMs: number): Promise<void> {
  const compiled = payRunPlaybook({ business: "acme", schedule: THURSDAYS });
  await store.transaction((trx) =>
    applyPlaybook(trx, {
      ...{ name: "weekly", kind: "pay-run", business: "acme", text: "a", compiled },
      ...{ author: "ada", authorTokenId: null, nowMs },
    }),
  );
}

test("a scheduled run that is a quarter of an hour late is reported with the command that launches it, until it exists", async () => {
  const { store } = await testStore();
  await scheduled(store, THURSDAY_9_00 - 24 * HOUR_MS);
  expect(await codes(store, THURSDAY_9_00 + 10 * MINUTE_MS)).toEqual([]);
  const lateMs = THURSDAY_9_00 + 20 * MINUTE_MS;
  const [late] = await lateConditions({ db: store.db, profiles: [ACME], nowMs: lateMs });
  expect(late).toMatchObject({ code: "run_not_started", severity: "failed", business: "acme" });
  expect(late?.remedy).toContain("payrun launch weekly --period 2026-11-05");
  expect(late?.text).not.toContain("catchUp");
  const tooLateMs = THURSDAY_9_00 + 25 * HOUR_MS;
  const [missed] = await lateConditions({ db: store.db, profiles: [ACME], nowMs: tooLateMs });
  expect(missed?.text).toContain("missed by more than catchUp: 1 day allows");
  expect(missed?.remedy).toBe("Launch it: payrun launch weekly --period 2026-11-05");
  await upsertRun(store.db, newRun({ period: "2026-11-05" }));
  expect(await codes(store, lateMs)).toEqual([]);
});

test("a sandbox's run counts whatever date its clock gives it, and a missed one is launched by its period", async () => {
  const { store } = await testStore();
  await scheduled(store, THURSDAY_9_00 - 24 * HOUR_MS);
  const nowMs = THURSDAY_9_00 + 20 * MINUTE_MS;
  const profiles = [{ ...ACME, sandbox: true }];
  // Last week's run is still under way.
  await upsertRun(store.db, newRun({ period: "2026-12-10", nowMs: 1 }));
  const late = () => lateConditions({ db: store.db, profiles, nowMs });
  expect((await late())[0]?.remedy).toContain("payrun launch weekly --period 2026-11-05");
  await upsertRun(store.db, newRun({ period: "2026-12-17", nowMs: THURSDAY_9_00 + MINUTE_MS }));
  expect(await late()).toEqual([]);
});

test("a schedule is not late if it was made after its time, is paused, or missed its run days ago", async () => {
  const { store } = await testStore();
  await scheduled(store, THURSDAY_9_00 + MINUTE_MS);
  const lateMs = THURSDAY_9_00 + HOUR_MS;
  expect(await codes(store, lateMs)).toEqual([]);
  const { store: other } = await testStore();
  await scheduled(other, THURSDAY_9_00 - HOUR_MS);
  expect(await codes(other, THURSDAY_9_00 + 4 * 24 * HOUR_MS)).toEqual([]);
  await other.transactionOf("biz_1", (trx) =>
    appendAudit(trx, {
      ...{ businessId: "biz_1", nowMs: 1, actor: "ada", action: "schedule.paused" },
      ...{ subject: "weekly", details: { note: "holiday" } },
    }),
  );
  expect(await codes(other, lateMs)).toEqual([]);
});

test("a decision is reported if dates change without it within four hours, but not earlier", async () => {
  const { store } = await testStore();
  const runId = await approvedRun(store, "weekly", ["p1"], { executionDate: "2026-11-05" });
  await changeLine(store.db, { runId, payableId: "p1" }, { state: "awaiting-approval" }, 3);
  await setRunPhase(store.db, runId, { phase: "awaiting-approval" });
  const found = await lateConditions({
    ...{ db: store.db, profiles: [ACME] },
    nowMs: Date.parse("2026-11-05T02:00:00Z"),
  });
  expect(found.map(({ code }) => code)).toEqual(["decision_due"]);
  expect(found[0]?.text).toContain(runId);
  expect(await codes(store, Date.parse("2026-11-04T15:00:00Z"))).toEqual([]);
  const sandbox = { ...ACME, sandbox: true };
  const asked = { db: store.db, profiles: [sandbox], nowMs: Date.parse("2026-11-05T02:00:00Z") };
  expect(await lateConditions(asked)).toEqual([]);
});

test("a bill whose last request left an hour ago and is still unexplained is reported", async () => {
  const { store } = await testStore();
  const runId = await approvedRun(store, "weekly", ["p1", "p2"]);
  await changeLine(store.db, { runId, payableId: "p1" }, { state: "unknown" }, 3);
  const send = {
    ...{ attempt_id: "att_1", business_id: "biz_1", subject: "p1", seq: 1, owner: "run" },
    ...{ sent_by: "w", path: "/v1/payments", body: "{}", run_id: runId, approved_hash: "h" },
    ...{ contact_id: "c", source_id: "balance", rail: "SERVICE", amount_cents: 1 },
    ...{ execution_date: "2026-11-05", baseline: "[]", made_ids: "[]", result: "pending" },
  };
  await store.db
    .insertInto("attempts")
    .values({
      ...{ attempt_id: "att_1", business_id: "biz_1", subject: "p1", seq: 1 },
      ...{ operation: "pay", idempotency_key: "k", created_at_ms: 1 },
    })
    .execute();
  const sent = (sendNo: number, atMs: number) =>
    store.db
      .insertInto("sends")
      .values({
        ...send,
        ...{ send_id: `s${sendNo}`, send_no: sendNo, opened_at_ms: atMs, leave_by_ms: atMs + 1 },
      })
      .execute();
  await sent(1, 1_000);
  expect(await codes(store, 1_000 + HOUR_MS / 2)).toEqual([]);
  const [found] = await lateConditions({
    ...{ db: store.db, profiles: [ACME], nowMs: 2_000 + HOUR_MS },
  });
  expect(found).toMatchObject({ code: "bill_in_doubt", severity: "failed" });
  expect(found?.remedy).toContain("payrun explain p1");
  await changeLine(store.db, { runId, payableId: "p1" }, { state: "settled" }, 5);
  expect(await codes(store, 2_000 + HOUR_MS)).toEqual([]);
});

test("events that wait for five minutes are reported, and so are events that no webhook brought", async () => {
  const { store } = await testStore();
  const event = (eventId: string, via: "webhook" | "deliveries") => ({
    ...{ businessId: "biz_1", eventId, type: "payable.paid", sequence: "1", object: "payable" },
    ...{ objectId: "p1", createdAt: "2026-11-05T12:00:00Z", receivedAtMs: 1_000, via, body: "{}" },
  });
  await insertEvents(store.db, [event("e1", "webhook")]);
  expect(await codes(store, 2_000)).toEqual([]);
  expect(await codes(store, 2_000 + 5 * MINUTE_MS)).toEqual(["events_undispatched"]);
  await insertEvents(store.db, [event("e2", "deliveries")]);
  await store.transaction((trx) => markDispatched(trx, "biz_1", ["e1", "e2"], 3_000));
  expect(await codes(store, 2_000 + 5 * MINUTE_MS)).toEqual(["webhooks_missed"]);
  expect(await codes(store, 2_000 + HOUR_MS)).toEqual([]);
  // The webhook was only slower than the list.
  await insertEvents(store.db, [event("e2", "webhook"), event("e1", "deliveries")]);
  expect(await codes(store, 2_000 + 5 * MINUTE_MS)).toEqual([]);
});

test("if webhooks are missing, an unconfirmed signature is reported as a possible cause until one is confirmed", async () => {
  const { store } = await testStore();
  const event = (eventId: string, via: "webhook" | "deliveries", receivedAtMs: number) => ({
    ...{ businessId: "biz_1", eventId, type: "payable.paid", sequence: "1" },
    ...{ object: "payable", objectId: "p1", createdAt: "2026-11-05T12:00:00Z" },
    ...{ receivedAtMs, via, body: "{}" },
  });
  await insertEvents(store.db, [event("e1", "deliveries", 1_000)]);
  await store.transaction((trx) => markDispatched(trx, "biz_1", ["e1"], 3_000));
  const missed = async () =>
    (await lateConditions({ db: store.db, profiles: [ACME], nowMs: 4_000 })).map(
      ({ text, remedy }) => ({ text, remedy }),
    );
  expect(await missed()).toEqual([
    {
      text: expect.stringMatching(/had them$/),
      remedy: expect.stringContaining("PAYRUN_PUBLIC_URL"),
    },
  ]);
  const { businessId, name } = ACME;
  const refused = { businessId, nowMs: 2_000, by: UNKNOWN_SENDER, subject: webhooksOf(name) };
  await store.transaction((trx) =>
    record(trx, webhookRefused(refused, { why: "no_match", times: 1 })),
  );
  expect(await missed()).toEqual([
    {
      text: expect.stringMatching(
        /had them\. Either the gateway was not reachable, or .*signature it could not confirm \(no_match\)$/,
      ),
      remedy: expect.stringMatching(/PAYRUN_PUBLIC_URL.*webhookSecrets/),
    },
  ]);
  // The refused request was not the service's.
  await insertEvents(store.db, [event("e2", "webhook", 3_000)]);
  expect(await missed()).toEqual([
    {
      text: expect.stringMatching(/had them$/),
      remedy: expect.not.stringContaining("webhookSecrets"),
    },
  ]);
});

test("if the store was restored within the last hour, missing webhooks are put down to that", async () => {
  const { store } = await testStore();
  const nowMs = Date.now();
  await insertEvents(store.db, [
    {
      ...{ businessId: "biz_1", eventId: "e1", type: "payable.paid", sequence: "1" },
      ...{ object: "payable", objectId: "p1", createdAt: "2026-11-05T12:00:00Z" },
      ...{ receivedAtMs: nowMs, via: "deliveries", body: "{}" },
    },
  ]);
  const loss = {
    businessId: "biz_1",
    evidence: "a test",
    hadItAtMs: 1,
    serviceMs: null,
    businessMs: null,
  };
  await store.transaction(async (trx) => {
    await markDispatched(trx, "biz_1", ["e1"], nowMs);
    await holdForLoss(trx, loss);
  });
  expect(
    await lateConditions({ db: store.db, profiles: [ACME], nowMs: nowMs + MINUTE_MS }),
  ).toMatchObject([
    { code: "webhooks_missed", text: expect.stringContaining("The store was restored") },
  ]);
});
