import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";

import { describe, expect, onTestFinished, test } from "vitest";

import { findPort } from "../../../src/cli/parts/ports.ts";

async function takenPort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

const wish = { name: "gateway", variable: "PAYRUN_GATEWAY_PORT", host: "127.0.0.1" };

describe("ports", () => {
  test("a taken default port is replaced by the next free one, with a message", async () => {
    const port = await takenPort();
    const said: string[] = [];
    const setting = { port, isSet: false };
    const found = await findPort({ ...wish, setting }, new Set(), (line) => said.push(line));
    expect(found).toBeGreaterThan(port);
    expect(said).toEqual([`port ${port} is taken: the gateway listens on ${found}`]);
  });

  test("a configured port that is taken is an error that exits 4 and names the setting", async () => {
    const port = await takenPort();
    const setting = { port, isSet: true };
    await expect(findPort({ ...wish, setting }, new Set(), () => {})).rejects.toMatchObject({
      exitCode: 4,
      message: `port ${port} for the gateway (PAYRUN_GATEWAY_PORT) is taken`,
    });
  });

  test("a port that is promised to one part, companions included, is not promised to another", async () => {
    const setting = { port: await takenPort(), isSet: false };
    const promised = new Set<number>();
    const first = await findPort({ ...wish, setting, companions: [1] }, promised, () => {});
    const second = await findPort({ ...wish, setting }, promised, () => {});
    expect([first, first + 1]).not.toContain(second);
  });

  test("port 0 takes any free port", async () => {
    const setting = { port: 0, isSet: true };
    expect(await findPort({ ...wish, setting }, new Set(), () => {})).toBeGreaterThan(0);
  });
});
