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
