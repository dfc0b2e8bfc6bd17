import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect } from "vitest";
import { runPage } from "../../src/contracts/console-pages.ts";
import { addDays } from "../../src/domain/clock/dates.ts";
import { newYorkDate } from "../../src/domain/clock/new-york.ts";
import { fundingIncidentId, retryFailedPaymentId } from "../../src/contracts/workflow-kinds.ts";
import { applyIncidents, bouncedScene, incidents, settledAgain } from "../support/bounced.ts";
import {
  askToCancel,
  cancelKeys,
  heldByProvider,
  untilCancellation,
} from "../support/cancellations.ts";
import { bills } from "../support/bills.ts";
import { NEXT_DAY_RETRIES } from "../support/next-day-retries.ts";
import {
  ended,
  expectBank,
  paymentsOf,
  plannedScene,
  scenePlaybook,
  standing,
} from "../support/scene.ts";
import { approve } from "../support/stack.ts";
import {
  isPaused,
  pauseActivity,
  resetEverywhere,
  unpauseActivity,
} from "../support/temporal-ui.ts";
import { isLong } from "../support/long.ts";
import { payrunTest } from "../support/payrun-test.ts";

const test = payrunTest({ janitorEveryMs: 1_000 });
test.beforeAll(async ({ payrun }) => {
  await applyIncidents(payrun);
  await payrun.apply("next-day", NEXT_DAY_RETRIES);
});
test.afterEach(async ({ payrun }) => {
  await payrun.sandbox.control.faults([]);
});

describe("resetting a workflow to any of its tasks", () => {
  test("a run that has paid and is then reset does nothing twice", async ({ payrun }) => {
    const { runId, made } = await plannedScene(payrun, "reset", [100_00, 200_00]);
    await approve(payrun, runId);
    await payrun.until(runId, "sent", ({ counts }) => counts.scheduled === 2);
    await resetEverywhere(payrun, runId);
    const done = await ended(payrun, runId);
    expect(standing(done)).toEqual({ settled: 2 });
    expect(done.payments.map(({ attempts }) => attempts)).toEqual([1, 1]);
    await expectBank(
      payrun,
      made.map((bill) => [bill, bill.amountCents]),
    );
  });

  test.runIf(isLong)(
    "a retry that has paid again and is then reset does nothing twice",
    async ({ payrun }) => {
      const { control } = payrun.sandbox;
      const more = ["onFailure: next-day"];
      const { runId, made } = await plannedScene(payrun, "reset-retry", [300_00], { more });
      const [bill] = made;
      const match = { payableId: bill?.id ?? "" };
      const retryId = retryFailedPaymentId("default", match.payableId);
      await control.outcome({ match, outcome: "fail", code: "R09", times: 1 });
      await approve(payrun, runId);
      await payrun.until(runId, "sent", ({ counts }) => counts.scheduled === 1);
      await control.advance("P8D");
      await payrun.until(runId, "handed over", ({ counts }) => counts.retrying === 1);
      await expect
        .poll(
          async () => {
            await control.advance("P1D");
            return (await paymentsOf(payrun, bill)).length;
          },
          { interval: 2_000 },
        )
        .toBe(2);
      await resetEverywhere(payrun, retryId);
      const done = await ended(payrun, runId);
      expect(standing(done)).toEqual({ settled: 1 });
      expect(await paymentsOf(payrun, bill)).toHaveLength(2);
      await expectBank(payrun, [[bill, bill?.amountCents ?? 0]]);
    },
  );

  test("a cancellation that is reset during its refund does nothing twice", async ({ payrun }) => {
    const { bill, paymentId } = await heldByProvider(payrun, 101_00);
    const id = await askToCancel(payrun, [paymentId]);
    await untilCancellation(payrun, id, "following", ({ phase }) => phase === "following");
    await resetEverywhere(payrun, id);
    await payrun.sandbox.control.advance("P14D");
    const done = await untilCancellation(payrun, id, "ended", ({ phase }) => phase === "completed");
    expect(done.counts).toEqual({ refunded: 1 });
    expect(await cancelKeys(payrun, paymentId)).toHaveLength(1);
    await expectBank(payrun, [[bill, 0]]);
  });
});

