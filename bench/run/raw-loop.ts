import { Pool } from "undici";
import { amountCents, RAIL } from "./stub-book.ts";

/**
 * The figures with which a run is compared: the same requests, as fast as they go, with nothing
 * stored.
 */
export interface RawFigures {
  readonly wholeMs: number;
  readonly cpuMs: number;
}

const IN_FLIGHT = 80;
const PAGE = 100;

/**
 * Reads a business's bills and vendors by page, pays each bill, and reads all payments by page
 * until they have settled: 80 requests in flight all the time, nothing stored.
 */
export async function rawLoop(url: string, token: string, bills: number): Promise<RawFigures> {
  const pool = new Pool(url, { connections: IN_FLIGHT, pipelining: 1 });
  const headers = { authorization: `Bearer ${token}`, accept: "application/json" };
  const ask = async (path: string): Promise<{ items: { id: string; status?: string }[] }> => {
    const { body } = await pool.request({ method: "GET", path, headers });
    return (await body.json()) as { items: { id: string; status?: string }[] };
  };
  const pages = (path: string, count: number): (() => Promise<string[]>)[] =>
    Array.from({ length: Math.ceil(count / PAGE) }, (_, index) => async () => {
      const { items } = await ask(`${path}?page=${index + 1}&pageSize=${PAGE}`);
      return items.filter(({ status }) => status !== "scheduled").map(({ id }) => id);
    });
  const cpuBefore = process.cpuUsage();
  const startedMs = performance.now();
  await ask("/v1/funding-sources");
  await ask("/v1/payments?page=1&pageSize=100");
  const known = await inFlight(pages("/v1/payables", bills));
  await inFlight(pages("/v1/contacts", Math.ceil(bills / 10)));
  await inFlight(
    known.flat().map((payableId, index) => async () => {
      const { statusCode, body } = await pool.request({
        method: "POST",
        path: "/v1/payments",
        headers: { ...headers, "content-type": "application/json", "idempotency-key": payableId },
        body: JSON.stringify({
          payableId,
          amountCents: amountCents(Number(payableId.slice(5))),
          scheduledAt: "2030-01-02",
          clearing: "STANDARD",
          paymentRail: RAIL,
          bankAccountId: "ba_1",
          achAuthorizationAccepted: true,
        }),
      });
      await body.json();
      if (statusCode !== 201) throw new Error(`payment ${index} was answered with ${statusCode}`);
    }),
  );
  const settled = (await inFlight(pages("/v1/payments", bills))).flat();
  const wholeMs = performance.now() - startedMs;
  const cpu = process.cpuUsage(cpuBefore);
  await pool.close();
  if (settled.length !== bills) throw new Error(`${settled.length} of ${bills} payments settled`);
  return { wholeMs, cpuMs: (cpu.user + cpu.system) / 1_000 };
}

async function inFlight<T>(work: readonly (() => Promise<T>)[]): Promise<T[]> {
  const results: T[] = [];
  let next = 0;
  const lane = async (): Promise<void> => {
    for (let index = next++; index < work.length; index = next++) {
      const task = work[index];
      if (task !== undefined) results[index] = await task();
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, lane));
  return results;
}
