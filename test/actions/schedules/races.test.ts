import { setTimeout as sleep } from "node:timers/promises";
import { expect, test, vi } from "vitest";
import { launcherOf } from "../../../src/domain/clock/schedule-triggers.ts";
import { isUnderNewestKey, putSchedule, readSchedule } from "../../../src/temporal/schedules.ts";
import { on } from "../../domain/clock/schedules.ts";
import { useSchedules } from "../../gateway/support/schedules.ts";

const scene = useSchedules();

test("a pause in Temporal is never lost to a playbook that is applied at the same moment", async () => {
  const { client } = scene.on;
  const wanted = (weekday: "friday" | "monday") =>
    launcherOf(
      { playbook: "weekly", business: "acme", schedule: on({ every: "week", on: weekday }) },
      scene.nowMs,
    );
  await putSchedule(client, wanted("monday"));
  const lost: number[] = [];
  for (let round = 0; round < 12; round += 1) {
    await scene.handle().unpause();
    const put = putSchedule(client, wanted(round % 2 === 0 ? "friday" : "monday"));
    // From before the schedule is read to after it is written.
    await sleep(round * 3);
    await Promise.all([put, scene.handle().pause("stop")]);
    const { state } = await scene.handle().describe();
    if (!state.paused) lost.push(round);
  }
  expect(lost).toEqual([]);
});

test("a schedule is read and changed although the server refuses every other question as too many", async () => {
  const { client } = scene.on;
  const of = { playbook: "weekly", business: "acme" };
  const wanted = (weekday: "friday" | "monday") =>
    launcherOf({ ...of, schedule: on({ every: "week", on: weekday }) }, scene.nowMs);
  await putSchedule(client, wanted("monday"));
  const service = client.workflowService;
  const describe = service.describeSchedule.bind(service);
  let asked = 0;
  vi.spyOn(service, "describeSchedule").mockImplementation(((request: object) => {
    asked += 1;
    if (asked % 2 === 0) return describe(request);
    const refusal = { code: 8, details: "the buffer is full", metadata: new Map() };
    return Promise.reject(Object.assign(new Error("refused"), refusal));
  }) as never);
  try {
    await putSchedule(client, wanted("friday"));
    expect(await readSchedule(client, of, wanted("friday"))).toMatchObject({ inStep: true });
    expect(await isUnderNewestKey(client, of)).toBe(true);
  } finally {
    vi.restoreAllMocks();
  }
});
