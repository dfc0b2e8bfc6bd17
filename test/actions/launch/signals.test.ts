import { describe, expect, test } from "vitest";
import { TASK_QUEUE } from "../../../src/contracts/names.ts";
import { getRetry } from "../../../src/store/retries/retries.ts";
import { typed } from "../../gateway/support/typed.ts";
import { useLaunches } from "../../gateway/support/launches.ts";
import { approveLines, planLine, seedRun, setLine } from "../../gateway/support/rows.ts";
import { until } from "../../support/waits.ts";

const scene = useLaunches();

describe("signals after what people do", () => {
  async function signals(workflowId: string): Promise<number> {
    const history = await scene.on.client.workflow.getHandle(workflowId).fetchHistory();
    return (history.events ?? []).filter(
      (event) => event.workflowExecutionSignaledEventAttributes?.signalName === "eventsArrived",
    ).length;
  }

  test("a decision, a hold, its release and a cancel each signal the run at once", async () => {
    const run = await seedRun(scene.on.gateway.store, {
      period: "2026-06-04",
      lines: [planLine("p1")],
    });
    await scene.on.client.workflow.start("payRun", {
      workflowId: run.runId,
      taskQueue: TASK_QUEUE,
      args: [{ runId: run.runId }],
    });
    const told = (times: number): Promise<number> =>
      until(
        () => signals(run.runId),
        (count) => count === times,
      );
    const path = `/v1/runs/${encodeURIComponent(run.runId)}`;
    const cora = await scene.on.gateway.token("cora", ["controller"]);
    const operator = await scene.on.gateway.token("oli", ["operator"]);
    const body = { decision: "approve", planHash: run.planHash };
    await scene.on.gateway.call("POST", `${path}/decisions`, cora, body);
    expect(await told(1)).toBe(1);
    const target = { payableId: "p1", reason: "wait" };
    const hold = await scene.on.gateway.call("POST", "/v1/holds", operator, target);
    expect(await told(2)).toBe(2);
    await scene.on.gateway.call("DELETE", `/v1/holds/${String(hold.json["id"])}`, operator);
    expect(await told(3)).toBe(3);
    await scene.on.gateway.call("POST", `${path}/cancel`, operator);
    expect(await told(4)).toBe(4);
  });

  test("launching a period again signals its run, since the store may have lost the workflow meanwhile", async () => {
    const { json } = await scene.launch({ period: "2026-06-11" });
    const runId = String(json["id"]);
    const before = await signals(runId);
    expect((await scene.launch({ period: "2026-06-11" })).status).toBe(200);
    expect(await signals(runId)).toBe(before + 1);
  });

  test("retrying a parked bill starts its retry's workflow", async () => {
    const operator = await scene.on.gateway.token("oli", ["operator"]);
    const run = await seedRun(scene.on.gateway.store, {
      period: "2026-06-11",
      lines: [planLine("p_retry")],
    });
    await approveLines(scene.on.gateway.store, run, ["p_retry"]);
    await setLine(scene.on.gateway.store, run.runId, "p_retry", {
      state: "parked",
      reasonCode: "R02",
    });
    const body = { action: "retry", reason: "new bank details" };
    const answer = await scene.on.gateway.call(
      "POST",
      "/v1/payables/p_retry/resolution",
      operator,
      body,
    );
    expect(answer.status).toBe(200);
    expect(answer.json["workflowId"]).toBe("retry-failed-payment/acme/p_retry");
    const handle = scene.on.client.workflow.getHandle("retry-failed-payment/acme/p_retry");
    expect((await handle.describe()).type).toBe("retryFailedPayment");
    expect(await getRetry(scene.on.gateway.store.db, "biz_acme", "p_retry")).toMatchObject({
      requested: "retry",
    });
  });

  test("a retry of several bills is reported with each bill and their sum", async () => {
    const operator = await scene.on.gateway.token("oli", ["operator"]);
    const bills = ["p_one", "p_two"];
    const run = await seedRun(scene.on.gateway.store, {
      period: "2026-06-18",
      lines: bills.map((id) => planLine(id)),
    });
    await approveLines(scene.on.gateway.store, run, bills);
    for (const id of bills)
      await setLine(scene.on.gateway.store, run.runId, id, { state: "parked", reasonCode: "R02" });
    const retry = ["resolve", ...bills, "--retry", "--reason", "new bank details", "--yes"];
    const { code, stdout } = await typed(scene.on.gateway, operator, retry);
    expect(code).toBe(0);
    expect(stdout).toMatch(/✓ .*BILL-p_one, \$100\.00: tried again\n/);
    expect(stdout).toContain("2 bills, $200.00, are tried again.");
  });
});