test("the saved views of docs/temporal.md find a waiting run, and its details say how to decide", async ({
  payrun,
}) => {
  const text = readFileSync(new URL("../../docs/temporal.md", import.meta.url), "utf8");
  const views = [...text.matchAll(/^temporal workflow list --query '(.+)'$/gm)].map(
    ([, query = ""]) => query,
  );
  expect(views).toHaveLength(4);
  const { runId } = await plannedScene(payrun, "views", [100_00]);
  // The page's example days are replaced by the week around today, and the run's period.
  const today = newYorkDate(Date.now());
  const days = [
    ["2026-11-23", addDays(today, -1)],
    ["2026-11-30", addDays(today, 6)],
    ["2026-11-26", runId.split("/").at(-1)],
  ];
  for (const view of views) {
    const query = days.reduce((said, [day = "", here = ""]) => said.replaceAll(day, here), view);
    const found = async (): Promise<string[]> => {
      const ids: string[] = [];
      for await (const { workflowId } of payrun.temporal.workflow.list({ query })) {
        ids.push(workflowId);
      }
      return ids;
    };
    await expect.poll(found, { message: query }).toContain(runId);
  }
  const handle = payrun.temporal.workflow.getHandle(runId);
  const shown = await handle.query<{ currentDetails?: string }>("__temporal_workflow_metadata");
  expect(shown.currentDetails).toContain(`${runPage(runId)})`);
  expect(shown.currentDetails).toMatch(/Waits for: 1 bill waiting for approval by controller/);
  expect(shown.currentDetails).toMatch(/Decide by \w+, /);
  expect(shown.currentDetails).toContain(`\`payrun approve ${runId}\``);
  await payrun.call("operator", "POST", `/v1/runs/${encodeURIComponent(runId)}/cancel`, {});
});

describe("pausing an activity", () => {
  test("pausing the paying activity loses no bill and pays none twice: the next one continues", async ({
    payrun,
  }) => {
    const amounts = Array.from({ length: 30 }, (_, index) => 10_00 + index);
    const { runId, made } = await plannedScene(payrun, "paused-paying", amounts);
    await payrun.sandbox.control.faults([
      { method: "POST", path: "/v1/payments", when: "after", effect: "delay", delayMs: 3_000 },
    ]);
    await approve(payrun, runId);
    await payrun.until(runId, "paying", ({ counts }) => (counts.paying ?? 0) > 0);
    await pauseActivity(payrun, runId, "payBills");
    await payrun.sandbox.control.faults([]);
    const done = await ended(payrun, runId);
    expect(standing(done)).toEqual({ settled: amounts.length });
    await expectBank(
      payrun,
      made.map((bill) => [bill, bill.amountCents]),
    );
  });

  test.runIf(isLong)(
    "a paused activity that can't read the service is tried again only after it is unpaused",
    async ({ payrun }) => {
      await payrun.sandbox.control.faults([
        { method: "GET", path: "/v1/payables", when: "before", effect: "status", status: 503 },
      ]);
      const name = "paused-plan";
      await bills(payrun.sandbox, [100_00], { description: name });
      await payrun.apply(name, scenePlaybook(name));
      const runId = await payrun.launch(name);
      await expect
        .poll(() => pauseActivity(payrun, runId, "planRun").then(() => "paused", String))
        .toBe("paused");
      // The try under way continues until it has failed.
      await expect.poll(() => isPaused(payrun, runId)).toBe(true);
      await payrun.sandbox.control.faults([]);
      const phase = async () => (await payrun.status(runId)).phase;
      // Without the pause it would have been tried several times by then.
      await sleep(15_000);
      expect(await phase()).toBe("planning");
      await unpauseActivity(payrun, runId, "planRun");
      await expect.poll(phase).toBe("awaiting-approval");
    },
  );
});

test.runIf(isLong)(
  "an incident that is reset to any of its tasks is decided once",
  async ({ payrun }) => {
    const scene = await bouncedScene(payrun, "reset-incident", [110_00, 120_00]);
    const [incident] = await incidents(payrun);
    const source = incident?.source ?? "";
    await resetEverywhere(payrun, fundingIncidentId("default", source));
    const said = { decision: "released", reason: "the bank shows the money" };
    const path = `/v1/incidents/${source}/decision`;
    expect((await payrun.call("controller", "POST", path, said)).status).toBe(200);
    const done = await settledAgain(payrun, scene);
    expect(standing(done)).toEqual({ settled: 2 });
    for (const bill of scene.made) expect(await paymentsOf(payrun, bill)).toHaveLength(2);
  },
);
