import { execFileSync } from "node:child_process";
import { errors, Pool } from "undici";
import { describe, expect } from "vitest";
import type { ServiceOperation } from "../../src/sandbox/http/operation.ts";
import { documentedErrors } from "../../src/sandbox/openapi/responses.ts";
import { operations } from "../../src/sandbox/operations.ts";
import { isLong } from "../support/long.ts";
import type { TestSandbox } from "../support/sandbox.ts";
import { Dice, oddRequest, type OddRequest } from "./http/odd-requests.ts";
import { type Ids, makeIds } from "./http/registry.ts";
import { sharedSandboxTest } from "./sandbox-test.ts";

const requestCount = isLong ? 10_000 : 4_000;
const inFlight = 24;
/** How much the process may grow from the first half to the second: room for garbage only. */
const growthLimitBytes = 96 * 1_048_576;

// A sandbox that other tests have used may grow or shrink for reasons of its own.
const it = sharedSandboxTest({ fresh: true })
  .extend("ids", { scope: "file" }, ({ service }) => makeIds(service))
  .extend("pool", { scope: "file" }, ({ service }, { onCleanup }) => {
    // The service closes idle connections, perhaps just when a request is sent on one.
    const pool = new Pool(service.url, { connections: inFlight, keepAliveTimeout: 1 });
    onCleanup(() => pool.destroy());
    return pool;
  });

/** Returns what is wrong with a response; undefined if nothing is. */
function complaint(operation: ServiceOperation, status: number, text: string): string | undefined {
  if (status >= 500 || status < 200) return `it is a ${status}`;
  if (status === 204) return text === "" ? undefined : "a 204 has a body";
  const body = parsed(text);
  if (body === undefined) return "it is no JSON object";
  if (status < 300) {
    const { answer } = operation;
    if (answer.status !== status) return `${status} was not promised`;
    const problems = answer.status === 204 ? undefined : answer.body.safeParse(body).error;
    return problems === undefined ? undefined : `it breaks its schema: ${problems.message}`;
  }
  if (status < 400) return `it is a ${status}`;
  const isAuthError = body["statusCode"] === status && typeof body["message"] === "string";
  if (status === 401) return isAuthError ? undefined : "it lacks the shape of a 401";
  if (status === 403 && isAuthError) return undefined;
  const { error, message } = body;
  if (typeof error !== "string" || typeof message !== "string") return "it has another shape";
  // A body that a read ignores can still be too large for it.
  const isDocumented = status === 413 || documentedErrors(operation).get(status)?.includes(error);
  return isDocumented === true ? undefined : `${status} ${error} is not documented`;
}

function parsed(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

interface Answer {
  readonly status: number;
  readonly text: string;
}

/**
 * Sends a request, a second time if its socket fails: the service closes a connection that has sent
 * too much, perhaps just when the next request is on its way.
 */
async function send(pool: Pool, request: OddRequest): Promise<Answer> {
  return exchange(pool, request).catch((error: unknown) => {
    if (!(error instanceof errors.SocketError)) throw error;
    return exchange(pool, request);
  });
}

async function exchange(pool: Pool, request: OddRequest): Promise<Answer> {
  const { method, path, headers, body } = request;
  const answer = await pool.request({
    method: method as "GET",
    path,
    headers,
    ...(body !== undefined && { body }),
  });
  return { status: answer.statusCode, text: await answer.body.text() };
}

function residentBytes(sandbox: TestSandbox): number {
  return Number(execFileSync("ps", ["-o", "rss=", "-p", String(sandbox.pid)])) * 1_024;
}

describe("thousands of odd requests", () => {
  const seed = 20_261_121;
  const dice = new Dice(seed);
  const counts = new Map<number, number>();
  /** One example of each complaint. */
  const complaints = new Map<string, object>();

  async function sendMany(
    sandbox: TestSandbox,
    pool: Pool,
    ids: Ids,
    count: number,
  ): Promise<void> {
    let left = count;
    const worker = async () => {
      while (left > 0) {
        left -= 1;
        const operation = dice.pick(operations);
        // Deleting the known resources would leave the other requests nothing to break.
        const known = operation.method === "DELETE" ? {} : ids;
        const request = oddRequest(dice, operation, known, sandbox.business.token);
        const { status, text } = await send(pool, request);
        counts.set(status, (counts.get(status) ?? 0) + 1);
        const wrong = complaint(operation, status, text);
        if (wrong === undefined) continue;
        const { path, body } = request;
        const sent = { path, body: body?.toString().slice(0, 300), text: text.slice(0, 300) };
        complaints.set(`${operation.name}: ${wrong}`, sent);
      }
    };
    await Promise.all(Array.from({ length: inFlight }, worker));
  }

  it("an odd request gets a documented 4xx, or a valid response if it is valid; never a 5xx", async ({
    sandbox,
    pool,
    ids,
  }) => {
    await sendMany(sandbox, pool, ids, requestCount / 2);
    const halfway = residentBytes(sandbox);
    await sendMany(sandbox, pool, ids, requestCount / 2);
    expect(Object.fromEntries(complaints)).toEqual({});
    const refused = [...counts].filter(([status]) => status >= 400);
    expect(refused.reduce((sum, [, count]) => sum + count, 0)).toBeGreaterThan(requestCount / 3);
    expect([...counts.keys()]).toEqual(expect.arrayContaining([200, 201, 400, 401, 404, 413, 422]));
    expect(residentBytes(sandbox) - halfway).toBeLessThan(growthLimitBytes);
  });

  it("after thousands of odd requests the service still responds, its books in order", async ({
    sandbox,
  }) => {
    expect(await sandbox.control.health()).toMatchObject({ ok: true });
    expect((await sandbox.api("GET", "/v1/payments")).status).toBe(200);
  });
});
