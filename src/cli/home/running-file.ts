import { rmSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";

import type { Config, TemporalSettings } from "../../config.ts";
import { bindTokens } from "./people.ts";
import { readJsonIfThere, writePrivate } from "./private-file.ts";

const shape = z.object({
  pid: z.int(),
  gatewayUrl: z.string(),
  /** `host:port` of the Temporal server in use. */
  temporal: z.string(),
  sandboxUrl: z.string().nullable(),
  startedAt: z.string(),
});

/** The addresses of what `up` or the demo has started, for commands in other terminals. */
export type RunningFile = z.infer<typeof shape>;

const pathIn = (home: string) => join(home, "running.json");

/** Returns what is running in this home; undefined if nothing is. */
export function readRunning(home: string): RunningFile | undefined {
  const parsed = shape.safeParse(readJsonIfThere(pathIn(home)));
  return parsed.success && isAlive(parsed.data.pid) ? parsed.data : undefined;
}

/** Returns how to reach the Temporal server: the one in the settings, otherwise this home's. */
export function temporalOf({ temporal, home }: Config): TemporalSettings["connectionOptions"] {
  const address = temporal.isExternal ? undefined : readRunning(home)?.temporal;
  const { connectionOptions } = temporal;
  return address === undefined ? connectionOptions : { ...connectionOptions, address };
}

export function writeRunning(
  home: string,
  {
    gateway,
    temporal,
    sandbox,
  }: { readonly gateway: string; readonly temporal: string; readonly sandbox: string | null },
): void {
  const startedAt = new Date().toISOString();
  const running: RunningFile = {
    pid: process.pid,
    gatewayUrl: gateway,
    temporal,
    sandboxUrl: sandbox,
    startedAt,
  };
  writePrivate(pathIn(home), `${JSON.stringify(running, null, 2)}\n`);
  bindTokens(home, gateway);
}

export function removeRunning(home: string): void {
  rmSync(pathIn(home), { force: true });
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}
