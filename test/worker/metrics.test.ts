import { expect, test } from "vitest";
import { UPDATE } from "../../src/contracts/names.ts";
import { freePort } from "../support/free-port.ts";
import { plannedRun, stacks } from "../support/stack.ts";

const start = stacks();

/** Names used by the alerts and dashboards of Temporal's documentation. */
const NAMES = [
  "temporal_worker_task_slots_available",
  "temporal_request_total",
  "temporal_request_latency_seconds_bucket",
  "temporal_workflow_task_schedule_to_start_latency_seconds_bucket",
  "temporal_workflow_task_execution_latency_seconds_bucket",
  "temporal_activity_schedule_to_start_latency_seconds_bucket",
  "temporal_activity_execution_latency_seconds_bucket",
  "temporal_sticky_cache_size",
];

test("a worker serves Temporal's metrics under their standard names, and a second worker at the address is refused", async () => {
  const workerMetrics = `127.0.0.1:${await freePort()}`;
  const payrun = await start({ workerMetrics });
  const { runId } = await plannedRun(payrun, [100_00]);
  const handle = payrun.temporal.workflow.getHandle(runId);
  const answer = await handle.executeUpdate(UPDATE.decide, { args: ["no decision"] });
  expect(answer).toMatchObject({ accepted: false, code: "malformed" });
  const response = await fetch(`http://${workerMetrics}/metrics`);
  const text = await response.text();
  const missing = NAMES.filter((name) => !new RegExp(`^${name}[{ ]`, "m").test(text));
  expect(missing, text.slice(0, 3_000)).toEqual([]);
  // Decisions sent straight to Temporal count under the name of the gateways' metric.
  expect(text).toMatch(/^payrun_decisions_total\{.*outcome="malformed".*\} 1$/m);
  await expect(payrun.startWorker()).rejects.toThrow(
    /PAYRUN_WORKER_METRICS: 127\.0\.0\.1:\d+ can't be listened on/,
  );
});
