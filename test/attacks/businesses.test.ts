import { afterEach, beforeEach, expect, test } from "vitest";
import { PROVIDED_STEPS } from "../../src/contracts/onboarding.ts";
import { openSession } from "../../src/store/approvals/sessions.ts";
import { listAudit, STORE_TRAIL } from "../../src/store/audit/audit.ts";
import { createHold } from "../../src/store/holds/holds.ts";
import { openIncident } from "../../src/store/incidents/incidents.ts";
import { raiseNotice } from "../../src/store/notices/notices.ts";
import { keepRetryCase } from "../../src/store/lines/retry-cases.ts";
import { profile, startTestGateway, type TestGateway } from "../gateway/support/gateway.ts";
import { planLine, seedRun, type SeededRun } from "../gateway/support/rows.ts";
import { confirmedToken } from "../support/confirmed-token.ts";

const EVERY_ROLE = ["viewer", "launcher", "operator", "admin", "controller", "owner"];

let gateway: TestGateway;
let run: SeededRun;
let holdId: string;
let noticeId: string;
let tokenId: string;
let sessionId: string;
let ours: string;
let theirs: string;

beforeEach(async () => {
  gateway = await startTestGateway({
    profiles: [profile(), profile({ name: "beta", businessId: "biz_beta" })],
  });
  const { store } = gateway;
  run = await seedRun(store, { lines: [planLine("p1")] });
  const nowMs = Date.now();
  const hold = { businessId: "biz_acme", scope: "payable", value: "p1", reason: "odd" } as const;
  holdId = await store.transaction(async (trx) => {
    const made = await createHold(trx, { ...hold, author: "ada", untilMs: null, nowMs });
    return made.holdId;
  });
  await store.transaction(async (trx) => {
    await raiseNotice(trx, {
      ...{ businessId: "biz_acme", kind: "business-waits", factKey: "f", runId: run.runId },
      ...{ subject: "Secret of acme", text: "acme waits", roles: ["operator"], data: {}, nowMs },
    });
    await openIncident(trx, {
      ...{ businessId: "biz_acme", business: "acme", sourceId: "balance", code: "R01" },
      ...{
        workflowId: "funding-incident/acme/balance",
        reason: "funds",
        roles: ["owner"],
        nowMs,
        failedAtMs: nowMs,
      },
    });
  });
  noticeId = (await store.db.selectFrom("notices").select("notice_id").executeTakeFirstOrThrow())
    .notice_id;
  const made = { name: "Cora", roles: ["controller"], businesses: ["acme"], createdBy: "ada" };
  tokenId = (await confirmedToken(store, { ...made, nowMs })).tokenId;
  const signIn = { holder: { tokenId }, name: "Cora", way: "link", signedInAtMs: nowMs } as const;
  const opened = await store.transactionOf(STORE_TRAIL, (trx) =>
    openSession(trx, signIn, { nowMs, from: "10.0.0.1", endsAtMs: undefined, keptForm: null }),
  );
  sessionId = opened.session.sessionId;
  ours = await gateway.token("olga", EVERY_ROLE, ["acme"]);
  theirs = await gateway.token("mallory", EVERY_ROLE, ["beta"]);
});
afterEach(() => gateway.stop());

