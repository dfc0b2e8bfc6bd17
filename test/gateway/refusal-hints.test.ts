import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { typed } from "./support/typed.ts";

/** Starts a gateway that answers every request with a 503 of this error code. */
async function gatewayThatSays(error: string): Promise<{ url: string }> {
  const server = createServer((_, response) => {
    response
      .writeHead(503, { "content-type": "application/json" })
      .end(JSON.stringify({ error, message: "It can't be done." }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

test.each([
  ["Temporal can't be reached", "temporal_unreachable", true],
  ["the service can't be reached", "service_unreachable", true],
  ["the service refuses the token", "api_unavailable", false],
  ["an encryption key is missing", "encryption_keys_missing", false],
])(
  "if %s (%s), the hint that “payrun up” starts what is missing is shown: %s",
  async (_what, code, isSaid) => {
    const { code: exit, stderr } = await typed(await gatewayThatSays(code), "t", [
      "schedule",
      "list",
    ]);
    expect(exit).toBe(4);
    expect(stderr.includes("payrun up")).toBe(isSaid);
  },
);
