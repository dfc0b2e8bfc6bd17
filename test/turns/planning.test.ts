import { expect, test } from "vitest";
import { WORKFLOW } from "../../src/contracts/workflow-kinds.ts";
import { newYorkInstantMs } from "../../src/domain/clock/new-york.ts";
import { Scene } from "./scene.ts";

const at = (time: string): number => newYorkInstantMs("2026-11-24", time);

const LOOK = {
  waitingFor: null,
  wakeInMs: 3_600_000,
  details: "",
  toFund: 0,
  toPay: 0,
  toFollow: 0,
};

test("a run acts on a signal during planning within a second, and is planned once", async () => {
  const scene = new Scene(at("08:00"));
  const looks: number[] = [];
  let plans = 0;
  scene.start(
    WORKFLOW.payRun,
    { runId: "run" },
    {
      openRun: () => ({ ended: false, planned: false }),
      planRun: async () => {
        plans += 1;
        await scene.takes(1_200_000);
      },
      reviewRun: () => {
        looks.push(scene.nowMs);
        const toPlan = scene.nowMs < at("08:20");
        return { ...LOOK, phase: toPlan ? "planning" : "awaiting-approval", ended: false, toPlan };
      },
    },
  );
  const toldMs = [at("08:05"), at("08:15")];
  for (const atMs of toldMs) scene.at(atMs, () => void scene.tell());
  await scene.until(at("09:30"));
  for (const atMs of toldMs) {
    expect((looks.find((lookupMs) => lookupMs >= atMs) ?? Infinity) - atMs).toBeLessThan(1_000);
  }
  expect(plans).toBe(1);
});

test("a run pays nothing before its plan is complete and bills are held back", async () => {
  const scene = new Scene(at("08:00"));
  const paid: number[] = [];
  scene.start(
    WORKFLOW.payRun,
    { runId: "run" },
    {
      openRun: () => ({ ended: false, planned: false }),
      planRun: () => scene.takes(600_000),
      reviewRun: () => ({ ...LOOK, phase: "paying", ended: false, toPay: 1 }),
      payBills: async () => {
        paid.push(scene.nowMs);
        await scene.takes(60_000);
      },
    },
  );
  scene.at(at("08:05"), () => void scene.tell());
  await scene.until(at("08:30"));
  expect(Math.min(...paid)).toBeGreaterThanOrEqual(at("08:10"));
});
