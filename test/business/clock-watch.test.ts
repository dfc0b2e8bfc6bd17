import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Clocks } from "../../src/business/clocks.ts";
import type { BusinessProfile } from "../../src/config/business-profile.ts";
import type { Repeated } from "../../src/process/repeat.ts";
import type { Store } from "../../src/store/index.ts";
import { openStore } from "../../src/store/open.ts";
import {
  deletePendingSignals,
  oldestPendingSignals,
} from "../../src/store/signals/pending-signals.ts";
import { upsertRun } from "../../src/store/runs/runs.ts";
import { startClockWatch } from "../../src/worker/clock-watch.ts";
import { newRun } from "../store/fixtures.ts";
import { temporaryFolder } from "../store/support.ts";

/** A service's clocks; they go on by themselves from `sinceMs`. */
const service = { bankMs: 0, wireMs: 0, scale: 1, sinceMs: 0, isThere: true, asked: 0 };

function advance(change: { bankMs?: number; wireMs?: number; scale?: number }): void {
  const elapsedMs = Date.now() - service.sinceMs;
  service.bankMs += elapsedMs * service.scale + (change.bankMs ?? 0);
  service.wireMs += elapsedMs + (change.wireMs ?? 0);
  service.scale = change.scale ?? service.scale;
  service.sinceMs = Date.now();
}

let server: Server;
let store: Store;
let profile: BusinessProfile;
let watch: Repeated | undefined;
const logged: string[] = [];
const EVERY_MS = 250;

beforeEach(async () => {
  const nowMs = Date.now();
  Object.assign(service, { bankMs: nowMs, wireMs: nowMs, scale: 1, sinceMs: nowMs, isThere: true });
  server = createServer((_request, response) => {
    service.asked += 1;
    if (!service.isThere) return void response.writeHead(404).end("{}");
    advance({});
    const { bankMs, wireMs, scale } = service;
    const [bank, wire] = [bankMs, wireMs].map((ms) => new Date(ms).toISOString());
    response.end(JSON.stringify({ bank, wire, scale }));
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  profile = {
    ...{ name: "acme", businessId: "biz_1", webhookSecrets: [], sandbox: true },
    apiUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    token: { kind: "value", value: "token" },
  };
  store = await openStore(`sqlite:${temporaryFolder()}/payrun.db`);
  logged.length = 0;
});
afterEach(async () => {
  await watch?.stop();
  await store.close();
  server.close();
  server.closeAllConnections();
});

function begin(): void {
  const clocks = new Clocks();
  watch = startClockWatch({
    store,
    profiles: { all: () => [profile] },
    log: { info: (message) => logged.push(message) },
    clockOf: () => clocks.of(profile),
    everyMs: EVERY_MS,
  });
}

/** Returns the workflows signaled within this many looks, once for each signal. */
async function toldWithin(looks: number): Promise<string[]> {
  // The result of a look is there before the next look begins.
  const until = service.asked + looks + 1;
  await expect.poll(() => service.asked).toBeGreaterThanOrEqual(until);
  return take();
}

/** Returns the first workflows that are signaled, once for each signal. */
async function told(): Promise<string[]> {
  await expect.poll(() => oldestPendingSignals(store.db, 1)).not.toEqual([]);
  return take();
}

async function take(): Promise<string[]> {
  const pendingSignals = await oldestPendingSignals(store.db, 100);
  await deletePendingSignals(store.db, pendingSignals);
  return pendingSignals.map(({ workflowId }) => workflowId);
}

test.each([
  ["the bank's clock is stepped", { bankMs: 3_600_000 }],
  ["the wire's clock is stepped", { wireMs: 600_000 }],
  ["the bank's clock runs at another speed", { scale: 60 }],
])("open workflows are signaled once if %s, and not otherwise", async (_what, change) => {
  const { runId } = await upsertRun(store.db, newRun());
  await upsertRun(store.db, newRun({ businessId: "biz_2", period: "2026-11-12" }));
  begin();
  // What happened before the watch began is unknown.
  expect(await told()).toEqual([runId]);
  expect(await toldWithin(3)).toEqual([]);
  advance(change);
  expect(await told()).toEqual([runId]);
  expect(await toldWithin(3)).toEqual([]);
});

test("a clock that always runs fast causes no further signals", async () => {
  await upsertRun(store.db, newRun());
  service.scale = 86_400;
  begin();
  expect(await told()).toHaveLength(1);
  expect(await toldWithin(4)).toEqual([]);
});

test("a service without a clock is logged once, and the clock of a real business is not read", async () => {
  const { runId } = await upsertRun(store.db, newRun());
  service.isThere = false;
  begin();
  await expect.poll(() => logged).toEqual(["the sandbox's clock can't be watched"]);
  expect(await toldWithin(3)).toEqual([]);
  expect(logged).toHaveLength(1);
  service.isThere = true;
  expect(await told()).toEqual([runId]);
  await watch?.stop();
  profile = { ...profile, sandbox: false };
  const { asked } = service;
  begin();
  await sleep(3 * EVERY_MS);
  expect(service.asked).toBe(asked);
  expect(await take()).toEqual([]);
});
