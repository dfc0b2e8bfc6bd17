import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { Pool } from "undici";
import { startSandbox, type TestSandbox } from "../../test/support/sandbox.ts";
import { UsageError, wholeNumber } from "../../test/support/arguments.ts";
import { cpuSeconds, load, quantile, type Send, type Stretch } from "./load.ts";
import { startPlainServer, WebhookCounter } from "./servers.ts";

const connections = 40;
/** As many bills as fit into the body of one reset. */
const bills = 15_000;
const eventTimeoutMs = 60_000;
const PARTS = ["reads", "payments", "webhooks", "large"];

/**
 * Measures the sandbox's speed beside that of a server that does nothing but answer: reads by
 * route, payments, webhooks, and the cost of 100,000 bills. The sandbox and its client are separate
 * processes.
 */
export async function main(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seconds: { type: "string", default: "3" },
      only: { type: "string", default: PARTS.join(",") },
    },
  });
  const forMs = wholeNumber("seconds", values.seconds, 1) * 1_000;
  const parts = partsOf(values.only);
  const plain = await startPlainServer();
  const sandbox = await startSandbox();
  try {
    const plainPool = new Pool(plain.url, { connections });
    await load(plainPool, plain.pid, get("/"), { forMs: forMs / 3 });
    const base = await load(plainPool, plain.pid, get("/"), { forMs });
    await plainPool.close();
    report("a plain node:http server", base, base);
    await sandbox.control.reset(billsFixture());
    const pool = new Pool(sandbox.url, { connections });
    if (parts.has("reads")) await measureReads(sandbox, pool, base, forMs);
    if (parts.has("payments")) await measurePayments(sandbox, pool, base, forMs);
    if (parts.has("webhooks")) await measureWebhooks(sandbox, pool);
    await pool.close();
    if (parts.has("large")) await measureLarge(sandbox);
  } finally {
    await sandbox.stop();
    await plain.stop();
  }
}

/** @throws {UsageError} */
function partsOf(text: string): ReadonlySet<string> {
  const parts = new Set(text.split(","));
  if ([...parts].some((part) => !PARTS.includes(part))) {
    throw new UsageError(`--only takes ${PARTS.join(", ")}, not “${text}”`);
  }
  if (parts.has("webhooks") && !parts.has("payments")) {
    throw new UsageError("--only: webhooks need the payments before them");
  }
  return parts;
}

function billsFixture(): Record<string, unknown> {
  const contacts = Array.from({ length: 50 }, (_, i) => ({
    id: `c${i}`,
    displayName: `Vendor ${i}`,
    bankAccount: { last4: "1234" },
  }));
  const payables = Array.from({ length: bills }, (_, i) => ({
    id: `b${i}`,
    contactId: `c${i % 50}`,
    totalAmountCents: 1_000 + i,
  }));
  return {
    businesses: [{ name: "Bench", balanceCents: 1_000_000_000, contacts, payables }],
  };
}

function get(path: string | ((index: number) => string), token?: string): Send {
  return async (pool, index) => {
    const { statusCode, body } = await pool.request({
      method: "GET",
      path: typeof path === "string" ? path : path(index),
      headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
    });
    await body.arrayBuffer();
    if (statusCode !== 200) throw new Error(`a read was answered ${statusCode}`);
  };
}

async function measureReads(
  sandbox: TestSandbox,
  pool: Pool,
  base: Stretch,
  forMs: number,
): Promise<void> {
  const { token } = sandbox.business;
  const routes: Record<string, (index: number) => string> = {
    "GET /v1/payables/{id}": (i) => `/v1/payables/b${i % bills}`,
    "GET /v1/contacts/{id}": (i) => `/v1/contacts/c${i % 50}`,
    "GET /v1/payments?payableId=": (i) => `/v1/payments?payableId=b${i % bills}`,
    "GET /v1/balance": () => "/v1/balance",
    "GET /v1/payables (25)": (i) => `/v1/payables?page=${1 + (i % 100)}`,
    "GET /v1/payables (100)": (i) => `/v1/payables?pageSize=100&page=${1 + (i % 100)}`,
  };
  for (const [name, path] of Object.entries(routes)) {
    report(name, await load(pool, sandbox.pid, get(path, token), { forMs }), base);
  }
}