/** Attacks on acme's data by a token of beta, one for each operation. */
function attacks(): Record<string, { path: string; body?: object }> {
  const id = encodeURIComponent(run.runId);
  const named = { business: "acme" };
  return {
    "GET /v1/holds": { path: "/v1/holds?business=acme" },
    "GET /metrics": { path: "/metrics" },
    "POST /v1/holds": { path: "/v1/holds", body: { all: true, reason: "x", ...named } },
    "DELETE /v1/holds/{id}": { path: `/v1/holds/${holdId}` },
    "GET /v1/releases": { path: "/v1/releases?by=ada&business=acme" },
    "POST /v1/releases": { path: "/v1/releases", body: { by: "ada", ...named } },
    "GET /v1/stops": { path: `/v1/stops?run=${id}` },
    "POST /v1/stops": {
      path: "/v1/stops",
      body: { run: run.runId, reason: "x", cancelScheduled: true },
    },
    "GET /v1/incidents": { path: "/v1/incidents?business=acme" },
    "POST /v1/incidents/{source}/decision": {
      path: "/v1/incidents/balance/decision?business=acme",
      body: { decision: "released", reason: "x" },
    },
    "GET /v1/notices": { path: "/v1/notices?business=acme" },
    "POST /v1/notices/{id}/retry": { path: `/v1/notices/${noticeId}/retry` },
    "GET /v1/payables/{id}/history": { path: "/v1/payables/p1/history" },
    "POST /v1/payables/{id}/resolution": {
      path: "/v1/payables/p1/resolution",
      body: { action: "paid-elsewhere", reason: "x" },
    },
    "GET /v1/payables": { path: "/v1/payables?state=parked&business=acme" },
    "GET /v1/contacts/{id}": { path: "/v1/contacts/con_p1?business=acme" },
    "GET /v1/under-way": { path: "/v1/under-way?business=acme" },
    "GET /v1/overview": { path: "/v1/overview?business=acme" },
    "GET /v1/runs/{id}/plan-changes": { path: `/v1/runs/${id}/plan-changes?since=x` },
    "POST /v1/resolutions": {
      path: "/v1/resolutions",
      body: { reasonCode: "R01", action: "give-up", reason: "x", ...named },
    },
    "GET /v1/plans/{id}": { path: `/v1/plans/${encodeURIComponent("plan/acme/weekly/x")}` },
    "POST /v1/plans": { path: "/v1/plans", body: { playbook: "weekly", ...named } },
    "GET /v1/playbooks": { path: "/v1/playbooks?business=acme" },
    "GET /v1/playbooks/{name}": { path: "/v1/playbooks/weekly" },
    "POST /v1/playbooks": {
      path: "/v1/playbooks",
      body: { name: "weekly", text: "kind: pay-run\nbusiness: acme\n" },
    },
    "GET /v1/playbooks/{name}/proposal": { path: "/v1/playbooks/weekly/proposal" },
    "POST /v1/playbooks/{name}/confirmation": {
      path: "/v1/playbooks/weekly/confirmation",
      body: { hash: "x" },
    },
    "GET /v1/reports": { path: "/v1/reports?business=acme&from=2026-11-01&to=2026-11-30" },
    "GET /v1/runs": { path: "/v1/runs?business=acme" },
    "POST /v1/runs": { path: "/v1/runs", body: { playbook: "weekly" } },
    "GET /v1/runs/{id}": { path: `/v1/runs/${id}` },
    "GET /v1/runs/{id}/review": { path: `/v1/runs/${id}/review` },
    "GET /v1/runs/{id}/report": { path: `/v1/runs/${id}/report` },
    "POST /v1/runs/{id}/cancel": { path: `/v1/runs/${id}/cancel`, body: {} },
    "POST /v1/runs/{id}/decisions": {
      path: `/v1/runs/${id}/decisions`,
      body: { decision: "approve", planHash: run.planHash },
    },
    "POST /v1/off-cycle": { path: "/v1/off-cycle", body: { payables: ["p1"], ...named } },
    "POST /v1/cancellations": { path: "/v1/cancellations", body: { payments: ["x"], ...named } },
    "GET /v1/names": { path: "/v1/names?kind=bill&business=acme" },
    "GET /v1/search": { path: "/v1/search?q=BILL-p1&business=acme" },
    "GET /v1/payments": { path: "/v1/payments?since=2026-01-01&business=acme" },
    "GET /v1/schedules": { path: "/v1/schedules?business=acme" },
    "POST /v1/schedules/{name}/pause": { path: "/v1/schedules/weekly/pause", body: {} },
    "POST /v1/schedules/{name}/resume": { path: "/v1/schedules/weekly/resume", body: {} },
    "POST /v1/schedules/{name}/backfill": { path: "/v1/schedules/weekly/backfill", body: {} },
    "DELETE /v1/schedules/{name}": { path: "/v1/schedules/weekly" },
    "GET /v1/conditions": { path: "/v1/conditions" },
    "GET /v1/tokens": { path: "/v1/tokens" },
    "POST /v1/tokens": {
      path: "/v1/tokens",
      body: { name: "x", roles: ["viewer"], businesses: ["acme"] },
    },
    "POST /v1/tokens/{id}/confirmation": { path: `/v1/tokens/${tokenId}/confirmation` },
    "GET /v1/sessions": { path: "/v1/sessions" },
    "DELETE /v1/sessions/{id}": { path: `/v1/sessions/${sessionId}` },
    "DELETE /v1/tokens/{id}": { path: `/v1/tokens/${tokenId}` },
    ...Object.fromEntries(
      PROVIDED_STEPS.map((step) => [
        `POST /v1/onboardings/{business}/${step}`,
        { path: `/v1/onboardings/acme/${step}`, body: {} },
      ]),
    ),
  };
}

