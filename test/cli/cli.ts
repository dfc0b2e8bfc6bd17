import { type ChildProcess, fork, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";

import { onTestFinished } from "vitest";
import { machineEnv } from "../support/machine-env.ts";

export const MAIN = fileURLToPath(new URL("../../src/cli/main.ts", import.meta.url));

const HOST = fileURLToPath(new URL("children/command-host.ts", import.meta.url));

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

/** What a command is run with. */
export interface CommandLine {
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

interface Where {
  readonly env?: Record<string, string>;
  /** An empty folder unless given, so that no `.env` is read. */
  readonly cwd?: string;
}

/** These start processes, or take signals: each runs in a process of its own. */
const PARTS: readonly (string | undefined)[] = ["up", "demo", "worker", "gateway", "sandbox"];

/** Processes that have loaded the CLI, and that no command runs in now. */
const idleHosts: ChildProcess[] = [];

/**
 * Runs the CLI in another process, off a terminal and with nothing of this machine's settings.
 * Commands that only ask and answer share one; `payrunProcess` has nothing loaded before.
 */
export async function payrun(args: readonly string[], where: Where = {}): Promise<CliResult> {
  if (PARTS.includes(args[0])) return payrunProcess(args, where);
  const host = idleHosts.pop() ?? startHost();
  const result = await new Promise<Omit<CliResult, "json">>((resolve, reject) => {
    const failed = (why: unknown): void => reject(new Error(`the CLI ended: ${String(why)}`));
    host.once("exit", failed);
    host.once("message", (message) => {
      host.off("exit", failed);
      resolve(message as Omit<CliResult, "json">);
    });
    host.send(commandLine(args, where));
  });
  idleHosts.push(host);
  return { ...result, json: <T>() => JSON.parse(result.stdout) as T };
}

function startHost(): ChildProcess {
  const host = fork(HOST, { env: machineEnv(), execArgv: [], stdio: ["ignore", 2, 2, "ipc"] });
  // It ends with this process, and keeps it from nothing.
  host.unref();
  host.channel?.unref();
  return host;
}

function commandLine(args: readonly string[], where: Where): CommandLine {
  const cwd = where.cwd ?? temporaryFolder();
  return { args, cwd, env: { ...machineEnv(), PAYRUN_HOME: join(cwd, "home"), ...where.env } };
}

/** Runs the CLI as a process of its own. */
export function payrunProcess(args: readonly string[], where: Where = {}): Promise<CliResult> {
  const { cwd, env } = commandLine(args, where);
  const child = spawn(process.execPath, [MAIN, ...args], {
    cwd,
    env,
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
