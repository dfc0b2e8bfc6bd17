import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect } from "vitest";
import { freeze } from "../support/freeze.ts";
import type { TestPayrun } from "../support/payrun.ts";
import {
  expectBank,
  expectSettledOnce,
  lineOf,
  paymentsOf,
  plannedScene,
  type Scene,
  scenePlaybook,
  untilEachHasPayments,
} from "../support/scene.ts";
import { approve } from "../support/stack.ts";
import { isLong } from "../support/long.ts";
import { payrunTest } from "../support/payrun-test.ts";
import { until } from "../support/waits.ts";

const test = payrunTest();
test.afterEach(async ({ payrun }) => {
  await payrun.recover();
});

async function keysOf(payrun: TestPayrun, scene: Scene): Promise<string[]> {
  const requests = await payrun.sandbox.control.requests();
  const rows = await payrun.store.db
    .selectFrom("attempts")
    .select("idempotency_key")
    .where(
      "subject",
      "in",
      scene.made.map(({ id }) => id),
    )
    .orderBy("seq")
    .execute();
  const keys = rows.map((row) => row.idempotency_key);
  const sent = new Set(requests.map(({ key }) => key));
  return keys.filter((key) => sent.has(key));
}

/** Returns how many requests that pay were sent for the scene's bills. */
async function sendsOf(payrun: TestPayrun, { made }: Scene): Promise<number> {
  const ids = made.map(({ id }) => id);
  const sends = payrun.store.db.selectFrom("sends").select("send_id").where("subject", "in", ids);
  return (await sends.execute()).length;
}

describe("an unanswered payment", () => {
  test.runIf(isLong)(
    "an unanswered payment is sent under a new key only after its window, if none is found",
    async ({ payrun }) => {
      const { control } = payrun.sandbox;
      const scene = await plannedScene(payrun, "never-applied", [110_00]);
      // The request is claimed and dies: the key is used up, and nothing is paid.
      await control.faults([
        {
          method: "POST",
          path: "/v1/payments",
          when: "during",
          effect: "status",
          status: 500,
          times: 1,
        },
      ]);
      await approve(payrun, scene.runId);
      await payrun.until(scene.runId, "unknown", ({ counts }) => counts.unknown === 1);
      await sleep(3_000);
      expect(await paymentsOf(payrun, scene.made[0])).toEqual([]);
      expect(await keysOf(payrun, scene)).toHaveLength(1);
      await control.advanceWire("PT9M");
      await payrun.until(scene.runId, "paid", ({ counts }) => counts.scheduled === 1);
      expect(await keysOf(payrun, scene)).toHaveLength(2);
      await expectSettledOnce(payrun, scene);
    },
  );

  test.runIf(isLong)(
    "a payment whose answers are all 500 is found by its lookup",
    async ({ payrun }) => {
      const { control } = payrun.sandbox;
      const scene = await plannedScene(payrun, "applied-500", [120_00]);
      await control.faults([
        { method: "POST", path: "/v1/payments", when: "after", effect: "status", status: 500 },
      ]);
      await approve(payrun, scene.runId);
      await payrun.until(scene.runId, "found", ({ counts }) => counts.scheduled === 1);
      expect(await keysOf(payrun, scene)).toHaveLength(1);
      await control.faults([]);
      await expectSettledOnce(payrun, scene);
    },
  );

  test.runIf(isLong)(
    "a payment keeps its key through six minutes of errors before it is accepted",
    async ({ payrun }) => {
      const { control } = payrun.sandbox;
      const scene = await plannedScene(payrun, "long-outage", [130_00]);
      await control.faults([
        { method: "POST", path: "/v1/payments", when: "before", effect: "status", status: 503 },
      ]);
      await approve(payrun, scene.runId);
      await payrun.until(scene.runId, "unknown", ({ counts }) => counts.unknown === 1);
      await control.advanceWire("PT6M");
      const sent = await sendsOf(payrun, scene);
      await until(
        () => sendsOf(payrun, scene),
        (now) => now > sent,
      );
      await control.faults([]);
      await control.advanceWire("PT1M");
      await payrun.until(scene.runId, "paid", ({ counts }) => counts.scheduled === 1);
      expect(await keysOf(payrun, scene)).toHaveLength(1);
      await expectSettledOnce(payrun, scene);
    },
  );

  test.runIf(isLong)(
    "an unanswered payment is looked up in spite of a hold, and paid only after the release",
    async ({ payrun }) => {
      const { control } = payrun.sandbox;
      const scene = await plannedScene(payrun, "held-unknown", [140_00]);
      const [bill] = scene.made;
      await control.faults([
        { method: "POST", path: "/v1/payments", when: "before", effect: "status", status: 500 },
      ]);
      await approve(payrun, scene.runId);
      await payrun.until(scene.runId, "unknown", ({ counts }) => counts.unknown === 1);
      const hold = await payrun.call<{ id: string }>("operator", "POST", "/v1/holds", {
        payableId: bill?.id,
        reason: "let me see",
      });
      await control.faults([]);
      await control.advanceWire("PT1M");
      await sleep(2_500);
      expect(await paymentsOf(payrun, bill)).toEqual([]);
      await control.advanceWire("PT9M");
      await payrun.until(scene.runId, "on hold", ({ counts }) => counts["on-hold"] === 1);
      expect(await paymentsOf(payrun, bill)).toEqual([]);
      await payrun.call("operator", "DELETE", `/v1/holds/${hold.body.id}`);
      await expectSettledOnce(payrun, scene);
    },
  );

  test("an unanswered payment of which only a part shows is parked, and a person can resolve it", async ({
    payrun,
  }) => {
    const { control } = payrun.sandbox;
    const scene = await plannedScene(payrun, "part-of-split", [150_000_00]);
    const [bill] = scene.made;
    await control.faults([
      { method: "POST", path: "/v1/payments", when: "during", effect: "partial", times: 1 },
    ]);
    await approve(payrun, scene.runId);
    await payrun.until(scene.runId, "unknown", ({ counts }) => counts.unknown === 1);
    await control.advanceWire("PT9M");
    const parked = await payrun.until(
      scene.runId,
      "parked",
      (status) => lineOf(status, bill).state === "parked",
    );
    expect(lineOf(parked, bill).reasonCode).toBe("unaccounted");
    expect(await paymentsOf(payrun, bill)).toHaveLength(1);
    // Another run must not plan it before a person has said what happened to it.
    await payrun.apply("part-again", scenePlaybook("part-of-split"));
    const again = await payrun.launch("part-again");
    const planned = await payrun.until(again, "planned", ({ phase }) => phase !== "planning");
    expect(planned.payments.map(({ payableId }) => payableId)).not.toContain(bill?.id);
    const resolved = await payrun.call("operator", "POST", `/v1/payables/${bill?.id}/resolution`, {
      action: "paid-elsewhere",
      reason: "the rest went by wire",
    });
    expect(resolved.status, JSON.stringify(resolved.body)).toBe(200);
    const done = await payrun.status(scene.runId);
    expect(lineOf(done, bill).state).toBe("paid-elsewhere");
    expect(await paymentsOf(payrun, bill)).toHaveLength(1);
  });

  test.runIf(isLong)(
    "a refused payment that a person corrects is paid once, under the same key or the next",
    async ({ payrun }) => {
      const { control } = payrun.sandbox;
      const scene = await plannedScene(payrun, "refused", [160_00]);
      const [bill] = scene.made;
      await control.faults([
        {
          method: "POST",
          path: "/v1/payments",
          when: "before",
          effect: "status",
          status: 422,
          times: 1,
        },
      ]);
      await approve(payrun, scene.runId);
      const refused = await payrun.until(
        scene.runId,
        "refused",
        // A refusal without a known code may have been sent again with the same bytes by now.
        ({ counts }) => (counts.parked ?? counts.unknown ?? counts.scheduled ?? 0) > 0,
      );
      if (lineOf(refused, bill).state === "parked") {
        const body = { action: "retry", reason: "corrected" };
        const path = `/v1/payables/${bill?.id}/resolution`;
        expect((await payrun.call("operator", "POST", path, body)).status).toBe(200);
      } else {
        await control.advanceWire("PT1M");
      }
      await control.setScale(43_200);
      await payrun.until(
        scene.runId,
        "settled after all",
        (status) => lineOf(status, bill).state === "settled",
      );
      await control.setScale(1);
      expect(await paymentsOf(payrun, bill)).toHaveLength(1);
      await expectBank(payrun, [[bill, 160_00]]);
    },
  );
});

