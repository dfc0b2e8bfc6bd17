import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { SIGNAL, TASK_QUEUE } from "../../src/contracts/names.ts";
import { WORKFLOW } from "../../src/contracts/workflow-kinds.ts";
import { takeLease } from "../../src/store/sql/leases.ts";
import { signalOnCommit } from "../../src/store/signals/pending-signals.ts";
import { useGatewayOnTemporal } from "../gateway/support/on-temporal.ts";
import { planLine, seedRun } from "../gateway/support/rows.ts";
import { until } from "../support/waits.ts";

const on = useGatewayOnTemporal();
let period = 0;

/** Starts a run with its workflow; no worker takes it, so it stays as it was started. */
async function startRun(): Promise<string> {
  period += 1;
  const lines = [planLine(`p${period}`)];
  const { runId } = await seedRun(on.gateway.store, { period: `2026-02-0${period}`, lines });
  const start = { workflowId: runId, taskQueue: TASK_QUEUE, args: [{ runId }] };
  await on.client.workflow.start(WORKFLOW.payRun, start);
  await until(pendingSignals, (count) => count === 0);
  return runId;
}

async function signals(workflowId: string): Promise<number> {
  const { events } = await on.client.workflow.getHandle(workflowId).fetchHistory();
  return (events ?? []).filter(
    (event) => event.workflowExecutionSignaledEventAttributes?.signalName === SIGNAL.eventsArrived,
  ).length;
}

async function pendingSignals(): Promise<number> {
  return (await on.gateway.store.db.selectFrom("pending_signals").select("signal_id").execute())
    .length;
}

/** Makes another gateway the one that sends signals left by others. */
function leadElsewhere(): Promise<boolean> {
  const lease = { name: "dispatcher", holder: "another" };
  return takeLease(on.gateway.store.db, lease, 60_000);
}

test("the process that writes a fact signals its workflows at once", async () => {
  const runId = await startRun();
  expect(await leadElsewhere()).toBe(true);
  const token = await on.gateway.token("otto", ["operator"]);
  const answer = await on.gateway.call("POST", "/v1/holds", token, { run: runId, reason: "Wait." });
  expect(answer.status).toBe(201);
  expect(await until(pendingSignals, (count) => count === 0)).toBe(0);
  expect(await signals(runId)).toBe(1);
});

test("a signal left by a process that dies after its commit is sent by a gateway within seconds", async () => {
  const runId = await startRun();
  const file = join(import.meta.dirname, "children", "hold-and-die.ts");
  const url = `sqlite:${on.gateway.folder}/payrun.db`;
  const child = spawn(process.execPath, [file, url, "biz_acme", runId], { stdio: "inherit" });
  const [, signal] = (await once(child, "exit")) as [number | null, string | null];
  expect(signal).toBe("SIGKILL");
  const heard = await until(
    () => signals(runId),
    (count) => count > 0,
  );
  expect(heard).toBe(1);
  expect(await until(pendingSignals, (count) => count === 0)).toBe(0);
  await sleep(3_000);
  expect(await signals(runId)).toBe(1);
});

test("a signal to a workflow that is gone is dropped, and delays no other", async () => {
  const runId = await startRun();
  const { store } = on.gateway;
  const gone = Array.from({ length: 700 }, (_, index) => `gone/${index}`);
  await store.transaction(async (trx) => {
    for (const workflowId of [...gone, runId]) {
      signalOnCommit(trx, "biz_acme", { kind: "workflow", workflowId });
    }
  });
  expect(await until(pendingSignals, (count) => count === 0)).toBe(0);
  expect(await signals(runId)).toBe(1);
});
