import { stripVTControlCharacters } from "node:util";
import { expect, onTestFinished } from "vitest";
import { HistoryBody } from "../../src/api/history.ts";
import { historyLines } from "../../src/cli/show/history.ts";
import { insertEvents } from "../../src/store/events/inbox.ts";
import { createHold, releaseHold } from "../../src/store/holds/holds.ts";
import { applyHolds } from "../../src/store/lines/undecided-lines.ts";
import { sendOnce } from "../support/sends.ts";
import { serviceWithPayments } from "./support/funding-service.ts";
import { gatewayTest } from "./support/gateway-test.ts";
import { profile, startTestGateway, type TestGateway } from "./support/gateway.ts";
import { planLine, seedRun, setLine } from "./support/rows.ts";
import { typed } from "./support/typed.ts";

const test = gatewayTest().extend("operator", ({ gateway }) => gateway.token("oli", ["operator"]));

function heldBill(
  { store }: TestGateway,
  of: { readonly businessId: string; readonly value: string },
): Promise<unknown> {
  const hold = { scope: "payable", reason: "Disputed.", author: "oli", nowMs: Date.now() } as const;
  return store.transaction((trx) => createHold(trx, { ...hold, ...of }));
}

test("a bill that no run has planned has a history if it was held", async ({
  gateway,
  operator,
}) => {
  await heldBill(gateway, { businessId: "biz_acme", value: "stranger" });
  const { json } = await gateway.call("GET", "/v1/payables/stranger/history", operator);
  const history = HistoryBody.parse(json);
  expect(history).toMatchObject({
    business: "acme",
    state: null,
    approvals: [],
    holds: [{ author: "oli", reason: "Disputed." }],
    paidOnce: { verdict: "not-paid" },
  });
  expect(history.paidOnce.sentences[0]).toContain("Not paid by Payrun");
  expect(history.trail).toEqual({ entries: 1, changed: [] });
  expect(history.paidOnce.sentences.at(-1)).toContain("The audit trail's entry about it is");
  const called = { number: "BILL-000009", name: "Osprey Robotics", amountCents: 4_000 };
  const [head = ""] = historyLines(history, called);
  expect(stripVTControlCharacters(head)).toBe(
    "Osprey Robotics BILL-000009 stranger  $40.00 · in no run's plan",
  );
});

test("a bill's history names every hold that applies to it, and the command that releases it", async ({
  gateway,
  operator,
}) => {
  const { store } = gateway;
  const lines = [planLine("p1", { contactId: "con_1", contactName: "Osprey" }), planLine("p2")];
  const { runId } = await seedRun(store, { lines });
  await setLine(store, runId, "p1", { state: "cancelled", reason: "Its payment was cancelled." });
  await setLine(store, runId, "p2", { state: "on-hold" });
  const set = async (scope: "contact" | "all" | "run", value: string) => {
    const of = { businessId: "biz_acme", nowMs: Date.now(), author: "cora", reason: "Fraud?" };
    return (await store.transaction((trx) => createHold(trx, { ...of, scope, value }))).holdId;
  };
  const [vendor, all, run] = [
    await set("contact", "con_1"),
    await set("all", ""),
    await set("run", runId),
  ];
  const of = async (id: string) => {
    const { json } = await gateway.call("GET", `/v1/payables/${id}/history`, operator);
    const { holds, paidOnce } = HistoryBody.parse(json);
    return { holds: holds.map((hold) => hold.id), said: paidOnce.sentences.join("\n") };
  };
  const first = await of("p1");
  expect(first.holds).toEqual(expect.arrayContaining([vendor, all]));
  expect(first.holds).not.toContain(run);
  expect(first.said).toContain(
    `A hold on every bill of its vendor applies to it (cora: Fraud?): payrun release ${vendor} lifts it.`,
  );
  expect(first.said).toContain(`payrun release ${all} lifts it`);
  const second = await of("p2");
  expect(second.holds).toEqual(expect.arrayContaining([all, run]));
  expect(second.said).toContain(`A hold on its run applies to it (cora: Fraud?)`);
});

