import { createServer } from "node:net";

import type { PortSetting } from "../../config.ts";
import { unavailable } from "../terminal/cli-error.ts";

/** How far to look for a free port beyond a default that is taken. */
const REACH = 200;

const HIGHEST = 65_535;

export interface PortWish {
  /** The name of the listening part, for messages. */
  readonly name: string;
  readonly setting: PortSetting;
  readonly variable: string;
  readonly host: string;
  /** Ports at these distances must be free as well. */
  readonly companions?: readonly number[];
}

/**
 * Finds a port to listen on: the port in the settings or the default; if the default is taken, the
 * next free one.
 *
 * @param said is called if another port replaces the default
 * @param taken ports promised to parts that don't listen yet; the found port is added
 * @throws {CliError} 4 if the port in the settings is taken
 */
export async function findPort(
  wish: PortWish,
  taken: Set<number>,
  said: (line: string) => void,
): Promise<number> {
  const { name, setting, variable } = wish;
  if (setting.port === 0) return claim(wish, await anyPort(wish, taken), taken);
  const last = setting.isSet ? setting.port : setting.port + REACH;
  for (let port = setting.port; port <= last; port += 1) {
    if (!(await isFree(wish, port, taken))) continue;
    if (port !== setting.port) {
      said(`port ${setting.port} is taken: the ${name} listens on ${port}`);
    }
    return claim(wish, port, taken);
  }
  throw unavailable(
    "port_taken",
    setting.isSet
      ? `port ${setting.port} for the ${name} (${variable}) is taken`
      : `no port from ${setting.port} to ${last} is free for the ${name}`,
    setting.isSet
      ? `Stop what listens there, or choose another ${variable}.`
      : `Set ${variable} to a port that is free.`,
  );
}

async function anyPort(wish: PortWish, taken: Set<number>): Promise<number> {
  for (let tries = 0; tries < REACH; tries += 1) {
    const port = await anyFreePort(wish.host);
    if (await isFree(wish, port, taken)) return port;
  }
  throw unavailable("port_taken", `no free port was found for the ${wish.name}`);
}

function claim(wish: PortWish, port: number, taken: Set<number>): number {
  for (const each of portsOf(wish, port)) taken.add(each);
  return port;
}

function portsOf({ companions = [] }: PortWish, port: number): number[] {
  return [port, ...companions.map((distance) => port + distance)];
}

async function isFree(wish: PortWish, port: number, taken: Set<number>): Promise<boolean> {
  for (const each of portsOf(wish, port)) {
    if (each > HIGHEST || taken.has(each) || !(await canListen(wish.host, each))) return false;
  }
  return true;
}

function canListen(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(true)));
  });
}

function anyFreePort(host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen({ host, port: 0 }, () => {
      const address = server.address();
      const port = typeof address === "object" && address !== null ? address.port : 0;
      server.close(() => resolve(port));
    });
  });
}
