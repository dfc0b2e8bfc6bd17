import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test, vi } from "vitest";
import { typed } from "../gateway/support/typed.ts";

/** Starts a server that answers as a sandbox with this bank clock and scale. @returns its port */
async function sandboxAt(bank: string, scale: number): Promise<number> {
  const server = createServer((_, response) => {
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ bank, wire: "2026-11-27T15:00:00.000Z", scale }));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

/** Runs `sandbox clock` with the sandbox at this port. */
function clockAt(port: number) {
  vi.stubEnv("PAYRUN_SANDBOX_PORT", String(port));
  onTestFinished(() => void vi.unstubAllEnvs());
  return typed({ url: "http://127.0.0.1:1" }, "t", ["sandbox", "clock"]);
}

test("sandbox clock prints the year, and how to make a fast clock go in real time again", async () => {
  const { stdout } = await clockAt(await sandboxAt("2028-01-14T12:54:00.000Z", 43_200));
  expect(stdout).toContain("Bank clock: Fri, Jan 14, 7:54 AM New York, 2028; 43200 s pass in each");
  expect(stdout).toMatch(/each second, until .*payrun sandbox clock --scale 1\n/);
});

test("sandbox clock says that a clock of scale 1 goes in real time", async () => {
  const { stdout } = await clockAt(await sandboxAt("2026-11-27T10:08:00.000Z", 1));
  expect(stdout).toBe("Bank clock: Fri, Nov 27, 5:08 AM New York, 2026; it goes in real time\n");
});

test("sandbox clock without a sandbox exits 4 and names the setting of the port", async () => {
  const { code, stderr } = await clockAt(1);
  expect(code).toBe(4);
  expect(stderr).toContain("the sandbox at http://127.0.0.1:1 does not answer");
  expect(stderr).toContain("PAYRUN_SANDBOX_PORT names the port of another");
});
