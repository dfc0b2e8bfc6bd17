import { describe, expect } from "vitest";
import { AppliedPlaybookBody, PlaybookListBody } from "../../src/api/schemas.ts";
import { RunListBody, RunStatusBody } from "../../src/api/runs.ts";
import { ReportBody } from "../../src/api/report.ts";
import { listAudit } from "../../src/store/audit/audit.ts";
import { upsertRetry, updateRetry } from "../../src/store/retries/retries.ts";
import { getRun, setRunPhase } from "../../src/store/runs/runs.ts";
import { gatewayTest } from "./support/gateway-test.ts";
import type { TestGateway } from "./support/gateway.ts";
import { planLine, seedRun, setLine } from "./support/rows.ts";

const test = gatewayTest().extend("viewer", ({ gateway }) => gateway.token("vic", ["viewer"]));

function runPath(runId: string, rest = ""): string {
  return `/v1/runs/${encodeURIComponent(runId)}${rest}`;
}

describe("a run's status", () => {
  test("a run's status comes from the store while Temporal is down, with every line and count", async ({
    gateway,
    viewer,
  }) => {
    const { runId, planHash } = await seedRun(gateway.store, {
      lines: [planLine("p1"), planLine("p2", { amountCents: 5_000 })],
    });
    await setLine(gateway.store, runId, "p2", {
      state: "scheduled",
      paymentIds: ["pmt_1", "pmt_2"],
    });
    const answer = await gateway.call("GET", runPath(runId), viewer);
    expect(answer.status).toBe(200);
    const status = RunStatusBody.parse(answer.json);
    expect(status).toMatchObject({
      id: runId,
      kind: "pay-run",
      business: "acme",
      playbook: "weekly",
      phase: "awaiting-approval",
      counts: { "awaiting-approval": 1, scheduled: 1, skipped: 1 },
      totalCents: 15_000,
      planHash,
    });
    expect(status.payments[1]).toMatchObject({
      payableId: "p2",
      contactName: "Vendor of p2",
      amountCents: 5_000,
      state: "scheduled",
      paymentIds: ["pmt_1", "pmt_2"],
    });
  });

  test("the status route also serves the workflow of a failed payment", async ({
    gateway,
    viewer,
  }) => {
    const { runId } = await seedRun(gateway.store, { lines: [planLine("p1")] });
    await setLine(gateway.store, runId, "p1", { state: "retrying", paymentIds: ["pmt_1"] });
    const workflowId = "retry-failed-payment/acme/p1";
    const key = { businessId: "biz_acme", payableId: "p1" };
    const nowMs = Date.now();
    await upsertRetry(gateway.store.db, { ...key, business: "acme", workflowId, runId, nowMs });
    const change = { phase: "waiting", reason: "R01: insufficient funds", retryOn: "2026-11-30" };
    await updateRetry(gateway.store.db, key, change, nowMs);
    const answer = await gateway.call("GET", runPath(workflowId), viewer);
    expect(answer.status).toBe(200);
    expect(RunStatusBody.parse(answer.json)).toMatchObject({
      id: workflowId,
      kind: "retry-failed-payment",
      phase: "settling",
      waitingFor: "R01: insufficient funds (next try on 2026-11-30)",
      counts: { retrying: 1 },
      payments: [{ payableId: "p1", paymentIds: ["pmt_1"] }],
    });
    const table = await gateway.call("GET", runPath(workflowId, "/report?format=bank-csv"), viewer);
    expect([table.status, table.json["error"]]).toEqual([422, "no_bank_table"]);
  });

  test.for(["pay-run/acme/weekly/1999-01-01", "retry-failed-payment/acme/none", "x"])(
    "the status of an unknown run, %s, is 404",
    async (runId, { gateway, viewer }) => {
      const answer = await gateway.call("GET", runPath(runId), viewer);
      expect(answer.status).toBe(404);
      expect(answer.json["message"]).toContain(runId);
    },
  );
});

