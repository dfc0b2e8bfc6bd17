import { hostname } from "node:os";
import { describe, expect } from "vitest";
import type { Condition } from "../../src/api/conditions.ts";
import { freeze } from "../support/freeze.ts";
import { isLong } from "../support/long.ts";
import { payrunTest } from "../support/payrun-test.ts";
import type { TestPayrun } from "../support/payrun.ts";
import {
  expectSettledOnce,
  paymentRequests,
  paymentsOf,
  plannedScene,
  type Scene,
  untilEachHasPayments,
} from "../support/scene.ts";
import { approve } from "../support/stack.ts";

const test = payrunTest();

/** The drills of docs/operations.md that no other test covers, each as its row says. */
describe.runIf(isLong)("a drill:", () => {
  test.afterEach(({ payrun }) => payrun.recover());

  test("a frozen worker is named by its process and killed, and another pays the rest once", async ({
    payrun,
  }) => {
    const scene = await halfPaid(payrun, "frozen", 12);
    const [frozen] = payrun.workers;
    if (frozen === undefined) throw new Error("there is no worker to freeze");
    await freeze(payrun, frozen);
    await payrun.sandbox.control.faults([]);
    const silent = await condition(payrun, "no_worker", 60_000);
    expect(silent.text).toContain(`${hostname()}:${frozen.pid}`);
    expect(silent.remedy).toContain("payrun worker");
    // A frozen process reacts to no other signal.
    await payrun.killWorker(frozen);
    await payrun.startWorker();
    await gone(payrun, "no_worker");
    // Requests that were written but not sent show nowhere: their window must be over.
    await payrun.sandbox.control.advanceWire("PT9M");
    await expectSettledOnce(payrun, scene);
    await expectOnePaymentEach(payrun, scene);
  });

  test("missed webhooks are made up for from the list of deliveries, and reported", async ({
    payrun,
  }) => {
    const scene = await plannedScene(payrun, "silent", [10_00, 20_00]);
    await approve(payrun, scene.runId);
    await payrun.until(scene.runId, "sent", ({ counts }) => counts.scheduled === 2);
    await payrun.stopGateway();
    // The bank goes on; no gateway receives its events.
    await payrun.sandbox.control.advance("P7D");
    await payrun.startGateway();
    expect((await condition(payrun, "webhooks_missed", 60_000)).remedy).toContain(
      "reaches the gateway",
    );
    await expectSettledOnce(payrun, scene);
  });

  test("an upgrade while paying stops and starts workers and gateways without a second payment", async ({
    payrun,
  }) => {
    const before = await paymentRequests(payrun);
    const scene = await halfPaid(payrun, "upgraded", 60);
    await payrun.killWorkers("SIGTERM");
    await payrun.stopGateway("SIGTERM");
    const sent = (await paymentRequests(payrun)) - before;
    expect(sent).toBeLessThan(60);
    await payrun.sandbox.control.faults([]);
    await payrun.startGateway();
    await payrun.startWorker();
    await payrun.until(scene.runId, "paid", ({ counts }) => counts.scheduled === 60);
    // The stopped workers had the result of each of their requests.
    expect((await paymentRequests(payrun)) - before).toBe(60);
    await expectSettledOnce(payrun, scene);
    await expectOnePaymentEach(payrun, scene);
  });
});

/** Starts a run whose first payments are made while each answer is slow. */
async function halfPaid(payrun: TestPayrun, name: string, count: number): Promise<Scene> {
  const amounts = Array.from({ length: count }, (_, index) => (index + 1) * 1_00);
  const scene = await plannedScene(payrun, name, amounts);
  await payrun.sandbox.control.faults([
    { method: "POST", path: "/v1/payments", when: "after", effect: "delay", delayMs: 1_500 },
  ]);
  await approve(payrun, scene.runId);
  await untilEachHasPayments(payrun, [scene.made[0]], 1, 30_000);
  return scene;
}

async function conditions(payrun: TestPayrun): Promise<readonly Condition[]> {
  const { body } = await payrun.call<{ items: Condition[] }>("operator", "GET", "/v1/conditions");
  return body.items;
}

/** Waits for a condition that `payrun status`, `payrun doctor` and the alerts show. */
async function condition(
  payrun: TestPayrun,
  code: Condition["code"],
  timeout: number,
): Promise<Condition> {
  let found: Condition | undefined;
  await expect
    .poll(
      async () => (found = (await conditions(payrun)).find((each) => each.code === code))?.code,
      {
        timeout,
      },
    )
    .toBe(code);
  if (found === undefined) throw new Error(`${code} is not told of`);
  return found;
}

async function gone(payrun: TestPayrun, code: Condition["code"]): Promise<void> {
  const codes = async () => (await conditions(payrun)).map((each) => each.code);
  await expect.poll(codes).not.toContain(code);
}

async function expectOnePaymentEach(payrun: TestPayrun, { made }: Scene): Promise<void> {
  const payments = await Promise.all(made.map((bill) => paymentsOf(payrun, bill)));
  expect(payments.map(({ length }) => length)).toEqual(made.map(() => 1));
}
