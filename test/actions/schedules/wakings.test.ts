import type { Client } from "@temporalio/client";
import { expect, test } from "vitest";
import { scheduledPayRunId } from "../../../src/contracts/workflow-kinds.ts";
import { nextFires } from "../../../src/domain/clock/schedule-period.ts";
import { launcherOf } from "../../../src/domain/clock/schedule-triggers.ts";
import { loadPlaybook } from "../../../src/playbooks/load.ts";
import { putSchedule } from "../../../src/temporal/schedules.ts";
import { useSchedules } from "../../gateway/support/schedules.ts";

const scene = useSchedules();

/** Zones whose clocks change by an hour, by half an hour, at midnight, or never. */
const EVERYWHERE = [
  ["America/New_York", "02:15", "every: day"],
  ["America/New_York", "01:30", "every: weekday"],
  ["Europe/Berlin", "02:15", "every: day"],
  ["Europe/Berlin", "23:59", "every: monday"],
  ["Africa/Cairo", "00:00", "every: day"],
  ["Africa/Cairo", "00:30", "every: friday"],
  ["Asia/Kolkata", "00:00", "every: two-weeks, from: 2026-01-08"],
  ["Asia/Tokyo", "02:15", "every: month, on: last-business-day"],
  ["Australia/Lord_Howe", "02:15", "every: day"],
  ["Australia/Lord_Howe", "01:45", "every: month, on: 15, holidays: business-day-after"],
] as const;

type Timestamp = NonNullable<
  Parameters<Client["workflowService"]["listScheduleMatchingTimes"]>[0]["startTime"]
>;

/**
 * Returns the instants of a year at which Temporal wakes the launcher, as the server reports them.
 */
async function wakings(year: number): Promise<Set<number>> {
  const at = (of: number) => ({ seconds: Date.UTC(of, 0, 1) / 1000 }) as unknown as Timestamp;
  const { startTime } = await scene.on.client.workflowService.listScheduleMatchingTimes({
    namespace: scene.on.namespace,
    scheduleId: scheduledPayRunId("acme", "weekly"),
    startTime: at(year),
    endTime: at(year + 1),
  });
  return new Set(startTime.map(({ seconds }) => Number(seconds) * 1000));
}

test("a schedule wakes its launcher for every run of a year, wherever and however clocks change", async () => {
  for (const [zone, at, every] of EVERYWHERE) {
    const text = `kind: pay-run\nschedule: { ${every}, at: "${at}", zone: ${zone} }\n`;
    const loaded = loadPlaybook(text, { file: "weekly.yaml" });
    if (!loaded.ok || loaded.playbook.schedule === null) throw new Error(text);
    const { schedule } = loaded.playbook;
    const of = { playbook: "weekly", business: "acme", schedule };
    await putSchedule(scene.on.client, launcherOf(of, scene.nowMs));
    const woken = await wakings(2028);
    const fires = nextFires(schedule, Date.UTC(2028, 0, 1), 367).filter(
      ({ fireAtMs }) => fireAtMs < Date.UTC(2029, 0, 1),
    );
    expect(fires.length).toBeGreaterThan(10);
    // If a time comes twice, the server may take the second.
    const missed = fires.filter(
      ({ fireAtMs }) => !woken.has(fireAtMs) && !woken.has(fireAtMs + 3_600_000),
    );
    expect({ text, missed }).toEqual({ text, missed: [] });
  }
});