describe("a worker that freezes while paying", () => {
  test.runIf(isLong)(
    "a worker that freezes while paying and wakes up after its work was taken over pays nothing twice",
    async ({ payrun }) => {
      const { control } = payrun.sandbox;
      const amounts = Array.from({ length: 30 }, (_, index) => (index + 1) * 1_00);
      const scene = await plannedScene(payrun, "frozen", amounts);
      await control.faults([
        { method: "POST", path: "/v1/payments", when: "after", effect: "delay", delayMs: 700 },
      ]);
      const [frozen] = payrun.workers;
      if (frozen === undefined) throw new Error("there is no worker to freeze");
      await approve(payrun, scene.runId);
      await untilEachHasPayments(payrun, [scene.made[0]], 1, 30_000);
      await freeze(payrun, frozen);
      try {
        await control.faults([]);
        await payrun.startWorker();
        const isTaken = ({ state }: { state: string }) => ["scheduled", "unknown"].includes(state);
        await payrun.until(scene.runId, "taken over", ({ payments }) => payments.every(isTaken));
        // Requests that were written but not sent show nowhere: their window must be over.
        await control.advanceWire("PT9M");
        await payrun.until(scene.runId, "paid", ({ counts }) => counts.scheduled === 30);
      } finally {
        frozen.kill("SIGCONT");
      }
      await sleep(2_000);
      await expectSettledOnce(payrun, scene);
      const payments = await Promise.all(scene.made.map((bill) => paymentsOf(payrun, bill)));
      expect(payments.map(({ length }) => length)).toEqual(scene.made.map(() => 1));
    },
  );
});
