import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Client, ScheduleNotFoundError } from "@temporalio/client";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { ActivityContext } from "../../../activities/shared/context.ts";
import { launchScheduled } from "../../../activities/runs/launch-scheduled.ts";
import { Clocks } from "../../../src/business/clock.ts";
import type { BusinessProfile } from "../../../src/config/business-profile.ts";
import type { PlaybookSchedule } from "../../../src/contracts/playbook.ts";
import { fireOf, nextFires } from "../../../src/domain/clock/schedule-period.ts";
import { appendAudit } from "../../../src/store/audit/audit.ts";
import { openStore, type Store } from "../../../src/store/index.ts";
import { storePlaybook } from "../../support/stored-playbook.ts";
import { getPlaybook } from "../../../src/store/playbooks/playbooks.ts";
import { getRun, recordLaunch, setRunPhase } from "../../../src/store/runs/runs.ts";
import { Keyring } from "../../../src/vault/keyring.ts";
import { Vault } from "../../../src/vault/vault.ts";
import { on } from "../../domain/clock/schedules.ts";

const HOUR_MS = 3_600_000;
/** The same Tuesday afternoon whenever these tests run, because they are about days and hours. */
const NOW = "2026-03-10T15:30:00Z";

const profile: BusinessProfile = {
  name: "acme",
  apiUrl: "http://127.0.0.1:1",
  businessId: "biz_acme",
  token: { kind: "value", value: "token" },
  webhookSecrets: [],
  sandbox: false,
};

let store: Store;
let folder: string;
const started: string[] = [];

beforeAll(async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: new Date(NOW) });
  folder = mkdtempSync(join(tmpdir(), "payrun-launcher-"));
  store = await openStore(`sqlite:${join(folder, "payrun.db")}`);
});
afterAll(async () => {
  await store.close();
  rmSync(folder, { recursive: true, force: true });
  vi.useRealTimers();
});

/** Temporal's state of every schedule; null if Temporal has lost them. */
let kept: { paused: boolean; note: string } | null = null;

/** The context of a launcher, which asks Temporal for its schedule's state and to start a run. */
function context(): ActivityContext {
  const clocks = new Clocks();
  const workflow = {
    signalWithStart: (_name: string, { workflowId }: { workflowId: string }) => {
      started.push(workflowId);
      return Promise.resolve();
    },
  };
  const schedule = {
    getHandle: (scheduleId: string) => ({
      describe: () =>
        kept === null
          ? Promise.reject(new ScheduleNotFoundError("lost", scheduleId))
          : Promise.resolve({ state: kept }),
    }),
  };
  return {
    store,
    temporal: { workflow, schedule } as unknown as Client,
    log: { info: () => {}, warn: () => {} },
    vault: new Vault(new Keyring([])),
    workerId: "test",
    profileOf: () => profile,
    clientOf: () => {
      throw new Error("a launcher reads nothing from the service");
    },
    clockOf: () => clocks.of(profile),
    draining: new AbortController().signal,
  };
}

async function apply(name: string, schedule: string): Promise<void> {
  const text = `kind: pay-run\n${schedule === "" ? "" : `schedule: ${schedule}\n`}`;
  await storePlaybook(store, { name, text }, 1);
}

/** Returns the last run of a schedule that should have begun by now. */
function lastFire(schedule: PlaybookSchedule): { period: string; fireAtMs: number } {
  const fires = nextFires(schedule, Date.now() - 90 * 24 * HOUR_MS, 100);
  const last = fires.findLast(({ fireAtMs }) => fireAtMs <= Date.now());
  if (last === undefined) throw new Error("nothing has fired");
  return last;
}