test("a bill that is being paid elsewhere is called neither paid nor on hold", async () => {
  const payment = {
    ...{ id: "pmt_theirs", status: "scheduled", amountCents: 10_000, payableId: "stranger" },
    ...{ contactId: null, bankAccountId: null, paymentRail: "SERVICE" },
  };
  const apiUrl = await serviceWithPayments([payment]);
  const other = await startTestGateway({ profiles: [profile({ apiUrl })] });
  onTestFinished(() => other.stop());
  await heldBill(other, { businessId: "biz_acme", value: "stranger" });
  const token = await other.token("oli", ["operator"]);
  const { json } = await other.call("GET", "/v1/payables/stranger/history", token);
  const said = HistoryBody.parse(json).paidOnce.sentences.join("\n");
  expect(said).toContain("which found it being paid by someone else");
  expect(said).not.toContain("applies to it");
});

test("a void bill is not called on hold", async ({ gateway, operator }) => {
  await seedRun(gateway.store, { lines: [planLine("p1")] });
  const left = await gateway.store.db
    .selectFrom("plan_skipped")
    .selectAll()
    .executeTakeFirstOrThrow();
  const payableId = left.payable_id;
  await heldBill(gateway, { businessId: "biz_acme", value: payableId });
  const said = async () => {
    const path = `/v1/payables/${payableId}/history`;
    const { json } = await gateway.call("GET", path, operator);
    return HistoryBody.parse(json).paidOnce.sentences.join("\n");
  };
  expect(await said()).toContain("A hold on this bill applies to it");
  const skipped = JSON.stringify({
    ...JSON.parse(left.skipped),
    code: "void",
    text: "It is void.",
  });
  await gateway.store.db.updateTable("plan_skipped").set({ skipped }).execute();
  const told = await said();
  expect(told).toContain("It is void.");
  expect(told).not.toContain("applies to it");
});

test("a bill's history says when it was on hold, and when no longer", async ({
  gateway,
  operator,
}) => {
  const { store } = gateway;
  const { runId } = await seedRun(store, { lines: [planLine("p1")] });
  const nowMs = Date.now();
  const about = { businessId: "biz_acme", nowMs };
  const moment = { ...about, runId, playbook: "weekly", businessMs: nowMs };
  await store.transaction(async (trx) => {
    const all = { ...about, scope: "all", value: "", author: "cora", reason: "Fraud?" } as const;
    const { holdId } = await createHold(trx, all);
    await applyHolds(trx, moment);
    await releaseHold(trx, holdId, "cora", nowMs);
    await applyHolds(trx, moment);
  });
  const { json } = await gateway.call("GET", "/v1/payables/p1/history", operator);
  const told = HistoryBody.parse(json).timeline.filter(({ kind }) => kind === "line");
  expect(told.map(({ text }) => text)).toEqual([
    expect.stringMatching(/^Now on hold/),
    "No longer on hold",
  ]);
});

test("a bill on hold says that a second hold applies to it, until one of them is released", async ({
  gateway,
  operator,
}) => {
  const { store } = gateway;
  const { runId } = await seedRun(store, { lines: [planLine("p1")] });
  const nowMs = Date.now();
  const about = { businessId: "biz_acme", nowMs, author: "cora", reason: "Fraud?" } as const;
  const moment = { ...about, runId, playbook: "weekly", businessMs: nowMs };
  const reasonNow = async () => {
    await store.transaction((trx) => applyHolds(trx, moment));
    const { json } = await gateway.call("GET", "/v1/payables/p1/history", operator);
    return HistoryBody.parse(json).reason;
  };
  const set = (scope: "source" | "contact", value: string) =>
    store.transaction((trx) => createHold(trx, { ...about, scope, value }));
  await set("source", "balance");
  expect(await reasonNow()).toBe("On hold since cora said: Fraud?");
  const { holdId } = await set("contact", "con_p1");
  expect(await reasonNow()).toContain("1 more hold applies to it.");
  await store.transaction((trx) => releaseHold(trx, holdId, "cora", nowMs));
  expect(await reasonNow()).toBe("On hold since cora said: Fraud?");
});

test("bills with the same id in two businesses are distinguished by the business", async () => {
  const profiles = [profile(), profile({ name: "north", businessId: "biz_north" })];
  const two = await startTestGateway({ profiles });
  try {
    const token = await two.token("oli", ["operator"]);
    await seedRun(two.store, { lines: [planLine("p1"), planLine("p2")] });
    await heldBill(two, { businessId: "biz_north", value: "p1" });
    const of = (id: string, query: string) =>
      two.call("GET", `/v1/payables/${id}/history${query}`, token);
    const either = await of("p1", "");
    expect(either).toMatchObject({ status: 422, json: { error: "business_ambiguous" } });
    expect(either.json["message"]).toContain("--business");
    expect((await of("p1", "?business=acme")).json).toMatchObject({ business: "acme", holds: [] });
    expect((await of("p1", "?business=north")).json).toMatchObject({
      business: "north",
      state: null,
      holds: [{ reason: "Disputed." }],
    });
    const wrong = await of("p2", "?business=north");
    expect(wrong.status).toBe(404);
    expect(wrong.json["message"]).toContain("There is one of acme.");
  } finally {
    await two.stop();
  }
});