async function measurePayments(
  sandbox: TestSandbox,
  pool: Pool,
  base: Stretch,
  forMs: number,
): Promise<void> {
  const { token } = sandbox.business;
  const send: Send = async (to, index) => {
    const { statusCode, body } = await to.request({
      method: "POST",
      path: "/v1/payments",
      headers: {
        authorization: `Bearer ${token}`,
        "content-type": "application/json",
        "idempotency-key": `bench-${index}`,
      },
      body: JSON.stringify({
        payableId: `b${index}`,
        paymentRail: "SERVICE",
        fundingSource: "balance",
      }),
    });
    const text = await body.text();
    if (statusCode !== 201) throw new Error(`a payment was answered ${statusCode} ${text}`);
  };
  report(
    "POST /v1/payments",
    await load(pool, sandbox.pid, send, { forMs: forMs * 3, count: bills }),
    base,
  );
}

/**
 * Settles in one leap of the clock what was paid, which makes an event of each payment, and
 * measures how the webhooks then arrive.
 */
async function measureWebhooks(sandbox: TestSandbox, pool: Pool): Promise<void> {
  const counter = await WebhookCounter.start();
  try {
    await sandbox.api("POST", "/v1/webhook-endpoints", { body: { url: counter.url } });
    const { body } = await sandbox.api<{ totalCount: number }>("GET", "/v1/payments?pageSize=1");
    const expected = body.totalCount;
    if (expected === 0) throw new Error("the webhooks need the payments before them");
    const leapAt = performance.now();
    await sandbox.control.advance("P7D");
    const leapSeconds = (performance.now() - leapAt) / 1_000;
    const cpuBefore = cpuSeconds(sandbox.pid);
    const seenBefore = counter.count;
    const drainAt = performance.now();
    while (counter.count < expected) {
      if (performance.now() - drainAt > eventTimeoutMs) {
        throw new Error(`${counter.count} of ${expected} webhooks have arrived in a minute`);
      }
      await sleep(20);
    }
    const seconds = (counter.lastAt - drainAt) / 1_000;
    const cpu = (cpuSeconds(sandbox.pid) ?? Number.NaN) - (cpuBefore ?? Number.NaN);
    const drained = expected - seenBefore;
    print(`settling by a leap of the clock ${rate(expected / leapSeconds)} payments/s`);
    print(
      `webhooks leaving                ${rate(drained / seconds)} events/s, ` +
        `${rate(drained / cpu)} a second of one core`,
    );
  } finally {
    await counter.stop();
  }
  await get("/v1/balance", sandbox.business.token)(pool, 0);
}

/** Measures the start and pages with 100,000 bills, if a fixture of that size can be generated. */
async function measureLarge(sandbox: TestSandbox): Promise<void> {
  const loadAt = performance.now();
  try {
    await sandbox.control.reset({ generate: { payables: 100_000, seed: 1 } });
  } catch {
    print("100,000 bills                   not measured: no fixture of that size can be generated");
    return;
  }
  print(`100,000 bills loaded in         ${millis(performance.now() - loadAt)}`);
  await sandbox.kill("SIGTERM");
  const startAt = performance.now();
  await sandbox.start(0);
  print(`  started in                    ${millis(performance.now() - startAt)}`);
  for (const query of ["", "&status=approved", "&search=a"]) {
    const tookMs: number[] = [];
    for (const page of [1, 10, 100, 500, 1_000]) {
      const path = `/v1/payables?pageSize=100&page=${page}${query}`;
      await sandbox.api("GET", path);
      const sentAt = performance.now();
      await sandbox.api("GET", path);
      tookMs.push(performance.now() - sentAt);
    }
    tookMs.sort((a, b) => a - b);
    const worst = millis(quantile(tookMs, 1));
    print(`  pages 1 to 1,000 ${query.padEnd(15)}at most ${worst}`);
  }
}

function report(name: string, stretch: Stretch, base: Stretch): void {
  const { perSecond, p50Ms, p99Ms, cores } = stretch;
  const share = (perSecond / base.perSecond).toFixed(2);
  const used =
    cores === undefined
      ? ""
      : `, ${cores.toFixed(2)} cores: ${rate(perSecond / cores).trim()} a second of one`;
  print(
    `${name.padEnd(32)}${rate(perSecond)}/s  ${share} of plain, ` +
      `p50 ${millis(p50Ms)}, p99 ${millis(p99Ms)}${used}`,
  );
}

function rate(perSecond: number): string {
  return Math.round(perSecond).toLocaleString("en-US").padStart(7);
}

function millis(ms: number): string {
  return `${ms.toFixed(ms < 100 ? 1 : 0)} ms`;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
