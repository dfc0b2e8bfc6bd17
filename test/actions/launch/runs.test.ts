import { describe, expect, test } from "vitest";
import { TASK_QUEUE } from "../../../src/contracts/names.ts";
import { RunStatusBody } from "../../../src/api/runs.ts";
import { getRun, listRuns, setRunPhase } from "../../../src/store/runs/runs.ts";
import { useLaunches } from "../../gateway/support/launches.ts";

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

  test("a launch joins a completed run: a period is never paid twice", async () => {
    const first = await scene.launch({ period: "2026-04-02" });
    const id = String(first.json["id"]);
    await setRunPhase(scene.on.gateway.store.db, id, { phase: "completed", endedAtMs: Date.now() });
    const second = await scene.launch({ period: "2026-04-02" });
    expect(second.status).toBe(200);
    expect(second.json).toMatchObject({ id, phase: "completed" });
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
