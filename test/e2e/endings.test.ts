import { describe, expect } from "vitest";
import {
  fundingIncidentId,
  retryFailedPaymentId,
  WORKFLOW,
} from "../../src/contracts/workflow-kinds.ts";
import { isLong } from "../support/long.ts";
import { applyIncidents, bouncedScene, decideIncident, settledAgain } from "../support/bounced.ts";
import { type Bill, bills } from "../support/bills.ts";
import { pay } from "../support/cancellations.ts";
import { sinceLastWeek } from "../support/launchers.ts";
import { keepHistory } from "../support/keep-history.ts";
import { NEXT_DAY_RETRIES } from "../support/next-day-retries.ts";
import { payrunTest } from "../support/payrun-test.ts";
import type { TestPayrun } from "../support/payrun.ts";
import {
  expectBank,
  lineOf,
  paymentsOf,
  plannedScene,
  scenePlaybook,
  standing,
} from "../support/scene.ts";
import { approve } from "../support/stack.ts";

/** Ways in which workflows end that no other test reaches. */

const test = payrunTest();

function resultOf(payrun: TestPayrun, workflowId: string): Promise<unknown> {
  return payrun.temporal.workflow.getHandle(workflowId).result();
}

/** Returns the id of the one workflow of a type that was started for a playbook. */
async function workflowOf(payrun: TestPayrun, type: string, playbook: string): Promise<string> {
  let found: string[] = [];
  const look = async (): Promise<number> => {
    found = [];
    const query = `WorkflowType = '${type}'`;
    for await (const { workflowId } of payrun.temporal.workflow.list({ query })) {
      if (workflowId.includes(`/${playbook}`)) found.push(workflowId);
    }
    return found.length;
  };
  await expect.poll(look).toBe(1);
  return found[0] ?? "";
}

async function failing(payrun: TestPayrun, bill: Bill | undefined, code: string): Promise<void> {
  const match = { payableId: bill?.id ?? "" };
  await payrun.sandbox.control.outcome({ match, outcome: "fail", code, times: 1 });
}

describe("a pay run", () => {
  test("a pay run that is launched again for its ended period ends at once and pays nothing", async ({
    payrun,
  }) => {
    const { runId, made } = await plannedScene(payrun, "again", [101_00]);
    await approve(payrun, runId);
    await payrun.until(runId, "sent", ({ counts }) => counts.scheduled === 1);
    await payrun.sandbox.control.advance("P10D");
    await payrun.untilPhase(runId, "completed");
    const first = (await payrun.temporal.workflow.getHandle(runId).describe()).runId;
    expect(await resultOf(payrun, runId)).toBe("completed");
    expect(await payrun.launch("again", runId.split("/").at(-1))).toBe(runId);
    expect(await resultOf(payrun, runId)).toBe("completed");
    const second = (await payrun.temporal.workflow.getHandle(runId).describe()).runId;
    expect(second).not.toBe(first);
    await keepHistory(payrun, runId, "pay-run-launched-again");
    expect(await paymentsOf(payrun, made[0])).toHaveLength(1);
    await expectBank(payrun, [[made[0], 101_00]]);
  });
});