/** Operations that concern no business, or only the caller. */
const OF_NOBODY = [
  ...["/health", "/ready", "/webhooks/{business}"],
  ...["/v1/tokens/renewal", "/v1/sign-in-links"],
];

test("no operation of the API reads or changes anything of a business that the token is not for", async () => {
  const document = await gateway.call("GET", "/openapi.json", null);
  const paths = document.json["paths"] as Record<string, Record<string, unknown>>;
  const operations = Object.entries(paths)
    .filter(([path]) => !OF_NOBODY.includes(path))
    .flatMap(([path, of]) => Object.keys(of).map((method) => `${method.toUpperCase()} ${path}`));
  expect(Object.keys(attacks()).toSorted()).toEqual(operations.toSorted());
  const { db } = gateway.store;
  const entries = async () => (await listAudit(db, { businessId: "biz_acme" })).length;
  const before = await entries();
  const refusals = new Map<string, number>();
  for (const [operation, { path, body }] of Object.entries(attacks())) {
    const method = operation.split(" ")[0] ?? "";
    const answer = await gateway.call(method, path, theirs, body);
    refusals.set(operation, answer.status);
    const isEmptyList =
      answer.status === 200 &&
      ["GET /v1/tokens", "GET /v1/sessions", "GET /v1/conditions"].includes(operation);
    if (!isEmptyList) expect(answer.status, operation).toBeGreaterThanOrEqual(400);
    expect(answer.status, operation).toBeLessThan(500);
    for (const secret of ["Secret of acme", "biz_acme", "Vendor of p1", "Cora", "10000"]) {
      expect(answer.text, operation).not.toContain(secret);
    }
  }
  expect(await db.selectFrom("decisions").selectAll().execute()).toEqual([]);
  expect(await db.selectFrom("playbooks").select("revision").execute()).toHaveLength(1);
  const standing = await gateway.call("GET", `/v1/runs/${encodeURIComponent(run.runId)}`, ours);
  expect(standing.json).toMatchObject({ phase: "awaiting-approval" });
  expect((await gateway.call("GET", "/v1/holds", ours)).json["totalCount"]).toBe(2);
  // Requests that were refused by id are recorded in the trail of the attacked business.
  const noted = (await listAudit(db, { businessId: "biz_acme" })).slice(before);
  expect(new Set(noted.map(({ action }) => action))).toEqual(new Set(["request.refused"]));
  expect(noted.length).toBeGreaterThan(0);
});

test("a hold on another business's run is answered as if the run didn't exist", async () => {
  const refusals = await Promise.all(
    [run.runId, "pay-run/acme/weekly/2020-01-01"].map(async (id) => {
      const hold = { run: id, reason: "x" };
      const { status, json } = await gateway.call("POST", "/v1/holds", theirs, hold);
      return [status, String(json["message"]).replace(id, "ID")];
    }),
  );
  expect(refusals[0]).toEqual(refusals[1]);
  expect(refusals[0]?.[0]).toBe(404);
});

test("the metrics are readable with a token for all businesses", async () => {
  const all = ["beta", "acme"];
  for (const token of [
    await gateway.token("vera", ["viewer"]),
    await gateway.token("vic", ["viewer"], all),
  ]) {
    expect((await gateway.call("GET", "/metrics", token)).text).toContain('business="acme"');
  }
});

