import { once } from "node:events";
import { createServer, type Server } from "node:net";

/** Below the ports that systems give to outgoing connections, which would take one in between. */
const FIRST = 10_000;
const LAST = 32_000;
/** The first port of a block is held by the process that has the block. */
const BLOCK = 100;

let block: Promise<number> | undefined;
let given = 0;

/**
 * A port that nobody listens on, and that no other test is given while this process lives: a part
 * may end and listen on it again.
 */
export async function freePort(): Promise<number> {
  const first = await (block ??= takeBlock());
  for (let tries = 1; tries < BLOCK; tries += 1) {
    given = (given % (BLOCK - 1)) + 1;
    const probe = await listen(first + given);
    if (probe === undefined) continue;
    probe.close();
    await once(probe, "close");
    return first + given;
  }
  throw new Error(`no port from ${first} to ${first + BLOCK - 1} is free`);
}

async function takeBlock(): Promise<number> {
  const blocks = (LAST - FIRST) / BLOCK;
  // Processes that begin together look in different places.
  const offset = process.pid % blocks;
  for (let index = 0; index < blocks; index += 1) {
    const first = FIRST + ((offset + index) % blocks) * BLOCK;
    const holder = await listen(first);
    if (holder === undefined) continue;
    holder.unref();
    return first;
  }
  throw new Error(`no block of ports from ${FIRST} to ${LAST} is free`);
}

/** @returns nothing if somebody listens there already */
async function listen(port: number): Promise<Server | undefined> {
  const server = createServer();
  const outcome = new Promise<Server | undefined>((resolve) => {
    server.once("listening", () => resolve(server));
    server.once("error", () => resolve(undefined));
  });
  server.listen(port, "127.0.0.1");
  return outcome;
}