describe("the launcher of a schedule", () => {
  const trigger = async (payrun: TestPayrun, name: string, every: string): Promise<string> => {
    await payrun.apply(name, scenePlaybook(name, { more: [`schedule: ${every}`] }));
    const schedule = payrun.temporal.schedule.getHandle(`scheduled-pay-run/default/${name}`);
    await sinceLastWeek(payrun, name);
    await schedule.trigger();
    const launcher = await workflowOf(payrun, WORKFLOW.scheduledPayRun, name);
    await schedule.delete();
    return launcher;
  };

  test("the launcher of a schedule launches the run that begins today", async ({ payrun }) => {
    await bills(payrun.sandbox, [111_00], { description: "daily" });
    const launcher = await trigger(payrun, "daily", "{ every: day }");
    const text = String(await resultOf(payrun, launcher));
    const [runId = ""] = /pay-run\/[^`]+/.exec(text) ?? [];
    expect((await payrun.untilPhase(runId, "awaiting-approval")).payments).toHaveLength(1);
    await keepHistory(payrun, launcher, "scheduled-launches");
  });

  test.runIf(isLong)(
    "the launcher of a schedule ends without a run on a day on which none begins",
    async ({ payrun }) => {
      const day = ((new Date().getUTCDate() + 9) % 28) + 1;
      const launcher = await trigger(payrun, "monthly", `{ every: month, on: ${day} }`);
      expect(await resultOf(payrun, launcher)).toMatch(
        /No run of monthly is due|The run of .* was missed/,
      );
      await keepHistory(payrun, launcher, "scheduled-nothing-begins");
      const { body } = await payrun.call<{ items: { id: string }[] }>(
        "launcher",
        "GET",
        "/v1/runs",
      );
      expect(body.items.filter(({ id }) => id.includes("/monthly/"))).toEqual([]);
    },
  );
});

describe("a dry plan", () => {
  test("a dry plan ends with the stored plan, or with the reason why there is none", async ({
    payrun,
  }) => {
    const plan = (name: string, text: string) =>
      payrun.call("launcher", "POST", "/v1/plans", { playbook: name, text });
    expect((await plan("dry", scenePlaybook("dry"))).status).toBe(200);
    const nowhere = scenePlaybook("dry", { pay: "{ on: next-business-day, from: no-account }" });
    const refused = await plan("dry-nowhere", nowhere);
    expect(refused.status).toBe(422);
    await keepHistory(payrun, await workflowOf(payrun, WORKFLOW.planDry, "dry/"), "plan-dry");
    await keepHistory(
      payrun,
      await workflowOf(payrun, WORKFLOW.planDry, "dry-nowhere/"),
      "plan-dry-fails",
    );
  });
});

describe("the retry of a failed payment", () => {
  test.runIf(isLong)(
    "a retry ends as cancelled if its new payment is cancelled at the service",
    async ({ payrun }) => {
      const { control } = payrun.sandbox;
      await payrun.apply("next-day", NEXT_DAY_RETRIES);
      const { runId, made } = await plannedScene(payrun, "called-off", [201_00], {
        more: ["onFailure: next-day"],
      });
      await failing(payrun, made[0], "R01");
      await approve(payrun, runId);
      await payrun.until(runId, "sent", ({ counts }) => counts.scheduled === 1);
      await control.advance("P8D");
      // The day of the retry is counted from when the failure was noticed.
      await payrun.until(runId, "given a day", ({ payments }) =>
        /Tried again on /.test(payments[0]?.reason ?? ""),
      );
      // The new payment stays in a state in which it can be cancelled.
      await control.outcome({ match: { payableId: made[0]?.id ?? "" }, outcome: "hold" });
      await control.advance("P4D");
      await payrun.until(runId, "paid again", ({ payments }) => payments[0]?.attempts === 2);
      await control.advance("PT1M");
      // An attempt is counted when its request is sent, before the payment exists.
      const payments = () => paymentsOf(payrun, made[0]);
      await expect.poll(payments).toHaveLength(2);
      const second = (await payments()).at(-1);
      const cancelled = await payrun.sandbox.api("POST", `/v1/payments/${second?.id}/cancel`, {
        key: crypto.randomUUID(),
        body: {},
      });
      expect(cancelled.status, cancelled.text).toBe(200);
      const retryId = retryFailedPaymentId("default", made[0]?.id ?? "");
      // An event after the end starts another execution, which says how the first one ended.
      expect(await resultOf(payrun, retryId)).toMatch(/(cancelled|refunded)$/);
      await keepHistory(payrun, retryId, "retry-cancelled");
      await control.advance("P10D");
      await expectBank(payrun, [[made[0], 0]]);
    },
  );

  test.runIf(isLong)(
    "the retry of a failed external payment reports it if a playbook says so, and pays nothing",
    async ({ payrun }) => {
      const [bill] = await bills(payrun.sandbox, [202_00]);
      if (bill === undefined) throw new Error("no bill");
      await payrun.apply(
        "retry-failed",
        "kind: retry-failed\nevents: [payable.payment.failed, payable.payment.reversed]\n",
      );
      await failing(payrun, bill, "R10");
      await pay(payrun, bill);
      await payrun.sandbox.control.advance("P9D");
      const retryId = retryFailedPaymentId("default", bill.id);
      const started = () =>
        payrun.temporal.workflow
          .getHandle(retryId)
          .describe()
          .then(
            ({ status }) => status.name,
            () => "not yet",
          );
      await expect.poll(started).toBe("COMPLETED");
      expect(await resultOf(payrun, retryId)).toMatch(/^people were notified/);
      await keepHistory(payrun, retryId, "retry-notifies-of-external-payment");
      expect(await paymentsOf(payrun, bill)).toHaveLength(1);
      await expectBank(payrun, [[bill, 0]]);
    },
  );
});

describe("the incident of an account", () => {
  test.beforeAll(({ payrun }) => applyIncidents(payrun));

  const id = fundingIncidentId("default", "balance");
  const holdOf = async (payrun: TestPayrun): Promise<string> => {
    const { body } = await payrun.call<{ items: { id: string; scope: string }[] }>(
      "operator",
      "GET",
      "/v1/holds",
    );
    return body.items.find(({ scope }) => scope === "source")?.id ?? "none";
  };
  const lift = async (payrun: TestPayrun, by: "operator" | "controller"): Promise<number> =>
    (await payrun.call(by, "DELETE", `/v1/holds/${await holdOf(payrun)}`)).status;

  test.runIf(isLong)(
    "an incident gives its bills back on a decision for another account, which stays on hold",
    async ({ payrun }) => {
      const { runId, made } = await bouncedScene(payrun, "elsewhere", [301_00]);
      expect((await decideIncident(payrun, "balance", "other-source")).status).toBe(200);
      expect(await resultOf(payrun, id)).toBe("other-source by controller");
      await keepHistory(payrun, id, "funding-incident-other-source");
      const done = await payrun.untilPhase(runId, "completed-with-exceptions");
      expect(lineOf(done, made[0])).toMatchObject({ state: "parked", reasonCode: "other_source" });
      const retryId = retryFailedPaymentId("default", made[0]?.id ?? "");
      expect(await resultOf(payrun, retryId)).toBe("left to the next run");
      await keepHistory(payrun, retryId, "retry-other-source");
      expect(await lift(payrun, "controller")).toBe(200);
      await expectBank(payrun, [[made[0], 0]]);
    },
  );

  test("releasing an incident's hold, which operators may not, pays its bills once", async ({
    payrun,
  }) => {
    const scene = await bouncedScene(payrun, "lifted", [302_00]);
    expect(await lift(payrun, "operator")).toBe(403);
    expect(await lift(payrun, "controller")).toBe(200);
    expect(await resultOf(payrun, id)).toBe("released by controller");
    await keepHistory(payrun, id, "funding-incident-hold-lifted");
    expect(standing(await settledAgain(payrun, scene))).toEqual({ settled: 1 });
    await expectBank(payrun, [[scene.made[0], 302_00]]);
  });
});
