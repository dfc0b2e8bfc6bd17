import { describe, expect } from "vitest";
import { retryFailedPaymentId } from "../../src/contracts/workflow-kinds.ts";
import type { RunStatus } from "../../src/api/runs.ts";
import type { Bill } from "../support/bills.ts";
import { payrun as cli } from "../cli/cli.ts";
import { keepHistory } from "../support/keep-history.ts";
import { payrunTest } from "../support/payrun-test.ts";
import type { TestPayrun } from "../support/payrun.ts";
import {
  ended,
  expectBank,
  lineOf,
  paymentsOf,
  plannedScene,
  type Scene,
  scenePlaybook,
  standing,
} from "../support/scene.ts";
import { approve } from "../support/stack.ts";

const test = payrunTest();

function resolve(
  payrun: TestPayrun,
  bill: Bill | undefined,
  action: "paid-elsewhere" | "give-up",
): Promise<{ status: number; body: Record<string, unknown> }> {
  return payrun.call("operator", "POST", `/v1/payables/${bill?.id}/resolution`, {
    action,
    reason: "talked to the vendor",
  });
}

describe("payments that fail in one run", () => {
  let scene: Scene;
  let done: RunStatus;
  const bill = (index: number): Bill | undefined => scene.made[index];
  const [ONCE, ALWAYS, CLOSED, ODD, RETURNED, FINE, HELD_BACK] = [0, 1, 2, 3, 4, 5, 6];

  test.beforeAll(async ({ payrun }) => {
    const { control } = payrun.sandbox;
    scene = await plannedScene(
      payrun,
      "failing",
      [110_00, 120_00, 130_00, 140_00, 150_00, 160_00, 170_00],
      // On a slow machine a minute is a month of this bank's days.
      { more: ["approvalValid: 365 days"] },
    );
    const rule = (index: number) => ({ match: { payableId: bill(index)?.id ?? "" } });
    await control.outcome({ ...rule(ONCE), outcome: "fail", code: "R01", times: 1 });
    await control.outcome({ ...rule(ALWAYS), outcome: "fail", code: "R01" });
    await control.outcome({ ...rule(CLOSED), outcome: "fail", code: "R02" });
    await control.outcome({ ...rule(ODD), outcome: "fail", reason: "The dog ate it" });
    await control.outcome({ ...rule(HELD_BACK), outcome: "fail", code: "R03" });
    await control.outcome({
      ...rule(RETURNED),
      outcome: "return",
      code: "R03",
      after: "PT12H",
      times: 1,
    });
    await approve(payrun, scene.runId);
    done = await ended(payrun, scene.runId);
  });

  test("a payment that bounced once (R01) settles under its own attempt on the next banking day", async ({
    payrun,
  }) => {
    const line = lineOf(done, bill(ONCE));
    expect(line).toMatchObject({ state: "settled", attempts: 2 });
    const [first, second, ...others] = await paymentsOf(payrun, bill(ONCE));
    expect([first?.status, second?.status]).toEqual(["failed", "completed"]);
    expect(others).toEqual([]);
    const days =
      (Date.parse(second?.createdAt ?? "") - Date.parse(first?.scheduledAt ?? "")) / 86_400_000;
    expect(days).toBeGreaterThan(1);
    const workflow = payrun.temporal.workflow.getHandle(
      retryFailedPaymentId("default", bill(ONCE)?.id ?? ""),
    );
    expect(await workflow.result()).toBe("settled");
    await keepHistory(payrun, workflow.workflowId, "retry-settles");
    await keepHistory(payrun, scene.runId, "pay-run-with-exceptions");
    await expectBank(payrun, [[bill(ONCE), 110_00]]);
  });

  test("a payment that always bounces is reinitiated twice and then parked with its reason", async ({
    payrun,
  }) => {
    const line = lineOf(done, bill(ALWAYS));
    expect(line).toMatchObject({ state: "parked", attempts: 3, reasonCode: "R01" });
    expect(line.reason).toMatch(/Nacha/);
    expect(await paymentsOf(payrun, bill(ALWAYS))).toHaveLength(3);
    await expectBank(payrun, [[bill(ALWAYS), 0]]);
  });

  test("a payment to a closed account (R02) is never retried and says what to ask the vendor for", async ({
    payrun,
  }) => {
    const line = lineOf(done, bill(CLOSED));
    expect(line).toMatchObject({ state: "parked", attempts: 1, reasonCode: "R02" });
    expect(line.reason).toMatch(/Ask the vendor for new bank details/);
    expect(await paymentsOf(payrun, bill(CLOSED))).toHaveLength(1);
  });

  test("a payment that failed for an unknown reason is parked with the service's words", () => {
    const line = lineOf(done, bill(ODD));
    expect(line).toMatchObject({ state: "parked", attempts: 1 });
    expect(line.reason).toMatch(/The dog ate it/);
  });

  test("a payment that settled and was returned during the run is parked with the bank's reason", async ({
    payrun,
  }) => {
    const line = lineOf(done, bill(RETURNED));
    expect(line).toMatchObject({ state: "parked", attempts: 1, reasonCode: "R03" });
    await expectBank(payrun, [[bill(RETURNED), 0]]);
  });

  test("the run ends with exceptions and names what to do", () => {
    expect(done.phase).toBe("completed-with-exceptions");
    expect(standing(done)).toEqual({ settled: 2, parked: 5 });
    for (const line of done.payments.filter(({ state }) => state === "parked")) {
      expect(line.reason, line.payableId).toMatch(/\w/);
    }
  });

  test("a payment that is returned after the run has ended gets a retry and is parked", async ({
    payrun,
  }) => {
    expect(lineOf(done, bill(FINE)).state).toBe("settled");
    await payrun.sandbox.control.outcome({
      match: { payableId: bill(FINE)?.id ?? "" },
      outcome: "return",
      code: "R23",
    });
    const late = await payrun.until(
      scene.runId,
      "told of the return",
      (status) => lineOf(status, bill(FINE)).state === "parked",
    );
    expect(lineOf(late, bill(FINE))).toMatchObject({ reasonCode: "R23" });
    await expectBank(payrun, [[bill(FINE), 0]]);
  });

  test("a person's retry that Nacha doesn't allow becomes a new payment with a new approval", async ({
    payrun,
  }) => {
    const { publicId } = lineOf(await payrun.status(scene.runId), bill(RETURNED));
    const typed = [
      "resolve",
      publicId ?? "",
      "--retry",
      "--reason",
      "talked to the vendor",
      "--yes",
    ];
    const resolved = await cli(typed, {
      env: { PAYRUN_GATEWAY_URL: payrun.gatewayUrl, PAYRUN_TOKEN: payrun.tokenOf("operator") },
    });
    expect(resolved.code, resolved.stderr).toBe(0);
    expect(resolved.stdout).toMatch(
      /R03 ends its approval.* It is not tried again: the next run plans it/,
    );
    expect(resolved.stdout).not.toContain("is tried again");
    await payrun.until(scene.runId, "left to the next run", (status) =>
      /The next run asks/.test(lineOf(status, bill(RETURNED)).reason ?? ""),
    );
    expect(await paymentsOf(payrun, bill(RETURNED))).toHaveLength(1);
    await payrun.apply("paid-anew", scenePlaybook("failing"));
    const next = await payrun.launch("paid-anew");
    const planned = await payrun.untilPhase(next, "awaiting-approval");
    expect(planned.payments.map(({ payableId }) => payableId)).toContain(bill(RETURNED)?.id);
    await approve(payrun, next);
    await ended(payrun, next);
    expect(await paymentsOf(payrun, bill(RETURNED))).toHaveLength(2);
    await expectBank(payrun, [[bill(RETURNED), 150_00]]);
  });

  test("bills given up or paid elsewhere are left out of the next run", async ({ payrun }) => {
    expect((await resolve(payrun, bill(CLOSED), "give-up")).status).toBe(200);
    expect((await resolve(payrun, bill(ODD), "paid-elsewhere")).status).toBe(200);
    const now = await payrun.status(scene.runId);
    expect(lineOf(now, bill(CLOSED)).state).toBe("given-up");
    expect(lineOf(now, bill(ODD)).state).toBe("paid-elsewhere");
    const ofCase = (index: number) => retryFailedPaymentId("default", bill(index)?.id ?? "");
    await keepHistory(payrun, ofCase(CLOSED), "retry-given-up");
    await keepHistory(payrun, ofCase(ODD), "retry-paid-elsewhere");
    await payrun.apply("again", scenePlaybook("failing"));
    const again = await payrun.launch("again");
    const planned = await payrun.until(again, "planned", ({ phase }) => phase !== "planning");
    const ids = planned.payments.map(({ payableId }) => payableId);
    expect(ids).not.toContain(bill(CLOSED)?.id);
    expect(ids).not.toContain(bill(ODD)?.id);
  });

  test("the next run does not plan a bill that its retry owns", async ({ payrun }) => {
    const again = await payrun.launch("again");
    const planned = await payrun.status(again);
    expect(planned.payments.map(({ payableId }) => payableId)).not.toContain(bill(HELD_BACK)?.id);
  });
});
