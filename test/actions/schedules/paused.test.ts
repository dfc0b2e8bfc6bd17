import { randomBytes } from "node:crypto";
import { Client, type ScheduleSummary } from "@temporalio/client";
import { beforeEach, describe, expect, test, vi } from "vitest";
import type { BusinessProfile } from "../../../src/config/business-profile.ts";
import { listAudit } from "../../../src/store/audit/audit.ts";
import { withSchedule } from "../../../src/store/playbooks/schedule-turns.ts";
import { compareSchedules } from "../../../src/janitor/schedules.ts";
import { scheduledPayRunId } from "../../../src/contracts/workflow-kinds.ts";
import { dataConverterOf } from "../../../src/temporal/codec.ts";
import { isUnderNewestKey, pauseSchedule, readSchedule } from "../../../src/temporal/schedules.ts";
import { whileBusy } from "../../../src/temporal/while-busy.ts";
import { profile } from "../../gateway/support/gateway.ts";
import { useSchedules } from "../../gateway/support/schedules.ts";

const scene = useSchedules();
const business: BusinessProfile = profile();

/** The janitor leaves schedules alone that a gateway may just be making. */
beforeEach(() => {
  scene.nowMs = Date.now() - 3_600_000;
});

/** Compares schedules as the janitor does each minute. */
async function pass(temporal = scene.on.client): Promise<void> {
  const nobody = (): never => {
    throw new Error("the service is not asked");
  };
  await compareSchedules(
    {
      store: scene.on.gateway.store,
      temporal,
      log: { info: () => undefined, warn: () => undefined },
      profiles: { all: () => [business] },
      clientOf: nobody,
      clockOf: nobody,
    },
    business,
  );
}

/** Returns what was done to the schedule, by whom and with which note, oldest first. */
async function acts(): Promise<unknown[][]> {
  const of = { businessId: business.businessId, subject: "weekly" };
  const trail = await listAudit(scene.on.gateway.store.db, of);
  return trail
    .filter(({ action }) => action.startsWith("schedule."))
    .map(({ action, actor, details }) => [action, actor, details["note"]]);
}

/** Runs the janitor until Temporal's list of schedules, which lags behind, shows the last act. */
async function passUntil(count: number): Promise<void> {
  const done = async (): Promise<number> => {
    await pass();
    return (await acts()).length;
  };
  await expect.poll(done).toBe(count);
}

