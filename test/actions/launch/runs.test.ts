import { describe, expect, test } from "vitest";
import { TASK_QUEUE } from "../../../src/contracts/names.ts";
import { RunStatusBody } from "../../../src/api/runs.ts";
import { getRun, listRuns, setRunPhase } from "../../../src/store/runs/runs.ts";
import { useLaunches } from "../../gateway/support/launches.ts";
import { planLine, seedRun } from "../../gateway/support/rows.ts";
import { typed } from "../../gateway/support/typed.ts";

const scene = useLaunches();

describe("a launch", () => {
  test("a launch creates the run and starts its workflow, with a description for people", async () => {
    const answer = await scene.launch({ period: "2026-02-05", inputs: { note: "first" } });
    expect(answer.status).toBe(201);
    const status = RunStatusBody.parse(answer.json);
    expect(status).toMatchObject({
      id: "pay-run/acme/weekly/2026-02-05",
      phase: "planning",
      launchedBy: "lou",
      payments: [],
    });
    const described = await scene.on.client.workflow.getHandle(status.id).describe();
    expect(described).toMatchObject({ type: "payRun", taskQueue: TASK_QUEUE });
    expect(described.status.name).toBe("RUNNING");
    expect(described.searchAttributes).toMatchObject({
      PayrunBusiness: ["acme"],
      PayrunPlaybook: ["weekly"],
      PayrunPeriod: ["2026-02-05"],
      PayrunPhase: ["planning"],
    });
    expect(await described.staticSummary()).toBe("weekly for acme, 2026-02-05");
    expect(await described.staticDetails()).toContain("lou");
    expect((await getRun(scene.on.gateway.store.db, status.id))?.inputs).toEqual({ note: "first" });
  });

  test("launches of the same period join one run, however many come at once", async () => {
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => scene.launch({ period: "2026-02-12" })),
    );
    expect(answers.filter((answer) => answer.status === 201)).toHaveLength(1);
    expect(answers.filter((answer) => answer.status === 200)).toHaveLength(4);
    expect(new Set(answers.map((answer) => answer.json["id"])).size).toBe(1);
    const runs = await listRuns(scene.on.gateway.store.db, { limit: 10 });
    expect(runs).toHaveLength(1);
  });

  test("a launch starts the workflow again if it has ended before its run", async () => {
    const first = await scene.launch({ period: "2026-02-19" });
    const id = String(first.json["id"]);
    await scene.on.client.workflow.getHandle(id).terminate("lost");
    const second = await scene.launch({ period: "2026-02-19" });
    expect(second.status).toBe(200);
    const described = await scene.on.client.workflow.getHandle(id).describe();
    expect(described.status.name).toBe("RUNNING");
  });

  test.each(["rejected", "expired", "cancelled", "failed"] as const)(
    "a launch after a run that ended as %s makes the next revision",
    async (phase) => {
      const period = `2026-03-${10 + phase.length}`;
      const first = await scene.launch({ period });
      const endedAtMs = Date.now();
      await setRunPhase(scene.on.gateway.store.db, String(first.json["id"]), { phase, endedAtMs });
      const second = await scene.launch({ period });
      expect(second.status).toBe(201);
      expect(second.json["id"]).toBe(`pay-run/acme/weekly/${period}/r2`);
    },
  );

  test("a launch joins a completed run with a bill: a period is never paid twice", async () => {
    const { store } = scene.on.gateway;
    const { runId: id } = await seedRun(store, {
      period: "2026-04-02",
      lines: [planLine("p1")],
    });
    await setRunPhase(store.db, id, { phase: "completed", endedAtMs: Date.now() });
    const admin = await scene.on.gateway.token("ada", ["admin"]);
    const text = "kind: pay-run\nselect: { due: all }\nlate: ask\n";
    await scene.on.gateway.call("POST", "/v1/playbooks", admin, { name: "weekly", text });
    const second = await scene.launch({ period: "2026-04-02" });
    expect(second.status).toBe(200);
    expect(second.json).toMatchObject({ id, phase: "completed" });
    expect(second.json).not.toHaveProperty("nothingToPay");
  });

  test("a run that ended without a bill says so, and a launch plans its period again", async () => {
    const { gateway } = scene.on;
    const first = await scene.launch({ period: "2026-04-09" });
    const id = String(first.json["id"]);
    const phase = { phase: "completed", endedAtMs: Date.now() } as const;
    await setRunPhase(gateway.store.db, id, phase);
    const path = `/v1/runs/${encodeURIComponent(id)}`;
    const status = await gateway.call("GET", path, scene.launcher);
    expect(RunStatusBody.parse(status.json)).toMatchObject({ nothingToPay: true });
    const second = await scene.launch({ period: "2026-04-09" });
    expect([second.status, second.json["id"]]).toEqual([201, `${id}/r2`]);
  });

  test("a launch joins a run that was launched with the same inputs, and is refused with others", async () => {
    const period = "2026-04-16";
    const inputs = { note: "first", week: "16" };
    const first = await scene.launch({ period, inputs });
    expect(first.json).toMatchObject({ inputs });
    const joined = [
      await scene.launch({ period, inputs: { week: "16", note: "first" } }),
      await scene.launch({ period }),
    ];
    expect(joined.map(({ status, json }) => [status, json["inputs"]])).toEqual([
      [200, inputs],
      [200, inputs],
    ]);
    const refused = [
      await scene.launch({ period, inputs: { ...inputs, note: "second" } }),
      await scene.launch({ period, inputs: {} }),
    ];
    for (const { status, json } of refused) {
      expect([status, json]).toMatchObject([409, { error: "other_inputs", details: { inputs } }]);
    }
  });

  test("a date that the playbook's schedule doesn't have is refused unless it is asked for", async () => {
    const { gateway } = scene.on;
    const admin = await gateway.token("ada", ["admin"]);
    const text = [
      "kind: pay-run",
      "schedule: { every: week, on: thursday, at: 08:00 }",
      "select: { due: all }",
      "",
    ].join("\n");
    const stored = { name: "thursdays", text };
    expect((await gateway.call("POST", "/v1/playbooks", admin, stored)).status).toBe(200);
    const launchOn = (period: string, changes: object = {}) =>
      scene.launch({ playbook: "thursdays", period, ...changes });
    const saturday = await launchOn("2027-12-04");
    expect([saturday.status, saturday.json]).toMatchObject([
      422,
      {
        error: "not_a_period",
        message: expect.stringContaining("--force"),
        details: { period: "2027-12-04", next: "2027-12-09" },
      },
    ]);
    // On Thanksgiving no bank works, and the run begins the day before.
    const moved = await launchOn("2027-11-24");
    expect(moved.json["details"]).toMatchObject({ next: "2027-11-25" });
    for (const date of ["1900-01-01", "2999-12-31"]) {
      const { status, json } = await launchOn(date);
      expect([date, status, json["error"]]).toEqual([date, 422, "not_a_period"]);
    }
    for (const date of ["0001-01-01", "9999-12-31"]) {
      expect((await launchOn(date)).status, date).toBe(400);
    }
    expect((await launchOn("2027-11-25")).status).toBe(201);
    const forced = await launchOn("2027-12-04", { force: true });
    expect(forced.status).toBe(201);
    // Joined as any other run: who launched it has said that the date is meant.
    const joined = await launchOn("2027-12-04");
    expect([joined.status, joined.json["id"]]).toEqual([200, forced.json["id"]]);
    const onCommandLine = (...args: readonly string[]) =>
      typed(gateway, scene.launcher, ["launch", "thursdays", "--period", "2027-12-11", ...args]);
    expect(await onCommandLine()).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("--force"),
    });
    expect((await onCommandLine("--force", "--json")).json()).toMatchObject({
      id: "pay-run/acme/thursdays/2027-12-11",
    });
    expect((await scene.launch({ period: "2027-12-04" })).status).toBe(201);
  });

  test("a launch without a period takes today's date in New York", async () => {
    const today = (): string =>
      new Intl.DateTimeFormat("en-CA", { timeZone: "America/New_York" }).format();
    const before = today();
    const answer = await scene.launch({});
    expect([before, today()]).toContain(answer.json["period"]);
  });

  test("a launch of an unknown playbook returns 404 and leaves nothing behind", async () => {
    const answer = await scene.launch({ playbook: "monthly" });
    expect(answer.status).toBe(404);
    expect(answer.json["message"]).toContain("payrun apply");
    expect(await listRuns(scene.on.gateway.store.db, { limit: 10 })).toEqual([]);
  });
});
