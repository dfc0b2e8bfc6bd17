import { expect, test } from "vitest";
import { freePort } from "../support/free-port.ts";
import { plannedRun, stacks } from "../support/stack.ts";

const start = stacks();

/** Names that the alerts and dashboards of Temporal's documentation ask for. */
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

test("a worker offers Temporal's metrics under the names that Temporal's alerts ask for, and a second one at its address is refused", async () => {
  const workerMetrics = `127.0.0.1:${await freePort()}`;
  const payrun = await start({ workerMetrics });
  await plannedRun(payrun, [100_00]);
  const response = await fetch(`http://${workerMetrics}/metrics`);
  const text = await response.text();
  const missing = NAMES.filter((name) => !new RegExp(`^${name}[{ ]`, "m").test(text));
  expect(missing, text.slice(0, 3_000)).toEqual([]);
  await expect(payrun.startWorker()).rejects.toThrow(
    /PAYRUN_WORKER_METRICS: 127\.0\.0\.1:\d+ can't be listened on/,
  );
});
