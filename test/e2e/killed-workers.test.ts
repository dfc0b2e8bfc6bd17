import { DatabaseSync } from "node:sqlite";
import { expect } from "vitest";
import { retryFailedPaymentId } from "../../src/contracts/workflow-kinds.ts";
import { applyIncidents, bouncedScene, decideIncident, settledAgain } from "../support/bounced.ts";
import { type Bill, bills } from "../support/bills.ts";
import {
  askToCancel,
  cancelKeys,
  hasEnded,
  heldByProvider,
  paymentNow,
  scheduledBill,
  untilCancellation,
} from "../support/cancellations.ts";
import { dieAt, once, slow, untilAtWork, untilIs, untilWritten } from "../support/deaths.ts";
import { isLong } from "../support/long.ts";
import { getRetryByWorkflowId } from "../../src/store/retries/retries.ts";
import { keepHistory } from "../support/keep-history.ts";
import { NEXT_DAY_RETRIES } from "../support/next-day-retries.ts";
import { runsOf, scheduleOf, sinceLastWeek, untilLaunchers } from "../support/launchers.ts";
import { payrunTest } from "../support/payrun-test.ts";
import type { TestPayrun } from "../support/payrun.ts";
import { expectBank, paymentsOf, plannedScene, scenePlaybook, standing } from "../support/scene.ts";
import { approve } from "../support/stack.ts";

const test = payrunTest();
test.afterEach(async ({ payrun }) => {
  await payrun.recover();
});

const PAY = "/v1/payments";
const RETRY = "/v1/payables/*/retry-payment";

test("a pay run pays each bill once, whenever its worker dies", async ({ payrun }) => {
  const name = "killed-run";
  const { control } = payrun.sandbox;
  const made = await bills(payrun.sandbox, [110_00, 120_00], { description: name });
  await payrun.apply(name, scenePlaybook(name));
  const launched = once(() => payrun.launch(name));
  const approved = once(async () => {
    await payrun.untilPhase(await launched(), "awaiting-approval");
    await approve(payrun, await launched());
  });
  const settled = once(async () => {
    await approved();
    await payrun.until(await launched(), "sent", ({ counts }) => counts.scheduled === 2);
    if (isLong) await control.faults([slow("GET", PAY, "before")]);
    await control.advance("P10D");
  });
  await dieAt(payrun, [
    {
      when: "while it reads what to plan",
      faults: [slow("GET", "/v1/payables", "before")],
      begin: launched,
      reached: async () => untilAtWork(payrun, await launched(), "planRun"),
    },
    {
      when: "after a request was written, and before it has arrived",
      faults: [slow("POST", PAY, "before")],
      begin: approved,
      reached: async () => untilWritten(payrun, await launched()),
    },
    {
      when: "between the service's answer and its record",
      inShort: true,
      faults: [slow("POST", PAY, "after"), slow("POST", PAY, "after")],
      begin: approved,
      reached: () => untilPayments(payrun, made, 1),
    },
    {
      when: "while it reads what has settled",
      begin: settled,
      reached: async () => untilAtWork(payrun, await launched(), "followPayments"),
    },
  ]);
  await settled();
  const runId = await launched();
  const done = await payrun.untilPhase(runId, "completed");
  expect(standing(done)).toEqual({ settled: 2 });
  await keepHistory(payrun, runId, "pay-run-worker-killed");
  expect((await Promise.all(made.map((bill) => paymentsOf(payrun, bill)))).map(length)).toEqual([
    1, 1,
  ]);
  await expectBank(
    payrun,
    made.map((bill) => [bill, bill.amountCents]),
  );
});

