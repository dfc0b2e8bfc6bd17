import { describe, expect, test } from "vitest";
import { listRuns, setRunPhase } from "../../../src/store/runs/runs.ts";
import type { Answer } from "../../gateway/support/gateway.ts";
import { useSchedules } from "../../gateway/support/schedules.ts";

const scene = useSchedules();

describe("missed runs", () => {
  const fill = (body: object = {}): Promise<Answer> => scene.post("weekly/backfill", body);

  test("missed runs within the playbook's window are made up once", async () => {
    await scene.apply("{ every: thursday, catchUp: 8 days }");
    scene.nowMs = Date.parse("2026-12-04T17:00:00Z");
    const first = await fill();
    expect(first.json["items"]).toEqual([
      { period: "2026-12-03", id: "pay-run/acme/weekly/2026-12-03", created: true },
    ]);
    expect((await fill()).json["items"]).toEqual([]);
    const runId = "pay-run/acme/weekly/2026-12-03";
    await setRunPhase(scene.on.gateway.store.db, runId, {
      phase: "rejected",
      endedAtMs: scene.nowMs,
    });
    expect((await fill()).json["items"]).toEqual([]);
    // A person who names the period has it planned again, because this run had no bill.
    const again = { period: "2026-12-03", id: `${runId}/r2` };
    expect((await fill({ period: "2026-12-03" })).json["items"]).toMatchObject([
      { ...again, created: true },
    ]);
    expect((await fill({ period: "2026-12-03" })).json["items"]).toMatchObject([
      { ...again, created: false },
    ]);
    expect(await listRuns(scene.on.gateway.store.db, { limit: 10 })).toHaveLength(2);
  });

  test("a repeat under a key whose first answer was lost names the runs that were made up, and makes up no others", async () => {
    await scene.apply("{ every: thursday, catchUp: 15 days }");
    scene.nowMs = Date.parse("2026-12-04T17:00:00Z");
    const { url, store } = scene.on.gateway;
    const send = async (): Promise<unknown> => {
      const headers = { authorization: `Bearer ${scene.admin}`, "idempotency-key": "k-1" };
      const answer = await fetch(`${url}/v1/schedules/weekly/backfill`, {
        method: "POST",
        headers,
      });
      return answer.json();
    };
    const first = await send();
    expect(first).toMatchObject({ items: [{ created: true }, { created: true }] });
    const lost = { status: null, answer: null };
    await store.db.updateTable("keyed_requests").set(lost).execute();
    scene.nowMs = Date.parse("2026-12-10T17:00:00Z");
    expect(await send()).toEqual(first);
    expect(await listRuns(store.db, { limit: 10 })).toHaveLength(2);
  });

  test("a run that was launched early and had no bill doesn't make up a missed one", async () => {
    await scene.apply("{ every: thursday, catchUp: 8 days }");
    scene.nowMs = Date.parse("2026-12-01T17:00:00Z");
    const body = { playbook: "weekly", period: "2026-12-03" };
    const early = await scene.on.gateway.call("POST", "/v1/runs", scene.admin, body);
    const runId = String(early.json["id"]);
    const ended = { phase: "completed", endedAtMs: scene.nowMs } as const;
    await setRunPhase(scene.on.gateway.store.db, runId, ended);
    scene.nowMs = Date.parse("2026-12-04T17:00:00Z");
    expect((await fill()).json["items"]).toMatchObject([{ id: `${runId}/r2`, created: true }]);
    await setRunPhase(scene.on.gateway.store.db, `${runId}/r2`, ended);
    expect((await fill()).json["items"]).toEqual([]);
  });

  test("runs from before a schedule was made, changed or deleted don't count as missed", async () => {
    await scene.apply("{ every: thursday, catchUp: 8 days }");
    scene.nowMs = Date.parse("2026-11-18T18:00:00Z");
    expect((await fill()).json["items"]).toEqual([]);
    const refused = await fill({ period: "2026-11-12" });
    expect(refused.status).toBe(422);
    expect(refused.json["message"]).toContain(
      "runs by this schedule only since Wed, Nov 18, 12:00 PM New York",
    );
    scene.nowMs = Date.parse("2026-11-19T18:00:00Z");
    await scene.apply("{ every: wednesday, catchUp: 9 days }");
    expect((await fill()).json["items"]).toEqual([]);
    await scene.on.gateway.call("DELETE", "/v1/schedules/weekly", scene.admin);
    scene.nowMs = Date.parse("2026-11-25T18:00:00Z");
    await scene.apply("{ every: wednesday, catchUp: 9 days }");
    expect((await fill()).json["items"]).toEqual([]);
    scene.nowMs = Date.parse("2026-12-02T18:00:00Z");
    await scene.apply("{ every: wednesday, catchUp: 12 days }");
    expect((await fill()).json["items"]).toMatchObject([{ period: "2026-12-02" }]);
  });

  test.each([
    ["2026-11-19", "longer ago than catchUp: 1 day allows"],
    ["2026-12-10", "is not missed: it begins on Thu, Dec 10, 10:00 AM New York"],
    ["2026-12-02", "is not a period of weekly; the next one after it is 2026-12-03"],
  ])("making up the run of %s is refused with the reason", async (period, reason) => {
    await scene.apply("{ every: thursday }");
    scene.nowMs = Date.parse("2026-12-03T17:00:00Z");
    const answer = await fill({ period });
    expect(answer.status).toBe(422);
    expect(answer.json["message"]).toContain(reason);
    expect(await listRuns(scene.on.gateway.store.db, { limit: 10 })).toEqual([]);
  });
});
