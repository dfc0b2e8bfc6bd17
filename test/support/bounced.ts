import { readFile } from "node:fs/promises";
import type { RunStatus } from "../../src/api/runs.ts";
import type { TopUpStatus } from "../../src/api/deposits.ts";
import type { TestPayrun } from "./payrun.ts";
import {
  clockNoticed,
  plannedScene,
  type Scene,
  type SceneOptions,
  untilEachHasPayments,
} from "./scene.ts";
import { approve } from "./stack.ts";

export interface IncidentJson {
  readonly id: string;
  readonly source: string;
  readonly phase: string;
  readonly bills: number;
  readonly decision: string | null;
  readonly topUps: readonly TopUpStatus[];
}

/** Stores the example playbook by which an account that bounced is one incident. */
export async function applyIncidents(payrun: TestPayrun): Promise<void> {
  const example = new URL("../../playbooks/retry-failed.yaml", import.meta.url);
  await payrun.apply("retry-failed", await readFile(example, "utf8"));
}

export async function incidents(payrun: TestPayrun): Promise<IncidentJson[]> {
  const { body } = await payrun.call<{ items: IncidentJson[] }>("operator", "GET", "/v1/incidents");
  return body.items;
}

/** Decides about a funding account as the controller. */
export function decideIncident(
  payrun: TestPayrun,
  source: string,
  decision: "released" | "other-source",
): Promise<{ status: number }> {
  const body = { decision, reason: "the bank shows the money" };
  return payrun.call("controller", "POST", `/v1/incidents/${source}/decision`, body);
}

/**
 * Starts a run whose bills all bounce once, and waits until they wait for the one decision. The
 * bank clock leaps over the days and never runs fast: otherwise approvals and give-up times would
 * end while a slow machine starts a process.
 */
export async function bouncedScene(
  payrun: TestPayrun,
  name: string,
  amounts: readonly number[],
  options: SceneOptions = {},
): Promise<Scene> {
  const { control } = payrun.sandbox;
  const scene = await plannedScene(payrun, name, amounts, options);
  for (const { id } of scene.made) {
    const rule = { match: { payableId: id }, outcome: "fail", code: "R01", times: 1 } as const;
    await control.outcome(rule);
  }
  await approve(payrun, scene.runId);
  await payrun.until(
    scene.runId,
    "scheduled",
    ({ counts }) => counts.scheduled === scene.made.length,
  );
  await control.advance("P8D");
  await clockNoticed();
  const waits = ({ payments }: RunStatus): boolean =>
    payments.every(
      ({ state, reason }) => state === "retrying" && /one decision/.test(reason ?? ""),
    );
  await payrun.until(scene.runId, "waiting for a decision", waits, 90_000);
  return scene;
}

/** Waits until each of the bills was paid a second time and those payments have settled. */
export async function settledAgain(payrun: TestPayrun, { runId, made }: Scene): Promise<RunStatus> {
  await untilEachHasPayments(payrun, made, 2, 90_000);
  await payrun.until(runId, "recorded", ({ payments }) =>
    payments.every(({ paymentIds }) => paymentIds.length === 2),
  );
  await payrun.sandbox.control.advance("P10D");
  return payrun.untilPhase(runId, "completed");
}