describe("a launcher", () => {
  const at = "15:00";
  const text = `{ every: day, at: "${at}", zone: UTC }`;
  const daily = on({ every: "day" }, { at, zone: "UTC" });

  test("a launcher launches the run of its day, named by the wall clock's date, once", async () => {
    await apply("daily", text);
    const { period, fireAtMs } = lastFire(daily);
    const wake = { business: "acme", playbook: "daily", nominalMs: fireAtMs };
    const first = await launchScheduled(context(), wake);
    const runId = `pay-run/acme/daily/${period}`;
    expect(first).toEqual({ runId, text: `Launched \`${runId}\`.` });
    expect(started).toEqual([runId]);
    const run = await getRun(store.db, runId);
    expect(run).toMatchObject({ period, launchedBy: "schedule of daily", playbookRevision: 1 });

    const again = await launchScheduled(context(), { ...wake, nominalMs: fireAtMs + HOUR_MS });
    expect(again.text).toContain("was there already");
    for (const phase of ["rejected", "cancelled", "failed"] as const) {
      await setRunPhase(store.db, runId, { phase, endedAtMs: Date.now() });
      expect((await launchScheduled(context(), wake)).runId).toBe(runId);
    }
    expect(started).toEqual([runId, runId]);
  });

  test("a launcher uses the playbook that is stored when it wakes", async () => {
    await apply("changing", text);
    await apply("changing", text.replace("day,", "day, catchUp: 2 days,"));
    const { period, fireAtMs } = lastFire(daily);
    await launchScheduled(context(), {
      business: "acme",
      playbook: "changing",
      nominalMs: fireAtMs,
    });
    const run = await getRun(store.db, `pay-run/acme/changing/${period}`);
    expect(run?.playbookRevision).toBe(2);
  });

  test("a launcher ends without a run on a day on which none begins", async () => {
    await apply("never-today", "{ every: month, on: 1 }");
    const { period } = lastFire(on({ every: "month", on: 1 }));
    const { fireAtMs } = fireOf(on({ every: "month", on: 1 }), period);
    const wake = { business: "acme", playbook: "never-today", nominalMs: fireAtMs + 49 * HOUR_MS };
    expect(await launchScheduled(context(), wake)).toMatchObject({
      runId: null,
      text: expect.stringContaining("No run of never-today begins on") as string,
    });
  });

  test("a launcher skips a run that is later than the playbook's catchUp allows", async () => {
    await apply("late", "{ every: month, on: 6, catchUp: 0 days }");
    const { period, fireAtMs } = lastFire(on({ every: "month", on: 6 }));
    const wake = { business: "acme", playbook: "late", nominalMs: fireAtMs };
    expect(await launchScheduled(context(), wake)).toMatchObject({
      runId: null,
      text: expect.stringContaining(`payrun launch late --period ${period}`) as string,
    });
    expect(await getRun(store.db, `pay-run/acme/late/${period}`)).toBeUndefined();
  });

  test("a launcher is on time for an hour that occurs twice, whichever of the two wakes it", async () => {
    await apply("twice", `{ every: day, at: "13:00", zone: UTC, catchUp: 0 days }`);
    const period = NOW.slice(0, 10);
    const second = { business: "acme", playbook: "twice", nominalMs: Date.now() - 60_000 };
    expect(await launchScheduled(context(), second)).toMatchObject({
      runId: `pay-run/acme/twice/${period}`,
    });
  });

  test("a run that stands still keeps its revision, and does not stop the next launch", async () => {
    await apply("stuck", text.replace("day,", "day, catchUp: 2 days,"));
    const { fireAtMs } = lastFire(daily);
    const wake = { business: "acme", playbook: "stuck" };
    const dayMs = 24 * HOUR_MS;
    const early = await launchScheduled(context(), { ...wake, nominalMs: fireAtMs - dayMs });
    await setRunPhase(store.db, early.runId ?? "", { phase: "awaiting-approval" });
    await apply("stuck", text.replace("day,", "day, catchUp: 3 days,"));
    const next = await launchScheduled(context(), { ...wake, nominalMs: fireAtMs });
    expect(next.runId).not.toBe(early.runId);
    const runs = await Promise.all([early, next].map(({ runId }) => getRun(store.db, runId ?? "")));
    expect(runs.map((run) => [run?.phase, run?.playbookRevision])).toEqual([
      ["awaiting-approval", 1],
      ["planning", 2],
    ]);
    // If the old run is launched again, it continues with its own revision.
    await launchScheduled(context(), { ...wake, nominalMs: fireAtMs - dayMs });
    expect((await getRun(store.db, early.runId ?? ""))?.policy.schedule?.catchUpDays).toBe(2);
  });

  test("a delayed launcher launches nothing once its schedule was paused or deleted in any way", async () => {
    await apply("held-up", text);
    const { fireAtMs } = lastFire(daily);
    const wake = { business: "acme", playbook: "held-up", nominalMs: fireAtMs };
    const say = (action: string, details = {}): Promise<void> =>
      store.transaction((trx) =>
        appendAudit(trx, {
          ...{ businessId: "biz_acme", nowMs: Date.now(), actor: "oli", action, details },
          subject: "held-up",
        }),
      );
    const told: (string | null)[] = [];
    const look = async (): Promise<void> => {
      const { runId, text: why } = await launchScheduled(context(), wake);
      told.push(runId === null ? (/the schedule (.*)\. To make it/.exec(why)?.[1] ?? why) : runId);
    };
    kept = { paused: true, note: "from Temporal's own UI" };
    await look();
    kept = null;
    await say("schedule.paused", { note: "audit" });
    await look();
    await say("schedule.deleted");
    await look();
    expect(told).toEqual([
      "is paused (from Temporal's own UI)",
      "was paused (oli: audit) when Temporal lost it",
      "was deleted",
    ]);
    expect(started.filter((id) => id.includes("held-up"))).toEqual([]);
    // Temporal's current state counts more than the trail, which may lag behind.
    kept = { paused: false, note: "" };
    await look();
    kept = null;
    expect(told.at(-1)).toContain("pay-run/acme/held-up/");
  });

  test("a launcher ends without a run if the playbook has no schedule any more", async () => {
    await apply("was-weekly", text);
    await apply("was-weekly", "");
    const wake = { business: "acme", playbook: "was-weekly", nominalMs: Date.now() };
    expect((await launchScheduled(context(), wake)).runId).toBeNull();
  });

  test("a launcher never launches for another business than its playbook's, nor before its time", async () => {
    const ofAlpha = `kind: pay-run\nbusiness: alpha\nschedule: ${text}\n`;
    await storePlaybook(store, { name: "alpha-daily", text: ofAlpha }, 1);
    const { fireAtMs } = lastFire(daily);
    const wake = { business: "acme", playbook: "alpha-daily", nominalMs: fireAtMs };
    expect(await launchScheduled(context(), wake)).toEqual({
      runId: null,
      text: "The playbook alpha-daily of acme has no schedule any more.",
    });
    await apply("early", text);
    const tomorrow = { business: "acme", playbook: "early", nominalMs: fireAtMs + 24 * HOUR_MS };
    expect(await launchScheduled(context(), tomorrow)).toMatchObject({
      runId: null,
      text: expect.stringContaining("has not come yet") as string,
    });
    const stored = await getPlaybook(store.db, { business: "alpha", name: "alpha-daily" });
    if (stored?.compiled.kind !== "pay-run") throw new Error("nothing is stored");
    const launch = {
      ...{ businessId: "biz_acme", business: "acme", playbook: "alpha-daily", playbookRevision: 1 },
      ...{ policy: stored.compiled, period: "2026-03-10", launchedBy: "mallory" },
      ...{ launchedByTokenId: null, nowMs: Date.now() },
    };
    await expect(store.transaction((trx) => recordLaunch(trx, launch))).rejects.toThrow(/not acme/);
    expect(started.filter((id) => /alpha-daily|early/.test(id))).toEqual([]);
  });
});
