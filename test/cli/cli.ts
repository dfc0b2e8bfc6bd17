import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";

import { onTestFinished } from "vitest";
import { machineEnv } from "../support/machine-env.ts";

export const MAIN = fileURLToPath(new URL("../../src/cli/main.ts", import.meta.url));

export interface CliResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** The one document on standard output. */
  readonly json: <T>() => T;
}

/** A folder of its own for one test. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "payrun-cli-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Makes a file as a store of a version with other tables, as far as it shows. @returns its path */
export function storeOfAnotherVersion(folder: string): string {
  const path = join(folder, "payrun.db");
  const file = new DatabaseSync(path);
  file.exec("create table payrun_schema (version text, made_at_ms bigint)");
  file.exec("insert into payrun_schema values ('of another day', 1)");
  file.close();
  return path;
}

/**
 * Runs the CLI as a process, off a terminal and with nothing of this machine's settings.
 *
 * @param options.cwd an empty folder unless given, so that no `.env` is read
 */
export function payrun(
  args: readonly string[],
  options: { readonly env?: Record<string, string>; readonly cwd?: string } = {},
): Promise<CliResult> {
  const cwd = options.cwd ?? temporaryFolder();
  const child = spawn(process.execPath, [MAIN, ...args], {
    cwd,
    env: { ...machineEnv(), PAYRUN_HOME: join(cwd, "home"), ...options.env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => (stdout += chunk));
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => (stderr += chunk));
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => {
      resolve({ code, stdout, stderr, json: <T>() => JSON.parse(stdout) as T });
    });
  });
}
