import { once } from "node:events";
import { createServer, type Server } from "node:net";

/**
 * Below the ports that systems give to outgoing connections; such a connection could take a port
 * between two uses.
 */
const FIRST = 10_000;
const LAST = 32_000;
/** The process that has a block holds the block's first port. */
const BLOCK = 100;

let block: Promise<number> | undefined;
let given = 0;

/**
 * Returns a port on which nothing listens, and which no other test is given while this process
 * lives: a part may end and listen on it again.
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
  // Processes that begin together start their search at different blocks.
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

/** @returns undefined if another process already listens there */
async function listen(port: number): Promise<Server | undefined> {
  const server = createServer();
  const outcome = new Promise<Server | undefined>((resolve) => {
    server.once("listening", () => resolve(server));
    server.once("error", () => resolve(undefined));
  });
  server.listen(port, "127.0.0.1");
  return outcome;
}
