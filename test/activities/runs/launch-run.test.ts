import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Client, ScheduleNotFoundError } from "@temporalio/client";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { ActivityContext } from "../../../activities/shared/context.ts";
import { launchRun } from "../../../activities/runs/launch-run.ts";
import { Clocks } from "../../../src/business/clocks.ts";
import type { BusinessProfile } from "../../../src/config/business-profile.ts";
import { appendAudit, listAudit } from "../../../src/store/audit/audit.ts";
import type { Store } from "../../../src/store/index.ts";
import { openStore } from "../../../src/store/open.ts";
import { storePlaybook } from "../../support/stored-playbook.ts";
import { getPlaybook } from "../../../src/store/playbooks/playbooks.ts";
import { getRun, listRuns, recordLaunch, setRunPhase } from "../../../src/store/runs/runs.ts";
import { Keyring } from "../../../src/vault/keyring.ts";
import { Vault } from "../../../src/vault/vault.ts";

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
    countDecision: () => {},
  };
}

/** Stores a playbook, ten days before unless another instant is given. */
async function apply(name: string, schedule: string, atMs = Date.now() - 240 * HOUR_MS) {
  const text = `kind: pay-run\n${schedule === "" ? "" : `schedule: ${schedule}\n`}`;
  await storePlaybook(store, { name, text }, atMs);
}

/** Wakes a playbook's launcher, as Temporal's server or anybody who may write to it does. */
async function wake(playbook: string, wokenMs = Date.now()): Promise<string> {
  const { text } = await launchRun(context(), { business: "acme", playbook }, wokenMs);
  return text;
}

const startedOf = (playbook: string) => started.filter((id) => id.includes(`/${playbook}/`));