test("the history of a bill lists what happened to it in order", async ({ gateway, operator }) => {
  const cora = await gateway.token("cora", ["controller"]);
  const run = await seedRun(gateway.store, { lines: [planLine("p4")] });
  await setLine(gateway.store, run.runId, "p4", { state: "awaiting-approval" });
  const body = { decision: "approve", planHash: run.planHash };
  await gateway.call("POST", `/v1/runs/${encodeURIComponent(run.runId)}/decisions`, cora, body);
  const subject = { businessId: "biz_acme", subject: "p4", owner: run.runId };
  await sendOnce(gateway.store, subject, { result: "unknown", status: 500 });
  await gateway.call("POST", "/v1/holds", operator, { payableId: "p4", reason: "wait" });
  const answer = await gateway.call("GET", "/v1/payables/p4/history", operator);
  expect(answer.status).toBe(200);
  const history = HistoryBody.parse(answer.json);
  expect(history).toMatchObject({ business: "acme", owner: run.runId, state: "awaiting-approval" });
  const kinds = history.timeline.map((entry) => entry.kind);
  expect(kinds).toEqual(["planned", "approved", "answered", "hold"]);
  expect(history.approvals).toMatchObject([{ by: "cora", planHash: run.planHash }]);
  expect(history.timeline.map((entry) => entry.at)).toEqual(
    history.timeline.map((entry) => entry.at).toSorted(),
  );
  expect(history.attempts).toMatchObject([{ seq: 1, state: "open", sends: [{ status: 500 }] }]);
  expect(history.holds).toMatchObject([{ reason: "wait" }]);
});

test.for<[string, string]>([
  ["payable.payment.failed", "An event says: a payment failed"],
  ["payable.something_new", "An event says: payable something new"],
])("a bill's history puts the event %s into words", async ([type, text], { gateway, operator }) => {
  await seedRun(gateway.store, { lines: [planLine("p5")] });
  const event = { eventId: "evt_1", sequence: "1", object: "payable", objectId: "p5", body: "{}" };
  const at = {
    createdAt: new Date().toISOString(),
    receivedAtMs: Date.now(),
    via: "webhook",
  } as const;
  await insertEvents(gateway.store.db, [{ ...event, ...at, type, businessId: "biz_acme" }]);
  const { json } = await gateway.call("GET", "/v1/payables/p5/history", operator);
  expect(HistoryBody.parse(json).timeline.map((entry) => entry.text)).toContain(text);
});

test("explain shows a bill's times in the profile's zone, and names the zone", async () => {
  const west = await startTestGateway({ profiles: [profile({ zone: "America/Los_Angeles" })] });
  onTestFinished(() => west.stop());
  const { db } = west.store;
  const { runId } = await seedRun(west.store, { lines: [planLine("p6")] });
  const nowMs = Date.parse("2026-11-23T14:00:05Z");
  const hold = { scope: "payable", value: "p6", reason: "Disputed.", author: "oli" } as const;
  await west.store.transaction((trx) =>
    createHold(trx, { ...hold, businessId: "biz_acme", nowMs }),
  );
  const event = { eventId: "evt_1", sequence: "1", object: "payable", objectId: "p6", body: "{}" };
  const told = { createdAt: "2026-11-23T14:00:06Z", receivedAtMs: nowMs + 1_000 };
  const of = { type: "payable.approved", businessId: "biz_acme", via: "webhook" } as const;
  await insertEvents(db, [{ ...event, ...told, ...of }]);
  const { stdout } = await typed(west, await west.token("vic", ["viewer"]), ["explain", "p6"]);
  expect(stdout).toContain("times are those of Los Angeles");
  expect(stdout).toMatch(/2026-11-23 06:00:05 .*oli.*Disputed/);
  expect(stdout).toMatch(/2026-11-23 06:00:06 +An event says: the bill was approved/);
  expect(stdout).toContain(runId);
});