test("a failed payment is paid again once, whenever its worker dies", async ({ payrun }) => {
  const { control } = payrun.sandbox;
  await payrun.apply("next-day", NEXT_DAY_RETRIES);
  const { runId, made } = await plannedScene(payrun, "killed-retry", [210_00], {
    more: ["onFailure: next-day"],
  });
  const [bill] = made;
  const retryId = retryFailedPaymentId("default", bill?.id ?? "");
  const match = { payableId: bill?.id ?? "" };
  await control.outcome({ match, outcome: "fail", code: "R09", times: 1 });
  const failed = once(async () => {
    await approve(payrun, runId);
    await payrun.until(runId, "sent", ({ counts }) => counts.scheduled === 1);
    // A worker that noticed the failure on a day within the leap would pay again at its end.
    await payrun.killWorkers();
    await control.advance("P8D");
    await payrun.startWorker();
    await payrun.until(runId, "handed over", ({ counts }) => counts.retrying === 1);
  });
  const waiting = async () => untilIs(() => phaseOfRetry(payrun, retryId), "waiting");
  const due = once(async () => {
    await failed();
    // The day of the retry is counted from when the failure was noticed.
    await waiting();
    await control.advance("P4D");
  });
  const settled = once(async () => {
    await due();
    await untilIs(() => phaseOfRetry(payrun, retryId), "following");
    // The run reads the payments too.
    if (isLong) await control.faults([slow("GET", PAY, "before"), slow("GET", PAY, "before")]);
    await control.advance("P10D");
  });
  await dieAt(payrun, [
    {
      when: "while it waits for the day of the retry",
      begin: failed,
      reached: waiting,
    },
    {
      when: "between the service's answer and its record",
      inShort: true,
      faults: [slow("POST", RETRY, "after")],
      begin: due,
      reached: () => untilPayments(payrun, made, 2),
    },
    {
      when: "while it reads what became of it",
      begin: settled,
      reached: () => untilAtWork(payrun, retryId, "reviewFailedPayment"),
    },
  ]);
  await settled();
  expect(standing(await payrun.untilPhase(runId, "completed"))).toEqual({ settled: 1 });
  expect(await payrun.temporal.workflow.getHandle(retryId).result()).toBe("settled");
  await keepHistory(payrun, retryId, "retry-worker-killed");
  expect(await paymentsOf(payrun, bill)).toHaveLength(2);
  await expectBank(payrun, [[bill, 210_00]]);
});

test("payments are cancelled once and their refunds followed, whenever the worker dies", async ({
  payrun,
}) => {
  const { control } = payrun.sandbox;
  const returning = await heldByProvider(payrun, 301_00);
  const sent = await scheduledBill(payrun, 302_00);
  const asked = once(() => askToCancel(payrun, [sent.paymentId, returning.paymentId]));
  const following = async () =>
    untilCancellation(payrun, await asked(), "following", ({ phase }) => phase === "following");
  await dieAt(payrun, [
    {
      when: "while it chooses",
      faults: [slow("GET", "/v1/payments/*", "before")],
      begin: asked,
      reached: async () => untilAtWork(payrun, await asked(), "choosePayments"),
    },
    {
      when: "between the service's answer and its record",
      inShort: true,
      faults: [slow("POST", `/v1/payments/${sent.paymentId}/cancel`, "after")],
      begin: asked,
      reached: () =>
        untilIs(async () => (await paymentNow(payrun, sent.paymentId)).status, "cancelled"),
    },
    { when: "while the money is on its way back", begin: asked, reached: following },
  ]);
  await following();
  await control.advance("P14D");
  const done = await untilCancellation(payrun, await asked(), "ended", hasEnded);
  expect(done.counts).toEqual({ cancelled: 1, refunded: 1 });
  await keepHistory(payrun, await asked(), "cancel-scheduled-worker-killed");
  for (const { paymentId } of [sent, returning]) {
    expect(new Set(await cancelKeys(payrun, paymentId)).size).toBe(1);
  }
  await expectBank(payrun, [
    [sent.bill, 0],
    [returning.bill, 0],
  ]);
});

