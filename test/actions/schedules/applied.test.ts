import { describe, expect, test } from "vitest";
import { useSchedules } from "../../gateway/support/schedules.ts";

const scene = useSchedules();

describe("applying a playbook with a schedule", () => {
  test("applying a playbook makes a schedule that allows overlapping runs and bounds the catch-up window", async () => {
    expect((await scene.apply("{ every: thursday }")).status).toBe(200);
    const { spec, policies, action } = await scene.handle().describe();
    expect(spec.timezone).toBe("America/New_York");
    expect(policies.overlap).toBe("ALLOW_ALL");
    expect(policies.catchupWindow).toBe(86_400_000);
    expect(action).toMatchObject({ workflowType: "scheduledPayRun" });
    const days = spec.calendars?.map(({ dayOfWeek, hour, minute }) => ({
      dayOfWeek,
      hour,
      minute,
    }));
    // Wednesdays too: a run on a holiday begins on the business day before.
    expect(JSON.stringify(days)).toMatch(/WEDNESDAY.*THURSDAY/);
  });

  test("a schedule shows its next five runs, moved off bank holidays, with their first pay dates", async () => {
    await scene.apply("{ every: thursday }");
    expect(await scene.shown()).toMatchObject({
      playbook: "weekly",
      business: "acme",
      state: "active",
      next: [
        { period: "2026-11-19", beginsAt: "2026-11-19T15:00:00.000Z", payDate: "2026-11-20" },
        { period: "2026-11-26", beginsAt: "2026-11-25T15:00:00.000Z", payDate: "2026-11-27" },
        { period: "2026-12-03" },
        { period: "2026-12-10" },
        { period: "2026-12-17" },
      ],
    });
  });

  test("a run's first pay date is counted from the date that it then is in New York", async () => {
    // Friday 02:30 in Kolkata is Thursday in New York; 20:00 in Honolulu is already the next day.
    await scene.apply('{ every: friday, at: "02:30", zone: Asia/Kolkata }');
    expect((await scene.shown())?.["next"]).toMatchObject([
      { period: "2026-11-20", beginsAt: "2026-11-19T21:00:00.000Z", payDate: "2026-11-20" },
      { period: "2026-11-27", beginsAt: "2026-11-26T21:00:00.000Z", payDate: "2026-11-27" },
      {},
      {},
      {},
    ]);
    await scene.apply('{ every: tuesday, at: "20:00", zone: Pacific/Honolulu }');
    expect((await scene.shown())?.["next"]).toMatchObject([
      { period: "2026-11-24", beginsAt: "2026-11-25T06:00:00.000Z", payDate: "2026-11-27" },
      {},
      {},
      {},
      {},
    ]);
  });

  test("a second apply changes nothing, a different day changes the schedule, and no schedule deletes it", async () => {
    await scene.apply("{ every: thursday }");
    const first = await scene.handle().describe();
    await scene.apply("{ every: thursday }");
    expect((await scene.handle().describe()).info.createdAt).toEqual(first.info.createdAt);
    await scene.apply("{ every: month, on: last-business-day }");
    expect((await scene.shown())?.["next"]).toMatchObject([
      { period: "2026-11-30" },
      {},
      {},
      {},
      {},
    ]);
    expect(JSON.stringify((await scene.handle().describe()).spec.calendars)).toContain(
      "dayOfMonth",
    );
    await scene.apply("");
    expect(await scene.shown()).toBeUndefined();
    await expect(scene.handle().describe()).rejects.toThrow(/not found/i);
  });
});

test("a caller without the role is refused, and an unknown schedule is named", async () => {
  await scene.apply("{ every: thursday }");
  const viewer = await scene.on.gateway.token("vic", ["viewer"]);
  for (const [method, path] of [
    ["POST", "/v1/schedules/weekly/pause"],
    ["POST", "/v1/schedules/weekly/backfill"],
    ["DELETE", "/v1/schedules/weekly"],
  ] as const) {
    expect((await scene.on.gateway.call(method, path, viewer, {})).status).toBe(403);
  }
  const unknown = await scene.post("monthly/pause", {});
  expect(unknown.status).toBe(404);
  await scene.apply("", "by-hand");
  const none = await scene.post("by-hand/pause", {});
  expect(none.status).toBe(404);
  expect(none.json["message"]).toContain("schedule:");
});
