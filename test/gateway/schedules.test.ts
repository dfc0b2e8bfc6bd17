import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "@temporalio/client";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { scheduledPayRunId } from "../../src/contracts/names.ts";
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
