import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { launcherOf } from "../../../src/domain/clock/schedule-triggers.ts";
import { putSchedule } from "../../../src/temporal/schedules.ts";
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
