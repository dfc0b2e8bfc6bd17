import { readdirSync, readFileSync } from "node:fs";

import { expect, vi } from "vitest";

import { findTemporalCli } from "../../scripts/setup/temporal-cli.mjs";
import { machineEnv } from "../support/machine-env.ts";
import { PATIENCE_MS } from "../support/waits.ts";

/** Returns settings with free ports, because this machine's default ports may be taken. */
export async function stackSettings(home: string): Promise<Record<string, string>> {
  const { path } = await findTemporalCli({ env: process.env, log: () => {} });
  return {
    ...machineEnv(),
    PAYRUN_HOME: home,
    PAYRUN_GATEWAY_PORT: "0",
    PAYRUN_SANDBOX_PORT: "0",
    PAYRUN_TEMPORAL_PORT: "0",
    TEMPORAL_CLI: path,
  };
}

/** Returns the ids of the processes that name the folder: the parts of its stack. */
export function processesOf(folder: string): string[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((pid) => {
      try {
        const command = readFileSync(`/proc/${pid}/cmdline`, "utf8");
        return command.includes(folder) || readFileSync(`/proc/${pid}/environ`).includes(folder);
      } catch {
        return false;
      }
    });
}

export async function untilNoneIsLeft(folder: string): Promise<void> {
  await vi.waitFor(() => expect(processesOf(folder)).toEqual([]), {
    timeout: PATIENCE_MS,
    interval: 100,
  });
}
