import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test, vi } from "vitest";
import { typed } from "../gateway/support/typed.ts";

/** A sandbox whose clocks read so. */
async function sandboxAt(bank: string, scale: number): Promise<number> {
  const server = createServer((_, response) => {
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ bank, wire: "2026-11-27T15:00:00.000Z", scale }));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

/** `sandbox clock`, at the sandbox of this port. */
function clockAt(port: number) {
  vi.stubEnv("PAYRUN_SANDBOX_PORT", String(port));
  onTestFinished(() => void vi.unstubAllEnvs());
  return typed({ url: "http://127.0.0.1:1" }, "t", ["sandbox", "clock"]);
}

test("a sandbox's clock is told with its year, and how to have it go in real time again", async () => {
  const { stdout } = await clockAt(await sandboxAt("2028-01-14T12:54:00.000Z", 43_200));
  expect(stdout).toContain("Bank clock: Fri, Jan 14, 7:54 AM New York, 2028; 43200 s pass in each");
  expect(stdout).toMatch(/each second, until .*payrun sandbox clock --scale 1\n/);
});

test("a sandbox's clock that goes in real time is said to", async () => {
  const { stdout } = await clockAt(await sandboxAt("2026-11-27T10:08:00.000Z", 1));
  expect(stdout).toBe("Bank clock: Fri, Nov 27, 5:08 AM New York, 2026; it goes in real time\n");
});

test("where no sandbox listens, the setting that names another port is named", async () => {
  const { code, stderr } = await clockAt(1);
  expect(code).toBe(4);
  expect(stderr).toContain("the sandbox at http://127.0.0.1:1 does not answer");
  expect(stderr).toContain("PAYRUN_SANDBOX_PORT names the port of another");
});
