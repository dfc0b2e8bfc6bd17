import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect } from "vitest";
import type { TestPayrun } from "../support/payrun.ts";
import { approve } from "../support/stack.ts";
import {
  ended,
  expectBank,
  lineOf,
  paymentRequests,
  plannedScene,
  type Scene,
  standing,
} from "../support/scene.ts";
import { isLong } from "../support/long.ts";
import { payrunTest } from "../support/payrun-test.ts";

const test = payrunTest({ tokenFile: true });
test.afterEach(async ({ payrun }) => {
  await payrun.recover();
});

const READ_SCOPES = [
  "payments:read",
  "payables:read",
  "bank-accounts:read",
  "balance:read",
  "contacts:read",
  "webhooks:read",
];

function amounts(count: number): number[] {
  return Array.from({ length: count }, (_, index) => (index + 1) * 10_00);
}

async function expectAllSettled(payrun: TestPayrun, scene: Scene): Promise<void> {
  const done = await ended(payrun, scene.runId);
  expect(standing(done)).toEqual({ settled: scene.made.length });
  await expectBank(
    payrun,
    scene.made.map((bill) => [bill, bill.amountCents]),
  );
}

describe("a fault of the whole business", () => {
  test.runIf(isLong)(
    "locked payments are one wait that the status shows, and the run continues when unlocked",
    async ({ payrun }) => {
      const { control } = payrun.sandbox;
      const scene = await plannedScene(payrun, "locked", amounts(4));
      await control.changeBusiness({ paymentsLocked: true });
      const before = await paymentRequests(payrun);
      await approve(payrun, scene.runId);
      const waiting = await payrun.until(scene.runId, "waiting", ({ waitingFor }) =>
        /locked/i.test(waitingFor ?? ""),
      );
      expect(waiting.phase).toBe("paying");
      expect(standing(waiting)).toEqual({ planned: 4 });
      // Time for several tries, each of which may cost one request.
      await control.advanceWire("PT11M");
      await sleep(2_500);
      expect((await paymentRequests(payrun)) - before).toBeLessThanOrEqual(4 + 2);
      await control.changeBusiness({ paymentsLocked: false });
      await control.advanceWire("PT11M");
      await expectAllSettled(payrun, scene);
    },
  );

  test.runIf(isLong)(
    "a 429 pauses everything for as long as the service asks, and nothing fails",
    async ({ payrun }) => {
      const { control } = payrun.sandbox;
      const scene = await plannedScene(payrun, "rate-limited", amounts(4));
      await control.faults([
        {
          method: "POST",
          path: "/v1/payments",
          when: "before",
          effect: "status",
          status: 429,
          retryAfter: 4,
          times: 4,
        },
      ]);
      await approve(payrun, scene.runId);
      const waiting = await payrun.until(scene.runId, "waiting", ({ waitingFor }) =>
        /slow down/.test(waitingFor ?? ""),
      );
      expect(standing(waiting)).toEqual({ planned: 4 });
      await expectAllSettled(payrun, scene);
      const sent = (await control.requests()).filter(
        ({ method, path }) => method === "POST" && path === "/v1/payments",
      );
      const refusedAt = sent.filter(({ status }) => status === 429).map(({ at }) => Date.parse(at));
      const lastRefusedMs = Math.max(...refusedAt);
      const later = sent.map(({ at }) => Date.parse(at)).filter((atMs) => atMs > lastRefusedMs);
      expect(Math.min(...later) - lastRefusedMs).toBeGreaterThanOrEqual(3_000);
    },
  );

  test.runIf(isLong)(
    "an expired token is reported, and a renewed one in its file is used without a restart",
    async ({ payrun }) => {
      const { control } = payrun.sandbox;
      const scene = await plannedScene(payrun, "expired-token", amounts(3));
      await control.advanceWire("PT2H");
      await approve(payrun, scene.runId);
      await payrun.until(scene.runId, "told of the token", ({ waitingFor }) =>
        /token/i.test(waitingFor ?? ""),
      );
      const token = await control.token(undefined, { expiresInSeconds: 86_400 });
      payrun.sandbox.business.token = token;
      await payrun.writeToken(token);
      await control.advanceWire("PT11M");
      await expectAllSettled(payrun, scene);
    },
  );

  test.runIf(isLong)(
    "a token without the scope to pay is reported, and the right one pays everything once",
    async ({ payrun }) => {
      const { control } = payrun.sandbox;
      const scene = await plannedScene(payrun, "forbidden", amounts(3));
      await payrun.writeToken(
        await control.token(undefined, { scopes: READ_SCOPES, expiresInSeconds: 86_400 }),
      );
      await approve(payrun, scene.runId);
      await payrun.until(scene.runId, "told of the scope", ({ waitingFor }) =>
        /payments:initiate/.test(waitingFor ?? ""),
      );
      await payrun.writeToken(payrun.sandbox.business.token);
      await control.advanceWire("PT11M");
      await expectAllSettled(payrun, scene);
    },
  );

  test.runIf(isLong)(
    "a service that dies while paying is waited for, and nothing is paid twice",
    async ({ payrun }) => {
      const { control } = payrun.sandbox;
      const scene = await plannedScene(payrun, "service-down", amounts(12));
      await control.faults([
        { method: "POST", path: "/v1/payments", when: "after", effect: "delay", delayMs: 400 },
      ]);
      await approve(payrun, scene.runId);
      await expect
        .poll(() => payrun.sandbox.api("GET", "/v1/payments?status=scheduled"))
        .toMatchObject({ body: { totalCount: expect.toSatisfy((count: number) => count > 2) } });
      await payrun.sandbox.restart("SIGKILL");
      await control.faults([]);
      await pastEveryWindow(payrun, scene.runId);
      await expectAllSettled(payrun, scene);
    },
  );
});