test("the run of a schedule is launched once, whenever the worker of its launcher dies", async ({
  payrun,
}) => {
  const made = new Map<string, Bill>();
  const prepare = async (name: string): Promise<void> => {
    const [bill] = await bills(payrun.sandbox, [410_00], { description: name });
    if (bill !== undefined) made.set(name, bill);
    await payrun.apply(name, scenePlaybook(name, { more: ["schedule: { every: day }"] }));
    await sinceLastWeek(payrun, name);
  };
  let lock: DatabaseSync | undefined;
  await dieAt(payrun, [
    {
      when: "before the launcher has begun",
      begin: async () => {
        await payrun.killWorkers("SIGKILL");
        await prepare("launcher-unborn");
        await scheduleOf(payrun, "launcher-unborn").trigger();
      },
      reached: () => untilLaunchers(payrun, "launcher-unborn"),
    },
    {
      when: "while it writes the run down",
      inShort: true,
      begin: async () => {
        await prepare("launcher-writes");
        lock = new DatabaseSync(payrun.databaseUrl.replace(/^sqlite:/, ""), { timeout: 60_000 });
        lock.exec("begin immediate");
        await scheduleOf(payrun, "launcher-writes").trigger();
      },
      reached: async () => {
        const [id = ""] = await untilLaunchers(payrun, "launcher-writes");
        await untilAtWork(payrun, id, "launchRun");
      },
      over: () => lock?.close(),
    },
    {
      when: "as soon as the run is in the store",
      begin: async () => {
        await prepare("launcher-wrote");
        await scheduleOf(payrun, "launcher-wrote").trigger();
      },
      reached: () => untilIs(async () => (await runsOf(payrun, "launcher-wrote")).length, 1, 5),
    },
  ]);
  // All launchers are checked before the sandbox's days pass, since runs are named by date.
  for (const name of made.keys()) {
    const [launcher = "", ...others] = await untilLaunchers(payrun, name);
    expect(others).toEqual([]);
    const told = await payrun.temporal.workflow.getHandle(launcher).result();
    const [runId, ...more] = await runsOf(payrun, name);
    expect(more).toEqual([]);
    expect(told).toContain(runId);
    if (name === "launcher-writes") await keepHistory(payrun, launcher, "scheduled-worker-killed");
    await scheduleOf(payrun, name).delete();
  }
  for (const [name, bill] of made) {
    const [runId = ""] = await runsOf(payrun, name);
    await payrun.untilPhase(runId, "awaiting-approval");
    await approve(payrun, runId);
    await payrun.until(runId, "sent", ({ counts }) => counts.scheduled === 1);
    await payrun.sandbox.control.advance("P10D");
    await payrun.untilPhase(runId, "completed");
    expect(await runsOf(payrun, name)).toEqual([runId]);
    await expectBank(payrun, [[bill, bill.amountCents]]);
  }
});

/** The last test, because it pauses the account for every run. */
test("bills of an account that bounced are each paid again once, whenever the worker dies", async ({
  payrun,
}) => {
  await applyIncidents(payrun);
  const scene = await bouncedScene(payrun, "killed-incident", [510_00, 520_00]);
  const decided = once(() => decideIncident(payrun, "balance", "released"));
  await dieAt(payrun, [
    {
      when: "while it waits for the decision",
      begin: () => Promise.resolve(),
      reached: () => Promise.resolve(),
    },
    {
      when: "after the decision, before anything of it has arrived",
      faults: [slow("POST", RETRY, "before")],
      begin: decided,
      reached: () => untilWritten(payrun, retryFailedPaymentId("default", scene.made[0]?.id ?? "")),
    },
    {
      when: "between the service's answer and its record",
      inShort: true,
      faults: [slow("POST", RETRY, "after"), slow("POST", RETRY, "after")],
      begin: decided,
      reached: () => untilPayments(payrun, scene.made, 2),
    },
  ]);
  expect((await decided()).status).toBe(200);
  expect(standing(await settledAgain(payrun, scene))).toEqual({ settled: 2 });
  await keepHistory(payrun, "funding-incident/default/balance", "funding-incident-worker-killed");
  await expectBank(
    payrun,
    scene.made.map((bill) => [bill, bill.amountCents]),
  );
});

function length(list: readonly unknown[]): number {
  return list.length;
}

async function phaseOfRetry(payrun: TestPayrun, retryId: string): Promise<string | undefined> {
  return (await getRetryByWorkflowId(payrun.store.db, retryId))?.phase;
}

/** Waits until the service has this many payments of one of the bills. */
async function untilPayments(
  payrun: TestPayrun,
  made: readonly { readonly id: string }[],
  many: number,
) {
  const most = async (): Promise<number> => {
    const lists = await Promise.all(
      made.map(async ({ id }) => {
        const path = `/v1/payments?payableId=${id}`;
        const { body } = await payrun.sandbox.api<{ items: unknown[] }>("GET", path);
        return body.items.length;
      }),
    );
    return Math.max(...lists);
  };
  await expect.poll(most, { interval: 50 }).toBe(many);
}