describe("the list of runs", () => {
  test("the list of runs can be filtered by phase and by what needs a person", async ({
    gateway,
    viewer,
  }) => {
    const waiting = await seedRun(gateway.store, { period: "2026-11-06", lines: [planLine("a")] });
    const done = await seedRun(gateway.store, { period: "2026-11-13", lines: [planLine("b")] });
    await setLine(gateway.store, done.runId, "b", { state: "settled" });
    await setRunPhase(gateway.store.db, done.runId, { phase: "completed", endedAtMs: Date.now() });
    const ids = async (query: string): Promise<string[]> => {
      const answer = await gateway.call("GET", `/v1/runs${query}`, viewer);
      expect(answer.status).toBe(200);
      return RunListBody.parse(answer.json).items.map((item) => item.id);
    };
    expect((await ids("")).toSorted()).toEqual([waiting.runId, done.runId]);
    expect(await ids("?phase=completed")).toEqual([done.runId]);
    expect(await ids("?needsAction=true")).toEqual([waiting.runId]);
    expect(await ids("?needsAction=false")).toEqual([done.runId]);
    for (const query of ["?needsAction=maybe", "?pageSize=0", "?pageSize=1000", "?page=0"]) {
      expect((await gateway.call("GET", `/v1/runs${query}`, viewer)).status).toBe(400);
    }
  });

  test("the list of runs comes in pages, each of which names the next", async ({
    gateway,
    viewer,
  }) => {
    for (const day of ["06", "13", "20"]) {
      await seedRun(gateway.store, { period: `2026-11-${day}`, lines: [planLine(`p${day}`)] });
    }
    const page = async (query: string) => {
      const { items, ...rest } = RunListBody.parse(
        (await gateway.call("GET", `/v1/runs${query}`, viewer)).json,
      );
      return { ...rest, ids: items.map(({ id }) => id) };
    };
    const whole = await page("");
    expect(whole).toMatchObject({ totalCount: 3, page: 1, pageSize: 50, nextPage: null });
    const first = await page("?pageSize=2");
    expect(first).toMatchObject({ totalCount: 3, page: 1, pageSize: 2, nextPage: 2 });
    const second = await page("?pageSize=2&page=2");
    expect(second).toMatchObject({ totalCount: 3, page: 2, nextPage: null });
    expect([...first.ids, ...second.ids]).toEqual(whole.ids);
    expect(await page("?page=9")).toMatchObject({ ids: [], totalCount: 3, nextPage: null });
  });

  test("the list of runs is filtered by the day of the launch in New York, the last included", async ({
    gateway,
    viewer,
  }) => {
    const { runId } = await seedRun(gateway.store, { lines: [planLine("p1")] });
    const launchedAtMs = Date.parse("2026-11-21T04:59:59.999Z");
    await gateway.store.db.updateTable("runs").set({ launched_at_ms: launchedAtMs }).execute();
    const ids = async (query: string) =>
      RunListBody.parse((await gateway.call("GET", `/v1/runs${query}`, viewer)).json).items.map(
        ({ id }) => id,
      );
    expect(await ids("?from=2026-11-20&to=2026-11-20")).toEqual([runId]);
    expect(await ids("?from=2026-11-21")).toEqual([]);
    expect(await ids("?to=2026-11-19")).toEqual([]);
    const back = await gateway.call("GET", "/v1/runs?from=2026-11-21&to=2026-11-20", viewer);
    expect([back.status, back.json["error"]]).toEqual([422, "bad_period"]);
  });

  test.for([
    ["?kind=payrun", "must be one of pay-run, kyb-onboarding, cancel-scheduled, hold"],
    ["?phase=done", "must be one of planning, awaiting-approval"],
    ["?limit=10", "is not known here"],
  ])(
    "the list of runs refuses %s, and names what it knows",
    async ([query, known], { gateway, viewer }) => {
      const { status, json } = await gateway.call("GET", `/v1/runs${query}`, viewer);
      expect([status, json["message"]]).toEqual([400, expect.stringContaining(known ?? "")]);
    },
  );
});

describe("cancelling a run", () => {
  test("the cancellation of a run is stored once, with the person who asked", async ({
    gateway,
  }) => {
    const operator = await gateway.token("oli", ["operator"]);
    const { runId } = await seedRun(gateway.store, { lines: [planLine("p1")] });
    const body = { reason: "wrong month" };
    const first = await gateway.call("POST", runPath(runId, "/cancel"), operator, body);
    expect(first.status).toBe(200);
    const again = await gateway.call("POST", runPath(runId, "/cancel"), operator);
    expect(again.status).toBe(200);
    const run = await getRun(gateway.store.db, runId);
    expect(run?.cancelRequestedBy).toBe("oli");
    const actions = ["run.cancel-requested"];
    const of = { businessId: "biz_acme", subject: runId, actions };
    const trail = await listAudit(gateway.store.db, of);
    expect(trail.map(({ details }) => details)).toEqual([{ reason: "wrong month" }]);
  });

  test("cancelling a run that has ended is refused", async ({ gateway }) => {
    const operator = await gateway.token("oli", ["operator"]);
    const { runId } = await seedRun(gateway.store, { lines: [planLine("p1")] });
    await setRunPhase(gateway.store.db, runId, { phase: "completed", endedAtMs: Date.now() });
    const answer = await gateway.call("POST", runPath(runId, "/cancel"), operator);
    expect(answer.status).toBe(409);
    expect(answer.json["message"]).toContain("completed");
  });
});