describe("a pause", () => {
  test("a pause stays when the playbook is applied again, and the answer says so", async () => {
    await scene.apply("{ every: thursday }");
    const paused = await scene.post("weekly/pause", { note: "books are being closed" });
    expect(paused.json).toMatchObject({ state: "paused", note: "ada: books are being closed" });
    const applied = await scene.apply("{ every: friday }");
    expect(applied.json["note"]).toMatch(/paused \(ada: books are.*payrun schedule resume weekly/);
    expect((await scene.shown())?.["state"]).toBe("paused");
    const resumed = await scene.post("weekly/resume");
    expect(resumed.json).toMatchObject({ state: "active", paused: false });
    expect((await scene.apply("{ every: thursday }")).json["note"]).toBeUndefined();
  });

  test("a pause stays even if its schedule is lost, whatever makes the schedule again", async () => {
    await scene.apply("{ every: thursday }");
    await scene.post("weekly/pause", { note: "audit" });
    await scene.handle().delete();
    expect(await scene.shown()).toMatchObject({ state: "missing", paused: true });
    await scene.apply("{ every: thursday }");
    expect(await scene.shown()).toMatchObject({ state: "paused", note: "ada: audit" });
    await scene.handle().delete();
    await scene.apply("");
    await scene.apply("{ every: thursday }");
    expect(await scene.shown()).toMatchObject({ state: "paused", note: "ada: audit" });
  });

  test("a schedule can be paused and resumed even while it is lost", async () => {
    await scene.apply("{ every: thursday }");
    await scene.handle().delete();
    expect((await scene.post("weekly/pause", { note: "stop" })).status).toBe(200);
    expect(await scene.shown()).toMatchObject({ state: "paused", note: "ada: stop" });
    await scene.handle().delete();
    expect((await scene.post("weekly/resume")).json).toMatchObject({ state: "active" });
    await scene.handle().delete();
    const path = "/v1/schedules/weekly";
    expect((await scene.on.gateway.call("DELETE", path, scene.admin)).status).toBe(200);
    expect((await scene.post("weekly/pause")).status).toBe(404);
    await pass();
    expect((await scene.shown())?.["state"]).toBe("missing");
  });
});

describe("a repeated pause or resumption", () => {
  test("a second pause or resumption does nothing and answers with how the schedule stands", async () => {
    await scene.apply("{ every: thursday }");
    const twice = async (act: string, notes: readonly string[]): Promise<unknown[]> => {
      const answers = [];
      for (const note of notes) answers.push(await scene.post(`weekly/${act}`, { note }));
      const [first, second] = answers;
      expect(second?.json).toEqual(first?.json);
      return [first?.status, first?.json["state"], first?.json["note"]];
    };
    expect(await twice("pause", ["audit", "again"])).toEqual([200, "paused", "ada: audit"]);
    expect(await twice("resume", ["done", "again"])).toEqual([200, "active", "ada: done"]);
    expect(await acts()).toEqual([
      ["schedule.paused", "ada", "audit"],
      ["schedule.resumed", "ada", "done"],
    ]);
  });

  test("pausing a paused schedule that is lost makes it again, paused as before", async () => {
    await scene.apply("{ every: thursday }");
    await scene.post("weekly/pause", { note: "audit" });
    await scene.handle().delete();
    const again = await scene.post("weekly/pause", { note: "again" });
    expect(again.json).toMatchObject({ state: "paused", note: "ada: audit" });
    expect(await acts()).toEqual([["schedule.paused", "ada", "audit"]]);
  });
});

describe("a pause made in Temporal itself", () => {
  test("a pause made in Temporal, and its end, are each noted once with Temporal's note", async () => {
    await scene.apply("{ every: thursday }");
    await scene.handle().pause("vendor fraud, ask Vera");
    await passUntil(1);
    await pass();
    expect(await acts()).toEqual([["schedule.paused", "temporal", "vendor fraud, ask Vera"]]);
    await scene.handle().unpause("all clear");
    await passUntil(2);
    await pass();
    expect((await acts())[1]).toEqual(["schedule.resumed", "temporal", "all clear"]);
  });

  test("a schedule that was paused in Temporal and then lost is restored as paused", async () => {
    await scene.apply("{ every: thursday }");
    await scene.handle().pause("vendor fraud");
    await passUntil(1);
    await scene.handle().delete();
    await passUntil(2);
    expect(await scene.shown()).toMatchObject({
      state: "paused",
      note: "temporal: vendor fraud",
    });
    expect((await acts())[1]).toEqual(["schedule.restored", "payrun", undefined]);
    await pass();
    expect(await acts()).toHaveLength(2);
  });

  test("a pause made in Temporal is noted before a person's later act, which decides", async () => {
    await scene.apply("{ every: thursday }");
    await scene.handle().pause("vendor fraud");
    expect((await scene.post("weekly/resume", { note: "checked" })).json["state"]).toBe("active");
    await scene.handle().pause("again");
    await scene.apply("{ every: friday }");
    expect(await acts()).toEqual([
      ["schedule.paused", "temporal", "vendor fraud"],
      ["schedule.resumed", "ada", "checked"],
      ["schedule.paused", "temporal", "again"],
    ]);
    await pass();
    expect(await acts()).toHaveLength(3);
  });

  test("a pause that another process is about to record is not taken for one made in Temporal", async () => {
    await scene.apply("{ every: thursday }");
    const { db } = scene.on.gateway.store;
    // Like a gateway that has paused at Temporal and has not recorded it yet.
    await withSchedule(db, { business: "acme", playbook: "weekly" }, 0, async () => {
      await scene.handle().pause("ada: audit");
      const listed = async (): Promise<boolean[]> => {
        const states: boolean[] = [];
        for await (const { state } of scene.on.client.schedule.list()) states.push(state.paused);
        return states;
      };
      await expect.poll(listed).toContain(true);
      await pass();
      return {};
    });
    expect(await acts()).toEqual([]);
  });

  test("a pause is noted even if an earlier schedule can't be read", async () => {
    await scene.apply("{ every: thursday }", "by-hand");
    await scene.apply("{ every: thursday }");
    await scene.handle().pause("vendor fraud");
    const { schedule } = scene.on.client;
    const handle = schedule.getHandle.bind(schedule);
    vi.spyOn(schedule, "getHandle").mockImplementation((id) => {
      if (id.endsWith("by-hand")) throw new Error("a broken schedule");
      return handle(id);
    });
    const noted = async (): Promise<unknown[][]> => {
      await expect(pass()).rejects.toThrow("a broken schedule");
      return acts();
    };
    await expect.poll(noted).toEqual([["schedule.paused", "temporal", "vendor fraud"]]);
    vi.restoreAllMocks();
  });

  test("after pauses in Temporal and acts of people at the same time, the trail ends with Temporal's state", async () => {
    await scene.apply("{ every: thursday }");
    for (const round of [1, 2, 3]) {
      await scene.handle().pause(`round ${round}`);
      await Promise.all([
        scene.post("weekly/resume"),
        pass(),
        scene.post("weekly/pause"),
        pass(),
        scene.apply(round === 2 ? "{ every: friday }" : "{ every: thursday }"),
      ]);
      const { state } = await whileBusy(() => scene.handle().describe());
      const last = (await acts()).at(-1)?.[0];
      expect(last).toBe(state.paused ? "schedule.paused" : "schedule.resumed");
    }
  });
});

describe("a schedule that was made under an older key", () => {
  const key = (id: string) => ({ id, key: randomBytes(32) });
  const [older, newer] = [key("older"), key("newer")];
  const of = { business: "acme", playbook: "weekly" };
  const under = (...encryptionKeys: readonly ReturnType<typeof key>[]): Client => {
    const { connection, options } = scene.on.client;
    const dataConverter = dataConverterOf({ encryptionKeys, encryptsHistories: () => true });
    return new Client({ connection, namespace: options.namespace, dataConverter });
  };

  test.each([
    ["while workers still have that one", [newer, older]],
    ["after it was taken away", [newer]],
  ])(
    "a paused schedule of an older key is rewritten under the newest %s, and stays paused",
    async (_, keys) => {
      await scene.apply("{ every: thursday }");
      await scene.post("weekly/pause", { note: "books are being closed" });
      await pass(under(older));
      await expect.poll(() => isUnderNewestKey(under(older), of)).toBe(true);
      const now = under(...keys);
      expect(await isUnderNewestKey(now, of)).toBe(false);
      await pass(now);
      expect(await isUnderNewestKey(now, of)).toBe(true);
      const { state, action } = await now.schedule
        .getHandle(scheduledPayRunId("acme", "weekly"))
        .describe();
      expect(state).toMatchObject({
        paused: true,
        note: expect.stringContaining("books are being"),
      });
      expect(action.args).toMatchObject([{ playbook: "weekly", business: "acme" }]);
    },
  );

  /** Runs the janitor while the list still has the schedule as it was at first. */
  async function passEarly(temporal: Client): Promise<void> {
    vi.spyOn(temporal.schedule, "list").mockImplementation(async function* () {
      const scheduleId = scheduledPayRunId("acme", "weekly");
      yield { scheduleId, state: { paused: false } } as ScheduleSummary;
    });
    await pass(temporal);
  }

  test.each([
    ["by a person", () => scene.post("weekly/pause", { note: "audit" })],
    ["at Temporal itself", () => scene.handle().pause("audit")],
  ])(
    "a schedule paused %s stays paused after its key is gone, whatever a stale list says",
    async (_, pause) => {
      await scene.apply("{ every: thursday }");
      await pause();
      await passEarly(under(older));
      const now = under(newer);
      await passEarly(now);
      expect(await isUnderNewestKey(now, of)).toBe(true);
      const kept = await readSchedule(now, of, null);
      expect(kept).toMatchObject({ paused: true, note: expect.stringContaining("audit") });
    },
  );

  test("a schedule can be paused and read even by a client that lacks its key", async () => {
    await scene.apply("{ every: thursday }");
    await passEarly(under(older));
    await pauseSchedule(under(newer), of, "ada: audit");
    const kept = await readSchedule(under(newer), of, null);
    expect(kept).toEqual({ paused: true, note: "ada: audit", inStep: false });
  });
});
