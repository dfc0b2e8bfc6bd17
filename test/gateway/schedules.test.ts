import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, type ScheduleDescription } from "@temporalio/client";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { scheduledPayRunId } from "../../src/contracts/names.ts";
import { nextFires } from "../../src/domain/clock/schedule-period.ts";
import { launcherOf } from "../../src/domain/clock/schedule-triggers.ts";
import { loadPlaybook } from "../../src/playbooks/load.ts";
import { putSchedule } from "../../src/temporal/schedules.ts";
import { listRuns, setRunPhase } from "../../src/store/runs.ts";
import { lazyConnection } from "../../src/temporal/connection.ts";
import { type DevServer, startDevServer } from "./support/dev-server.ts";
import { startTestGateway, type Answer, type TestGateway } from "./support/gateway.ts";

let folder: string;
let server: DevServer;
let client: Client;
let gateway: TestGateway;
let admin: string;
/** A Wednesday noon in New York; the 26th is Thanksgiving. */
let nowMs = Date.parse("2026-11-18T17:00:00Z");

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "payrun-schedules-"));
  server = await startDevServer(folder);
  client = new Client({ connection: lazyConnection({ address: server.address }) });
});
afterAll(async () => {
  await client.connection.close();
  await server.kill();
  await rm(folder, { recursive: true, force: true });
});
beforeEach(async () => {
  nowMs = Date.parse("2026-11-18T17:00:00Z");
  gateway = await startTestGateway({ temporalAddress: server.address, nowMs: () => nowMs });
  admin = await gateway.token("ada", ["admin"]);
});
afterEach(async () => {
  for await (const { scheduleId } of client.schedule.list()) {
    await client.schedule.getHandle(scheduleId).delete();
  }
  await gateway.stop();
});

function apply(schedule: string, name = "weekly"): Promise<Answer> {
  const text = `kind: pay-run\n${schedule === "" ? "" : `schedule: ${schedule}\n`}`;
  return gateway.call("POST", "/v1/playbooks", admin, { name, text });
}

async function theOnly(name = "weekly"): Promise<Record<string, unknown> | undefined> {
  const answer = await gateway.call("GET", `/v1/schedules?playbook=${name}`, admin);
  expect(answer.status).toBe(200);
  return (answer.json["items"] as Record<string, unknown>[])[0];
}

function describeIt(
  name = "weekly",
): ReturnType<ReturnType<Client["schedule"]["getHandle"]>["describe"]> {
  return client.schedule.getHandle(scheduledPayRunId(name)).describe();
}

/** Clocks are set by an hour, half an hour, at midnight, or never. */
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

/** Real instants at which Temporal wakes the launcher in a year, as the server itself says. */
async function wakings(year: number): Promise<Set<number>> {
  const at = (of: number) => ({ seconds: Date.UTC(of, 0, 1) / 1000 }) as unknown as Timestamp;
  const { startTime } = await client.workflowService.listScheduleMatchingTimes({
    namespace: "default",
    scheduleId: scheduledPayRunId("weekly"),
    startTime: at(year),
    endTime: at(year + 1),
  });
  return new Set(startTime.map(({ seconds }) => Number(seconds) * 1000));
}