describe("a run's report", () => {
  async function seeded(gateway: TestGateway): Promise<string> {
    const { runId } = await seedRun(gateway.store, {
      lines: [
        planLine("p1", { amountCents: 12_345 }),
        planLine("p2", { contactName: '=HYPERLINK("http://evil")' }),
        planLine("p3", { contactName: 'Quote, "Comma" & Sons\nLine' }),
      ],
    });
    await setLine(gateway.store, runId, "p1", { state: "settled", paymentIds: ["pmt_1"] });
    const reason = "@account closed: ask for new bank details";
    await setLine(gateway.store, runId, "p2", { state: "parked", reasonCode: "R02", reason });
    return runId;
  }

  test("a run's report puts every bill in one state and names each exception with its reason", async ({
    gateway,
    viewer,
  }) => {
    const answer = await gateway.call("GET", runPath(await seeded(gateway), "/report"), viewer);
    const report = ReportBody.parse(answer.json);
    expect(report).toMatchObject({
      bills: 3,
      totalCents: 32_345,
      settledBills: 1,
      settledCents: 12_345,
      byState: {
        settled: { count: 1, cents: 12_345 },
        parked: { count: 1, cents: 10_000 },
        "awaiting-approval": { count: 1, cents: 10_000 },
      },
      exceptions: [{ payableId: "p2", state: "parked", reasonCode: "R02" }],
      skipped: { count: 1, byCode: { not_due: 1 } },
    });
    const states = Object.values(report.byState).map((sum) => sum?.count ?? 0);
    expect(states.reduce((sum, count) => sum + count, 0)).toBe(report.bills);
  });

  test("a run's report as CSV quotes where needed and never lets a text act as a formula", async ({
    gateway,
    viewer,
  }) => {
    const answer = await gateway.call(
      "GET",
      runPath(await seeded(gateway), "/report?format=csv"),
      viewer,
    );
    expect(answer.status).toBe(200);
    expect(answer.headers.get("content-type")).toBe("text/csv; charset=utf-8");
    const lines = answer.text.split("\r\n");
    expect(lines[0]).toMatch(/^payable_id,public_id,vendor,amount_usd,state,/);
    expect(lines[1]).toContain("p1,BILL-p1,Vendor of p1,123.45,settled");
    expect(answer.text).toContain('"\'=HYPERLINK(""http://evil"")"');
    expect(answer.text).toContain("'@account closed");
    expect(answer.text).toContain('"Quote, ""Comma"" & Sons\nLine"');
    expect(answer.text).not.toMatch(/(^|,|\n)"?[=+@]/);
  });
});

describe("playbooks", () => {
  const text = "kind: pay-run\nselect: { due: all }\n";

  test("playbooks are stored in revisions, and applying the same text again adds none", async ({
    gateway,
    viewer,
  }) => {
    const admin = await gateway.token("ada", ["admin"]);
    const apply = async (body: object) => gateway.call("POST", "/v1/playbooks", admin, body);
    const first = await apply({ name: "weekly", text });
    expect(first.status).toBe(200);
    expect(AppliedPlaybookBody.parse(first.json)).toEqual({
      name: "weekly",
      business: "acme",
      revision: 1,
      changed: true,
    });
    expect((await apply({ name: "weekly", text })).json).toMatchObject({
      revision: 1,
      changed: false,
    });
    const changed = await apply({ name: "weekly", text: `${text}late: next-business-day\n` });
    expect(changed.json).toMatchObject({ revision: 2, changed: true });
    const list = await gateway.call("GET", "/v1/playbooks", viewer);
    expect(PlaybookListBody.parse(list.json).items).toMatchObject([
      { name: "weekly", revision: 2, author: "ada", kind: "pay-run" },
    ]);
    const trail = await listAudit(gateway.store.db, { businessId: "biz_acme", subject: "weekly" });
    expect(trail.map((entry) => entry.action)).toEqual(["playbook.applied", "playbook.applied"]);
  });

  test("a playbook with mistakes is refused with every mistake at its line and column", async ({
    gateway,
    viewer,
  }) => {
    const admin = await gateway.token("ada", ["admin"]);
    const answer = await gateway.call("POST", "/v1/playbooks", admin, {
      name: "weekly",
      text: "kind: pay-run\nselekt: { due: all }\nlimits: { bill: 50000 }\n",
    });
    expect(answer.status).toBe(422);
    expect(answer.json["error"]).toBe("invalid_playbook");
    expect(answer.json["message"]).toMatch(/weekly\.yaml:2:1/);
    expect(answer.json["message"]).toMatch(/weekly\.yaml:3:\d+/);
    expect((await gateway.call("GET", "/v1/playbooks", viewer)).json["items"]).toEqual([]);
  });

  test.for(["/v1/playbooks", "/v1/plans"])(
    "a playbook with a condition that may take too long is refused at its position by %s",
    async (path, { gateway }) => {
      const admin = await gateway.token("ada", ["admin"]);
      let where = "true";
      for (let level = 0; level < 14; level += 1) where = `[1, 2, 3, 4].all(x, ${where})`;
      const weekly = { text: `kind: pay-run\nwhere: "${where}"\n` };
      const named = path === "/v1/plans" ? { playbook: "weekly" } : { name: "weekly" };
      const answer = await gateway.call("POST", path, admin, { ...weekly, ...named });
      expect(answer.status).toBe(422);
      expect(answer.json["message"]).toMatch(/weekly\.yaml:2:\d+ {2}this may take too long/);
    },
  );

  test("a playbook for a business that is not configured is refused", async ({ gateway }) => {
    const admin = await gateway.token("ada", ["admin"]);
    const answer = await gateway.call("POST", "/v1/playbooks", admin, {
      name: "weekly",
      text: `${text}business: initech\n`,
    });
    expect(answer.status).toBe(422);
    expect(answer.json["message"]).toContain("initech");
  });
});
