import { createHmac } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { Pool } from "undici";
import { gatewayPart } from "../../src/cli/parts/parts.ts";
import { Processes } from "../../src/cli/parts/processes.ts";
import { openStore } from "../../src/store/open.ts";
import { wholeNumber } from "../../test/support/arguments.ts";
import { freePort } from "../../test/support/free-port.ts";

const SECRET = "whsec_bench";
const BUSINESS = "biz_bench";
const SLOW_CONNECTIONS = 200;
const UPLOADS = 20;
/** Strangers connect from an address of their own. */
const STRANGERS = "127.0.0.2";
const TICK_MS = 10;

/**
 * Sends webhooks at a rate, whether or not earlier ones were answered: alone, then beside slow
 * connections and uploads without a token.
 */
export async function main(args: readonly string[]): Promise<void> {
  const options = {
    rate: { type: "string", default: "1000" },
    seconds: { type: "string", default: "60" },
  } as const;
  const { values } = parseArgs({ args: [...args], options });
  const rate = wholeNumber("rate", values.rate, 100);
  const seconds = wholeNumber("seconds", values.seconds, 1);
  const folder = await mkdtemp(join(tmpdir(), "payrun-bench-"));
  const processes = new Processes(join(folder, "logs"));
  const databaseUrl = `sqlite:${join(folder, "payrun.db")}`;
  try {
    await (await openStore(databaseUrl)).close();
    const port = await freePort();
    const env = {
      PATH: process.env["PATH"] ?? "",
      NODE_OPTIONS: "--disable-warning=ExperimentalWarning",
      PAYRUN_HOME: folder,
      PAYRUN_DATABASE_URL: databaseUrl,
      PAYRUN_GATEWAY_PORT: String(port),
      PAYMENTS_API_URL: "http://127.0.0.1:1",
      PAYMENTS_API_TOKEN: "none",
      PAYMENTS_BUSINESS_ID: BUSINESS,
      PAYMENTS_WEBHOOK_SECRETS: SECRET,
      TEMPORAL_ADDRESS: "127.0.0.1:1",
    };
    await processes.start(gatewayPart({ env }));
    await sent(port, "warm", rate, 3);
    const alone = await sent(port, "alone", rate, seconds);
    const stop = besiege(port);
    const beside = await sent(port, "beside", rate, seconds);
    stop();
    const kept = await keptOf(databaseUrl);
    const lost = [...alone.acknowledged, ...beside.acknowledged].filter((id) => !kept.has(id));
    const say = (name: string, { acknowledged, all, tookMs, p50Ms, p99Ms }: Sent): string =>
      `${name}: ${acknowledged.length} of ${all} acknowledged in ${(tookMs / 1000).toFixed(1)} s, ` +
      `median ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms\n`;
    process.stdout.write(
      say("alone", alone) +
        say("beside strangers", beside) +
        `${(beside.p99Ms / alone.p99Ms).toFixed(1)}x  p99 beside strangers, compared with alone\n` +
        `${lost.length} acknowledged and not in the store\n`,
    );
  } finally {
    await processes.stopAll();
    await rm(folder, { recursive: true, force: true });
  }
}

interface Sent {
  readonly acknowledged: readonly string[];
  readonly all: number;
  readonly tookMs: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/**
 * Sends the webhooks of one measurement. Each wait counts from when the webhook was due, so that a
 * stalled gateway shows in the figures.
 */
async function sent(port: number, name: string, rate: number, seconds: number): Promise<Sent> {
  const pool = new Pool(`http://127.0.0.1:${port}`, { connections: 200 });
  const acknowledged: string[] = [];
  const waitsMs: number[] = [];
  const all = rate * seconds;
  const startedMs = performance.now();
  const one = async (at: number): Promise<void> => {
    const id = `evt_${name}_${at}`;
    const body = eventOf(id, at);
    const headers = { "content-type": "application/json", "service-signature": signatureOf(body) };
    const path = "/webhooks/default";
    const answer = await pool.request({ method: "POST", path, headers, body }).catch(() => null);
    await answer?.body.dump();
    if (answer?.statusCode === 200) acknowledged.push(id);
    waitsMs.push(performance.now() - startedMs - (at * 1000) / rate);
  };
  const requests: Promise<void>[] = [];
  while (requests.length < all) {
    const due = Math.min(all, Math.floor(((performance.now() - startedMs) * rate) / 1000) + 1);
    while (requests.length < due) requests.push(one(requests.length));
    await sleep(TICK_MS);
  }
  await Promise.all(requests);
  const tookMs = performance.now() - startedMs;
  await pool.close();
  const sorted = waitsMs.toSorted((a, b) => a - b);
  const at = (part: number): number => sorted[Math.floor(sorted.length * part)] ?? 0;
  return { acknowledged, all, tookMs, p50Ms: at(0.5), p99Ms: at(0.99) };
}

function eventOf(id: string, at: number): string {
  const createdAt = "2026-11-20T12:00:00.000Z";
  const data = { object: "payable", id: `pay_${at}` };
  const sequence = String(at);
  return JSON.stringify({
    id,
    type: "payable.paid",
    sequence,
    createdAt,
    businessId: BUSINESS,
    data,
  });
}

function signatureOf(body: string): string {
  const t = Math.floor(Date.now() / 1000);
  return `t=${t},v1=${createHmac("sha256", SECRET).update(`${t}.${body}`).digest("hex")}`;
}

/**
 * Opens connections whose heads never end, and uploads bodies without a token; each comes again at
 * once.
 */
function besiege(port: number): () => void {
  const open = new Set<Socket>();
  let goesOn = true;
  const come = (begin: (socket: Socket) => void): void => {
    if (!goesOn) return;
    const socket = connect({ port, host: "127.0.0.1", localAddress: STRANGERS });
    open.add(socket);
    socket.on("error", () => undefined);
    socket.resume();
    socket.once("connect", () => begin(socket));
    socket.once("close", () => {
      open.delete(socket);
      setTimeout(() => come(begin), 100);
    });
  };
  for (let each = 0; each < SLOW_CONNECTIONS; each += 1) {
    come((socket) => {
      socket.write("POST /webhooks/default HTTP/1.1\r\nHost: gateway\r\n");
      const drip = setInterval(() => socket.write("x-slow: 1\r\n"), 1_000);
      socket.once("close", () => clearInterval(drip));
    });
  }
  const megabyte = Buffer.alloc(1_000_000, "x");
  for (let each = 0; each < UPLOADS; each += 1) {
    come((socket) => {
      socket.write(
        `POST /v1/plans HTTP/1.1\r\nHost: gateway\r\nContent-Length: ${megabyte.length}\r\n\r\n`,
      );
      socket.write(megabyte);
    });
  }
  return () => {
    goesOn = false;
    for (const socket of open) socket.destroy();
  };
}

async function keptOf(databaseUrl: string): Promise<ReadonlySet<string>> {
  const store = await openStore(databaseUrl);
  const rows = await store.db.selectFrom("inbox").select("event_id").execute();
  await store.close();
  return new Set(rows.map((row) => row.event_id));
}