describe("applying a playbook with a schedule", () => {
  test("makes a schedule that lets nothing block the next run, and forgets no year of misses", async () => {
    expect((await apply("{ every: thursday }")).status).toBe(200);
    const { spec, policies, action } = await describeIt();
    expect(spec.timezone).toBe("America/New_York");
    expect(policies.overlap).toBe("ALLOW_ALL");
    expect(policies.catchupWindow).toBe(86_400_000);
    expect(action).toMatchObject({ workflowType: "scheduledPayRun" });
    const days = spec.calendars?.map(({ dayOfWeek, hour, minute }) => ({
      dayOfWeek,
      hour,
      minute,
    }));
    // Wednesday as well: a holiday's run begins on the business day before.
    expect(JSON.stringify(days)).toMatch(/WEDNESDAY.*THURSDAY/);
  });

  test("shows the next five runs, moved off bank holidays, with their first pay dates", async () => {
    await apply("{ every: thursday }");
    expect(await theOnly()).toMatchObject({
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

  test("shows the first day on which each can pay, counted from the day that it is in New York", async () => {
    // Friday 02:30 in Kolkata is Thursday in New York; 20:00 in Honolulu is the next day already.
    await apply('{ every: friday, at: "02:30", zone: Asia/Kolkata }');
    expect((await theOnly())?.["next"]).toMatchObject([
      { period: "2026-11-20", beginsAt: "2026-11-19T21:00:00.000Z", payDate: "2026-11-20" },
      { period: "2026-11-27", beginsAt: "2026-11-26T21:00:00.000Z", payDate: "2026-11-27" },
      {},
      {},
      {},
    ]);
    await apply('{ every: tuesday, at: "20:00", zone: Pacific/Honolulu }');
    expect((await theOnly())?.["next"]).toMatchObject([
      { period: "2026-11-24", beginsAt: "2026-11-25T06:00:00.000Z", payDate: "2026-11-27" },
      {},
      {},
      {},
      {},
    ]);
  });

  test("wakes its launcher for every run of a year, wherever and however clocks are set", async () => {
    for (const [zone, at, every] of EVERYWHERE) {
      const text = `kind: pay-run\nschedule: { ${every}, at: "${at}", zone: ${zone} }\n`;
      const loaded = loadPlaybook(text, { file: "weekly.yaml" });
      if (!loaded.ok || loaded.playbook.schedule === null) throw new Error(text);
      const { schedule } = loaded.playbook;
      const of = { playbook: "weekly", business: "acme", schedule };
      await putSchedule(client, launcherOf(of, nowMs));
      const woken = await wakings(2028);
      const fires = nextFires(schedule, Date.UTC(2028, 0, 1), 367).filter(
        ({ fireAtMs }) => fireAtMs < Date.UTC(2029, 0, 1),
      );
      expect(fires.length).toBeGreaterThan(10);
      // Of a time that comes twice the server may take the second.
      const missed = fires.filter(
        ({ fireAtMs }) => !woken.has(fireAtMs) && !woken.has(fireAtMs + 3_600_000),
      );
      expect({ text, missed }).toEqual({ text, missed: [] });
    }
  });

  test("again changes nothing, with another day changes it, without one deletes it", async () => {
    await apply("{ every: thursday }");
    const first = await describeIt();
    await apply("{ every: thursday }");
    expect((await describeIt()).info.createdAt).toEqual(first.info.createdAt);
    await apply("{ every: month, on: last-business-day }");
    expect((await theOnly())?.["next"]).toMatchObject([{ period: "2026-11-30" }, {}, {}, {}, {}]);
    expect(JSON.stringify((await describeIt()).spec.calendars)).toContain("dayOfMonth");
    await apply("");
    expect(await theOnly()).toBeUndefined();
    await expect(describeIt()).rejects.toThrow(/not found/i);
  });

  test("keeps a pause", async () => {
    await apply("{ every: thursday }");
    const body = { note: "books are being closed" };
    const paused = await gateway.call("POST", "/v1/schedules/weekly/pause", admin, body);
    expect(paused.json).toMatchObject({ state: "paused", note: "ada: books are being closed" });
    await apply("{ every: friday }");
    expect((await theOnly())?.["state"]).toBe("paused");
    const resumed = await gateway.call("POST", "/v1/schedules/weekly/resume", admin, {});
    expect(resumed.json).toMatchObject({ state: "active" });
  });
});

const CHANGES: readonly [string, (before: ScheduleDescription) => object][] = [
  ["time", () => ({ spec: { calendars: [{ hour: 3 }], timezone: "America/New_York" } })],
  ["zone", ({ spec }) => ({ spec: { ...spec, timezone: "Europe/Berlin" } })],
  ["an interval beside it", ({ spec }) => ({ spec: { ...spec, intervals: [{ every: "1h" }] } })],
  ["end", ({ spec }) => ({ spec: { ...spec, endAt: new Date("2027-01-01") } })],
  ["what a late one does", ({ policies }) => ({ policies: { ...policies, overlap: "SKIP" } })],
  ["task queue", ({ action }) => ({ action: { ...action, taskQueue: "elsewhere" } })],
  ["how often it may run", ({ state }) => ({ state: { ...state, remainingActions: 2 } })],
];

describe("a schedule that is not as its playbook says", () => {
  test("shows as missing where somebody deleted it, and is put right by applying again", async () => {
    await apply("{ every: thursday }");
    expect((await gateway.call("DELETE", "/v1/schedules/weekly", admin)).status).toBe(200);
    expect((await theOnly())?.["state"]).toBe("missing");
    expect((await gateway.call("DELETE", "/v1/schedules/weekly", admin)).status).toBe(404);
    await apply("{ every: thursday }");
    expect((await theOnly())?.["state"]).toBe("active");
  });

  test("shows as differing where somebody changed it in Temporal", async () => {
    await apply("{ every: thursday }");
    await client.schedule.getHandle(scheduledPayRunId("weekly")).update((before) => ({
      ...before,
      spec: { calendars: [{ hour: 3 }] },
      action: { ...before.action, args: [{ business: "acme", playbook: "weekly" }] },
    }));
    expect((await theOnly())?.["state"]).toBe("differs");
  });

  test("shows as differing whatever of it was changed, and is put right by applying again", async () => {
    await apply("{ every: thursday }");
    for (const [what, change] of CHANGES) {
      await client.schedule
        .getHandle(scheduledPayRunId("weekly"))
        .update((before) => ({ ...before, ...change(before) }) as typeof before);
      expect([what, (await theOnly())?.["state"]]).toEqual([what, "differs"]);
      await apply("{ every: thursday }");
      expect([what, (await theOnly())?.["state"]]).toEqual([what, "active"]);
    }
  });

  test("is not made while Temporal is down, which is said, and applying again completes it", async () => {
    const down = await startTestGateway({ folder: gateway.folder });
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
    expect((await theOnly())?.["state"]).toBe("missing");
    await apply("{ every: monday }");
    expect((await theOnly())?.["state"]).toBe("active");
  });
});

describe("missed runs", () => {
  const fill = (body: object = {}): Promise<Answer> =>
    gateway.call("POST", "/v1/schedules/weekly/backfill", admin, body);

  test("are made up once, those within the playbook's window only", async () => {
    await apply("{ every: thursday, catchUp: 8 days }");
    nowMs = Date.parse("2026-12-04T17:00:00Z");
    const first = await fill();
    expect(first.json["items"]).toEqual([
      { period: "2026-12-03", id: "pay-run/acme/weekly/2026-12-03", created: true },
    ]);
    expect((await fill()).json["items"]).toEqual([]);
    const runId = "pay-run/acme/weekly/2026-12-03";
    await setRunPhase(gateway.store.db, runId, { phase: "rejected", endedAtMs: nowMs });
    expect((await fill()).json["items"]).toEqual([]);
    expect((await fill({ period: "2026-12-03" })).json["items"]).toMatchObject([
      { id: runId, created: false },
    ]);
    expect(await listRuns(gateway.store.db, { limit: 10 })).toHaveLength(1);
  });

  test("are none from before there was a schedule, it was another one, or it was deleted", async () => {
    await apply("{ every: thursday, catchUp: 8 days }");
    nowMs = Date.parse("2026-11-18T18:00:00Z");
    expect((await fill()).json["items"]).toEqual([]);
    const refused = await fill({ period: "2026-11-12" });
    expect(refused.status).toBe(422);
    expect(refused.json["message"]).toContain("runs by this schedule only since 2026-11-18T17:00");
    nowMs = Date.parse("2026-11-19T18:00:00Z");
    await apply("{ every: wednesday, catchUp: 9 days }");
    expect((await fill()).json["items"]).toEqual([]);
    await gateway.call("DELETE", "/v1/schedules/weekly", admin);
    nowMs = Date.parse("2026-11-25T18:00:00Z");
    await apply("{ every: wednesday, catchUp: 9 days }");
    expect((await fill()).json["items"]).toEqual([]);
    nowMs = Date.parse("2026-12-02T18:00:00Z");
    await apply("{ every: wednesday, catchUp: 12 days }");
    expect((await fill()).json["items"]).toMatchObject([{ period: "2026-12-02" }]);
  });

  test.each([
    ["2026-11-19", "longer ago than catchUp"],
    ["2026-12-10", "is not missed"],
    ["2026-12-02", "is no period of weekly; the next one after it is 2026-12-03"],
  ])("of %s are refused with the reason", async (period, reason) => {
    await apply("{ every: thursday }");
    nowMs = Date.parse("2026-12-03T17:00:00Z");
    const answer = await fill({ period });
    expect(answer.status).toBe(422);
    expect(answer.json["message"]).toContain(reason);
    expect(await listRuns(gateway.store.db, { limit: 10 })).toEqual([]);
  });
});

test("who may not is refused, and what isn't there is named", async () => {
  await apply("{ every: thursday }");
  const viewer = await gateway.token("vic", ["viewer"]);
  for (const [method, path] of [
    ["POST", "/v1/schedules/weekly/pause"],
    ["POST", "/v1/schedules/weekly/backfill"],
    ["DELETE", "/v1/schedules/weekly"],
  ] as const) {
    expect((await gateway.call(method, path, viewer, {})).status).toBe(403);
  }
  const unknown = await gateway.call("POST", "/v1/schedules/monthly/pause", admin, {});
  expect(unknown.status).toBe(404);
  await apply("", "by-hand");
  const none = await gateway.call("POST", "/v1/schedules/by-hand/pause", admin, {});
  expect(none.status).toBe(404);
  expect(none.json["message"]).toContain("schedule:");
});
