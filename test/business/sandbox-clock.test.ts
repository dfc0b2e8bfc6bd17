import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { SandboxClock } from "../../src/business/sandbox-clock.ts";

test("a clock reading that was delayed on its way says by how much the clock may be later by now", async () => {
  const server = createServer((_request, response) => {
    const at = new Date().toISOString();
    const answer = JSON.stringify({ bank: at, wire: at, scale: 1 });
    // As if the process were frozen before it reads the response.
    setTimeout(() => response.end(answer), 400);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    const { port } = server.address() as AddressInfo;
    const now = await new SandboxClock(`http://127.0.0.1:${port}`).now();
    const nowMs = Date.now();
    expect(now.serviceMs).toBeLessThanOrEqual(nowMs - 390);
    expect(now.serviceMs + now.serviceOffMs).toBeGreaterThanOrEqual(now.realMs);
  } finally {
    server.close();
  }
});

test.each(["9999-12-31T23:59:59Z", "0001-01-01T00:00:00Z", "3000-01-01T00:00:00Z"])(
  "a sandbox's clock of %s is not read, and says so",
  async (at) => {
    const answer = JSON.stringify({ bank: at, wire: "2026-11-23T14:00:00Z", scale: 1 });
    const server = createServer((_request, response) => response.end(answer));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    try {
      const { port } = server.address() as AddressInfo;
      const reading = new SandboxClock(`http://127.0.0.1:${port}`).now();
      await expect(reading).rejects.toThrow("not in a year from 1900 to 2999");
    } finally {
      server.close();
    }
  },
);

test("a sandbox's clock that isn't answered for is said in words that people read", async () => {
  const server = createServer(() => undefined);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    const { port } = server.address() as AddressInfo;
    const reading = new SandboxClock(`http://127.0.0.1:${port}`).now();
    await expect(reading).rejects.toThrow("GET /sandbox/clock: no answer within 5000 ms");
  } finally {
    server.closeAllConnections();
    server.close();
  }
}, 30_000);
