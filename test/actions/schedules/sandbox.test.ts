import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import type { ActivityContext } from "../../../activities/shared/context.ts";
import { launchRun } from "../../../activities/runs/launch-run.ts";
import { Clocks } from "../../../src/business/clocks.ts";
import type { BusinessProfile } from "../../../src/config/business-profile.ts";
import { addDays } from "../../../src/domain/clock/dates.ts";
import { listRuns } from "../../../src/store/runs/runs.ts";
import { startSandbox, type TestSandbox } from "../../support/sandbox.ts";
import { profile } from "../../gateway/support/gateway.ts";
import { useSchedules } from "../../gateway/support/schedules.ts";
import { PATIENCE_MS } from "../../support/waits.ts";

const HOUR_MS = 3_600_000;

let sandbox: TestSandbox;
let unreachableUrl: string | undefined;
/** A getter, since the address is known only once the sandbox runs. */
const business: BusinessProfile = {
  ...profile({ sandbox: true }),
  get apiUrl() {
    return unreachableUrl ?? sandbox.url;
  },
};
const scene = useSchedules([business]);

beforeAll(async () => {
  sandbox = await startSandbox();
});
afterAll(() => sandbox.stop());
beforeEach(() => {
  scene.nowMs = Date.now();
});

/** At a time that has passed, whenever the test runs, by both clocks: they differ by whole days. */
const DAILY = '{ every: day, at: "00:00", zone: UTC, catchUp: 2 days }';

/** Returns the run that the list shows first. */
async function first(
  name = "weekly",
): Promise<{ period: string; beginsAt: string; payDate: string }> {
  const next = (await scene.shown(name))?.["next"] as Awaited<ReturnType<typeof first>>[];
  return next[0] as (typeof next)[0];
}

/** Returns the date that the sandbox will show in `inDays` days. */
async function bankDate(inDays = 0): Promise<string> {
  return addDays((await sandbox.control.clock()).bank.slice(0, 10), inDays);
}

/** Steps the sandbox's clock, and waits until the gateway has read it again. */
async function step(days: number, by = "weekly"): Promise<void> {
  await sandbox.control.advance(`P${days}D`);
  const wanted = await bankDate(1);
  await expect.poll(async () => (await first(by)).period).toBe(wanted);
}

async function filled(): Promise<string[]> {
  const items = (await scene.post("weekly/backfill")).json["items"] as { period: string }[];
  return items.map(({ period }) => period);
}

/** Wakes the launcher, as Temporal does. */
async function wake(): Promise<string> {
  const clocks = new Clocks();
  const context = {
    store: scene.on.gateway.store,
    temporal: scene.on.client,
    profileOf: () => business,
    clockOf: () => clocks.of(business),
  } as unknown as ActivityContext;
  const woken = { business: "acme", playbook: "weekly" };
  // Temporal tries the activity again if its server is too busy to describe the schedule in time.
  const launched = async () => (await launchRun(context, woken, Date.now())).text;
  return vi.waitFor(launched, { timeout: PATIENCE_MS, interval: 500 });
}

describe("on a sandbox whose clock is weeks ahead", () => {
  test("missed, listed and launched runs are all named by the dates of the sandbox's clock", async () => {
    await scene.apply(DAILY, "by-hand");
    await step(60, "by-hand");
    await scene.apply(DAILY);
    expect(await filled()).toEqual([]);
    const { period, beginsAt, payDate } = await first();
    // It wakes tomorrow in real time, when the sandbox shows tomorrow too.
    expect(Date.parse(beginsAt) - Date.now()).toBeLessThan(25 * HOUR_MS);
    expect(period).toBe(await bankDate(1));
    // The pay date is counted in New York, where a run at 01:00 UTC begins the evening before.
    expect(payDate >= period).toBe(true);
    expect(payDate <= addDays(period, 5)).toBe(true);

    await step(3);
    const missed = [await bankDate(-1), await bankDate(0)];
    const answer = await scene.post("weekly/backfill", { period: beginsAt.slice(0, 10) });
    expect(answer.json["message"]).toContain("only since ");
    expect(await filled()).toEqual(missed);
    expect(await filled()).toEqual([]);
    // Its playbook is younger than the last time at which it could have begun in real time.
    expect(await wake()).toMatch(/^No run of weekly is due/);
    await scene.on.gateway.store.db.updateTable("playbooks").set({ created_at_ms: 1 }).execute();
    expect(await wake()).toContain(await bankDate(0));
    const runs = await listRuns(scene.on.gateway.store.db, { limit: 10 });
    expect(runs.map((run) => run.period).toSorted()).toEqual(missed);
  });
});

describe("on a sandbox that is down", () => {
  test("a schedule can be shown, paused and resumed while its sandbox is down, without its next runs", async () => {
    const nowhere = await startSandbox();
    const { url } = nowhere;
    // The port of a stopped sandbox may serve another test.
    await nowhere.kill();
    unreachableUrl = url;
    try {
      expect((await scene.apply(DAILY)).status).toBe(200);
      expect(await scene.shown()).toMatchObject({ state: "active", next: [] });
      expect((await scene.post("weekly/pause")).json).toMatchObject({ state: "paused", next: [] });
      expect((await scene.post("weekly/resume")).json).toMatchObject({ state: "active" });
    } finally {
      unreachableUrl = undefined;
    }
  });
});
