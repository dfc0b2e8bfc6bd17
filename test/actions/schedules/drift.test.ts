import type { ScheduleDescription } from "@temporalio/client";
import { describe, expect, test } from "vitest";
import { startTestGateway } from "../../gateway/support/gateway.ts";
import { useSchedules } from "../../gateway/support/schedules.ts";

const scene = useSchedules();

const CHANGES: readonly [string, (before: ScheduleDescription) => object][] = [
  ["time", () => ({ spec: { calendars: [{ hour: 3 }], timezone: "America/New_York" } })],
  ["zone", ({ spec }) => ({ spec: { ...spec, timezone: "Europe/Berlin" } })],
  ["an interval beside it", ({ spec }) => ({ spec: { ...spec, intervals: [{ every: "1h" }] } })],
  ["end", ({ spec }) => ({ spec: { ...spec, endAt: new Date("2027-01-01") } })],
  ["what a late one does", ({ policies }) => ({ policies: { ...policies, overlap: "SKIP" } })],
  ["task queue", ({ action }) => ({ action: { ...action, taskQueue: "elsewhere" } })],
  ["how often it may run", ({ state }) => ({ state: { ...state, remainingActions: 2 } })],
];

describe("a schedule that differs from its playbook", () => {
  test("a schedule that a person deleted is shown as deleted, without runs, and is made again by applying again", async () => {
    await scene.apply("{ every: thursday }");
    expect(
      (await scene.on.gateway.call("DELETE", "/v1/schedules/weekly", scene.admin)).status,
    ).toBe(200);
    expect(await scene.shown()).toMatchObject({ state: "missing", deleted: true, next: [] });
    expect(
      (await scene.on.gateway.call("DELETE", "/v1/schedules/weekly", scene.admin)).status,
    ).toBe(404);
    const again = await scene.apply("{ every: thursday }");
    expect(again.json).toMatchObject({
      changed: false,
      note: expect.stringContaining("runs by itself again"),
    });
    expect((await scene.shown())?.["state"]).toBe("active");
    expect((await scene.apply("{ every: thursday }")).json["note"]).toBeUndefined();
  });

  test("a schedule that was changed in Temporal is shown as differing", async () => {
    await scene.apply("{ every: thursday }");
    await scene.handle().update((before) => ({
      ...before,
      spec: { calendars: [{ hour: 3 }] },
      action: { ...before.action, args: [{ business: "acme", playbook: "weekly" }] },
    }));
    expect((await scene.shown())?.["state"]).toBe("differs");
  });

  test("a change to any part of a schedule is shown as a difference, and applying again undoes it", async () => {
    await scene.apply("{ every: thursday }");
    for (const [what, change] of CHANGES) {
      await scene.handle().update((before) => ({ ...before, ...change(before) }) as typeof before);
      expect([what, (await scene.shown())?.["state"]]).toEqual([what, "differs"]);
      await scene.apply("{ every: thursday }");
      expect([what, (await scene.shown())?.["state"]]).toEqual([what, "active"]);
    }
  });

  test("a schedule that can't be made while Temporal is down is reported, and applying again makes it", async () => {
    const down = await startTestGateway({ folder: scene.on.gateway.folder });
    try {
      const token = await down.token("ann", ["admin"]);
      const body = { name: "weekly", text: "kind: pay-run\nschedule: { every: monday }\n" };
      const refused = await down.call("POST", "/v1/playbooks", token, body);
      expect(refused.status).toBe(503);
      expect(refused.json).toMatchObject({ error: "temporal_unreachable" });
      const plain = { name: "plain", text: "kind: pay-run\n" };
      expect((await down.call("POST", "/v1/playbooks", token, plain)).status).toBe(200);
    } finally {
      await down.stop();
    }
    expect((await scene.shown())?.["state"]).toBe("missing");
    await scene.apply("{ every: monday }");
    expect((await scene.shown())?.["state"]).toBe("active");
  });
});