/**
 * Advances the service clock past the window of each unanswered key. A line may be sent again after
 * a step, which begins a new window.
 */
async function pastEveryWindow(payrun: TestPayrun, runId: string): Promise<void> {
  for (let steps = 0; steps < 8; steps += 1) {
    await sleep(2_000);
    const { counts } = await payrun.status(runId);
    if (counts.unknown === undefined && counts.paying === undefined) return;
    await payrun.sandbox.control.advanceWire("PT6M");
  }
}

describe("a balance that is short", () => {
  const AMOUNTS = [100_00, 200_00, 400_00];

  async function shortOf(payrun: TestPayrun, name: string, whenShort: string): Promise<Scene> {
    await payrun.sandbox.control.changeBusiness({ balanceCents: 350_00 });
    const scene = await plannedScene(payrun, name, AMOUNTS, {
      pay: `{ on: next-business-day, whenShort: ${whenShort} }`,
    });
    await approve(payrun, scene.runId);
    return scene;
  }

  test.runIf(isLong)(
    "a short run pays the most urgent bills first, and the rest when more money has arrived",
    async ({ payrun }) => {
      const scene = await shortOf(payrun, "short-first", "most-urgent-first");
      const waiting = await payrun.until(
        scene.runId,
        "partly paid",
        ({ counts, waitingFor }) =>
          counts.scheduled === 2 && counts.planned === 1 && /money/.test(waitingFor ?? ""),
      );
      expect(lineOf(waiting, scene.made[2])).toMatchObject({ reasonCode: "funding_short" });
      await payrun.sandbox.control.changeBusiness({ balanceCents: 1_000_00 });
      await expectAllSettled(payrun, scene);
    },
  );

  test.runIf(isLong)(
    "a short run waits with all bills if the playbook says wait",
    async ({ payrun }) => {
      const scene = await shortOf(payrun, "short-wait", "wait");
      await payrun.until(
        scene.runId,
        "short",
        (status) => lineOf(status, scene.made[0]).reasonCode === "funding_short",
      );
      expect(standing(await payrun.status(scene.runId))).toEqual({ planned: 3 });
      await payrun.sandbox.control.changeBusiness({ balanceCents: 1_000_00 });
      await expectAllSettled(payrun, scene);
    },
  );

  test.runIf(isLong)(
    "a short run parks all bills if the playbook says stop, and a person's retry pays one",
    async ({ payrun }) => {
      const scene = await shortOf(payrun, "short-stop", "stop");
      const done = await ended(payrun, scene.runId);
      expect(standing(done)).toEqual({ parked: 3 });
      expect(lineOf(done, scene.made[0]).reason).toMatch(/\$350\.00 left/);
      await expectBank(
        payrun,
        scene.made.map((bill) => [bill, 0]),
      );
      await payrun.sandbox.control.changeBusiness({ balanceCents: 1_000_00 });
      const path = `/v1/payables/${scene.made[2]?.id}/resolution`;
      const body = { action: "retry", reason: "money is in" };
      expect((await payrun.call("operator", "POST", path, body)).status).toBe(200);
      await payrun.sandbox.control.setScale(43_200);
      await payrun.until(
        scene.runId,
        "settled after all",
        (status) => lineOf(status, scene.made[2]).state === "settled",
      );
      await expectBank(payrun, [
        [scene.made[0], 0],
        [scene.made[2], 400_00],
      ]);
    },
  );
});