test("lists have only what the token's businesses have", async () => {
  // A caller who names no business finds nothing of other businesses, whoever has set it.
  expect((await gateway.call("GET", "/v1/releases?by=ada", ours)).status).toBe(200);
  expect((await gateway.call("GET", "/v1/releases?by=ada", theirs)).status).toBe(422);
  for (const path of ["runs", "notices", "incidents", "holds", "playbooks"]) {
    const mine = await gateway.call("GET", `/v1/${path}`, ours);
    const other = await gateway.call("GET", `/v1/${path}`, theirs);
    expect(mine.json["items"], path).not.toEqual([]);
    expect(other.json["items"], path).toEqual([]);
  }
  const found = async (token: string) => {
    const answers = await Promise.all(
      ["p1", "BILL-p1", "Vendor of p1", "weekly", holdId, "balance"].map((text) =>
        gateway.call("GET", `/v1/search?q=${encodeURIComponent(text)}`, token),
      ),
    );
    return answers.map(({ json }) => [...(json["exact"] as []), ...(json["near"] as [])].length);
  };
  for (const count of await found(ours)) expect(count).toBeGreaterThan(0);
  expect(await found(theirs)).toEqual([0, 0, 0, 0, 0, 0]);
  const tokens = (await gateway.call("GET", "/v1/tokens", theirs)).json["items"];
  expect(tokens).toMatchObject([{ name: "mallory", businesses: ["beta"] }]);
});

test("a role that decides about failures in one business neither decides nor is named in another", async () => {
  await keepRetryCase(gateway.store.db, {
    ...{ businessId: "biz_acme", payableId: "p1", sourceId: "balance", waitsFor: null },
    ...{ failedAtMs: 1, failedRealMs: 1, giveUpAfterDays: 10, giveUpNotify: [] },
    rule: {
      ...{ codes: [], words: [], action: "ask", by: ["fraud-desk"] },
      ...{ pause: false, payAgain: false, when: "when-released", atMost: 2 },
    },
  });
  const body = { action: "give-up", reason: "x" };
  const ask = async (business: string) => {
    const token = await gateway.token("fay", ["fraud-desk"], [business]);
    return gateway.call("POST", "/v1/payables/p1/resolution", token, body);
  };
  const other = await ask("beta");
  expect(other.status).toBe(403);
  expect(other.json["message"]).toContain("roles operator, admin;");
  expect((await ask("acme")).json["error"]).toBe("not_parked");
});

test("a token can create tokens only for its own businesses", async () => {
  const make = (token: string, businesses?: readonly string[]) =>
    gateway.call("POST", "/v1/tokens", token, {
      ...{ name: "new", roles: ["viewer"] },
      ...(businesses === undefined ? {} : { businesses }),
    });
  expect((await make(theirs)).json["businesses"]).toEqual(["beta"]);
  expect((await make(theirs, ["acme"])).status).toBe(422);
  expect((await make(theirs, ["beta", "acme"])).status).toBe(422);
  expect((await make(await gateway.token("root", ["admin"]))).json["businesses"]).toBeNull();
});

test("two businesses may have playbooks of the same name, and each changes only its own", async () => {
  const root = await gateway.token("root", ["admin"]);
  const text = "kind: pay-run\nbusiness: beta\n";
  const apply = (token: string) =>
    gateway.call("POST", "/v1/playbooks", token, { name: "weekly", text });
  expect((await apply(theirs)).json).toMatchObject({ business: "beta", revision: 1 });
  expect((await apply(ours)).status).toBe(422);
  const unclear = await gateway.call("GET", "/v1/playbooks/weekly", root);
  expect(unclear.status).toBe(422);
  expect(unclear.json["message"]).toContain("acme, beta");
  const chosen = await gateway.call("GET", "/v1/playbooks/weekly?business=beta", root);
  expect(chosen.json).toMatchObject({ business: "beta", items: [{ text }] });
  const own = await gateway.call("GET", "/v1/playbooks/weekly", ours);
  expect(own.json).toMatchObject({ business: "acme", items: [{ text: "kind: pay-run" }] });
  const held = await gateway.call("POST", "/v1/holds", root, {
    ...{ playbook: "weekly", business: "beta", reason: "x" },
  });
  expect(held.json).toMatchObject({ business: "beta" });
});