describe("a launcher", () => {
  const text = '{ every: day, at: "15:00", zone: UTC }';

  test("a launcher launches the run of its day, named by the wall clock's date, once", async () => {
    await apply("daily", text);
    const runId = "pay-run/acme/daily/2026-03-10";
    expect(await wake("daily")).toBe(`Launched \`${runId}\`.`);
    expect(started).toEqual([runId]);
    const run = await getRun(store.db, runId);
    expect(run).toMatchObject({ launchedBy: "schedule of daily", playbookRevision: 1 });

    expect(await wake("daily")).toContain("was there already");
    for (const phase of ["rejected", "cancelled", "failed"] as const) {
      await setRunPhase(store.db, runId, { phase, endedAtMs: Date.now() });
      expect(await wake("daily")).toContain("was there already");
    }
    expect(started).toEqual([runId, runId]);
    const trail = await listAudit(store.db, { businessId: "biz_acme", subject: runId });
    expect(trail.map(({ action }) => action)).toEqual(["run.launched"]);
  });

  test("a launcher launches once also after a run by hand that had nothing to pay, and its own may be empty", async () => {
    await apply("by-hand", text);
    const { businessId, name: business } = profile;
    const stored = await getPlaybook(store.db, { business, name: "by-hand" });
    if (stored?.compiled.kind !== "pay-run") throw new Error("not stored");
    const policy = stored.compiled;
    const launchByHand = () =>
      store.transaction((trx) =>
        recordLaunch(trx, {
          ...{ businessId, business, playbook: "by-hand", period: "2026-03-10", policy },
          ...{ playbookRevision: 1, launchedBy: "lou", launchedByTokenId: "tok_lou" },
          nowMs: Date.now(),
        }),
      );
    const ended = { phase: "completed", endedAtMs: Date.now() } as const;
    const runId = "pay-run/acme/by-hand/2026-03-10";
    await launchByHand();
    expect(await wake("by-hand")).toContain("was there already");
    await setRunPhase(store.db, runId, ended);
    expect(await wake("by-hand")).toBe(`Launched \`${runId}/r2\`.`);
    await setRunPhase(store.db, `${runId}/r2`, ended);
    expect(await wake("by-hand")).toContain("was there already");
    expect(await launchByHand()).toMatchObject({ runId: `${runId}/r3`, created: true });
    await setRunPhase(store.db, `${runId}/r3`, ended);
    expect(await wake("by-hand")).toContain("was there already");
  });

  test("a launcher brings back no run that a person has launched early and cancelled while it was planned", async () => {
    await apply("called-off", text);
    const { businessId, name: business } = profile;
    const stored = await getPlaybook(store.db, { business, name: "called-off" });
    if (stored?.compiled.kind !== "pay-run") throw new Error("not stored");
    const policy = stored.compiled;
    const { runId } = await store.transaction((trx) =>
      recordLaunch(trx, {
        ...{ businessId, business, playbook: "called-off", period: "2026-03-10", policy },
        ...{ playbookRevision: 1, launchedBy: "lou", launchedByTokenId: "tok_lou" },
        nowMs: Date.now(),
      }),
    );
    await setRunPhase(store.db, runId, { phase: "cancelled", endedAtMs: Date.now() });
    expect(await wake("called-off")).toBe(`\`${runId}\` was there already.`);
  });

  test("a launcher uses the playbook that is stored when it wakes", async () => {
    await apply("changing", text);
    await apply("changing", text.replace("day,", "day, catchUp: 0 days,"));
    await wake("changing");
    const run = await getRun(store.db, "pay-run/acme/changing/2026-03-10");
    expect(run?.playbookRevision).toBe(2);
  });

  test("a launcher that is woken before its time launches nothing, nor does one without a due run", async () => {
    await apply("early", text.replace("15:00", "15:31"), Date.now() - 23 * HOUR_MS);
    await apply("never-today", "{ every: month, on: 1 }", Date.now() - 48 * HOUR_MS);
    await apply("young", text, Date.now() - 60_000);
    for (const name of ["early", "never-today", "young"]) {
      expect(await wake(name)).toMatch(`No run of ${name} is due; the next one begins on`);
      expect(startedOf(name)).toEqual([]);
    }
    // The server's clock, by which it is woken, may be ahead of the process's.
    expect(await wake("early", Date.parse("2026-03-10T15:31:00Z"))).toMatch(/^Launched/);
  });

  test("a launcher launches what was missed within the playbook's catchUp, and names what it is too late for", async () => {
    await apply("behind", text.replace("day,", "day, catchUp: 2 days,"));
    expect(await wake("behind")).toMatch(/^Launched .*2026-03-09.*Launched .*2026-03-10/);
    expect(startedOf("behind")).toHaveLength(2);
    await apply("late", "{ every: month, on: 6, catchUp: 0 days }");
    expect(await wake("late")).toContain("payrun launch late --period 2026-03-06");
    expect(startedOf("late")).toEqual([]);
  });

  test("a launcher is on time for an hour that occurs twice, whichever of the two wakes it", async () => {
    vi.setSystemTime("2026-11-01T06:30:20Z");
    try {
      await apply("twice", '{ every: day, at: "01:30", zone: America/New_York, catchUp: 0 days }');
      expect(await wake("twice")).toContain("pay-run/acme/twice/2026-11-01");
    } finally {
      vi.setSystemTime(NOW);
    }
  });

  test("a run that stands still keeps its revision, and does not stop the next launch", async () => {
    await apply("stuck", text);
    vi.setSystemTime("2026-03-09T15:30:00Z");
    await wake("stuck");
    const [early = ""] = startedOf("stuck");
    await setRunPhase(store.db, early, { phase: "awaiting-approval" });
    vi.setSystemTime(NOW);
    await apply("stuck", text.replace("day,", "day, catchUp: 0 days,"));
    await wake("stuck");
    const [, next = ""] = startedOf("stuck");
    const runs = await Promise.all([early, next].map((id) => getRun(store.db, id)));
    expect(runs.map((run) => [run?.phase, run?.playbookRevision])).toEqual([
      ["awaiting-approval", 1],
      ["planning", 2],
    ]);
  });

  test("a delayed launcher launches nothing once its schedule was paused or deleted in any way", async () => {
    await apply("held-up", text);
    const say = (action: string, details = {}, atMs = Date.now()): Promise<void> =>
      store.transaction((trx) =>
        appendAudit(trx, {
          ...{ businessId: "biz_acme", nowMs: atMs, actor: "oli", action, details },
          subject: "held-up",
        }),
      );
    const told: string[] = [];
    const look = async (): Promise<void> => {
      const why = await wake("held-up");
      told.push(/the schedule (.*)\. To make it/.exec(why)?.[1] ?? why);
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
    // Temporal's current state counts more than the trail, which may lag behind.
    kept = { paused: false, note: "" };
    // What people kept from beginning is not made up for when they resume.
    await say("schedule.resumed");
    await look();
    expect(told.at(-1)).toContain("No run of held-up is due");
    expect(startedOf("held-up")).toEqual([]);
    kept = null;
  });

  test("a launcher ends without a run if the playbook has no schedule any more", async () => {
    await apply("was-weekly", text);
    await apply("was-weekly", "");
    expect(await wake("was-weekly")).toContain("has no schedule any more");
  });

  test("a launcher never launches for another business than its playbook's", async () => {
    const ofAlpha = `kind: pay-run\nbusiness: alpha\nschedule: ${text}\n`;
    await storePlaybook(store, { name: "alpha-daily", text: ofAlpha }, 1);
    expect(await wake("alpha-daily")).toBe(
      "The playbook alpha-daily of acme has no schedule any more.",
    );
    const stored = await getPlaybook(store.db, { business: "alpha", name: "alpha-daily" });
    if (stored?.compiled.kind !== "pay-run") throw new Error("nothing is stored");
    const launch = {
      ...{ businessId: "biz_acme", business: "acme", playbook: "alpha-daily", playbookRevision: 1 },
      ...{ policy: stored.compiled, period: "2026-03-10", launchedBy: "mallory" },
      ...{ launchedByTokenId: null, nowMs: Date.now() },
    };
    await expect(store.transaction((trx) => recordLaunch(trx, launch))).rejects.toThrow(/not acme/);
    const runs = await listRuns(store.db, { limit: 100 });
    expect(runs.filter(({ playbook }) => playbook === "alpha-daily")).toEqual([]);
  });
});
