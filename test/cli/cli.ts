import { type ChildProcess, fork, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";

import { onTestFinished } from "vitest";
import { definedOnly } from "../../src/contracts/defined-only.ts";
import { machineEnv } from "../support/machine-env.ts";

export const MAIN = fileURLToPath(new URL("../../src/cli/main.ts", import.meta.url));

const HOST = fileURLToPath(new URL("children/command-host.ts", import.meta.url));

export interface CliResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** Parses standard output as one JSON document. */
  readonly json: <T>() => T;
}

/** Creates a folder for one test, which is removed when the test ends. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "payrun-cli-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Makes a file that looks like a store of a version with other tables. @returns its path */
export function storeOfAnotherVersion(folder: string): string {
  const path = join(folder, "payrun.db");
  const file = new DatabaseSync(path);
  file.exec("create table payrun_schema (version text, made_at_ms bigint)");
  file.exec("insert into payrun_schema values ('of another day', 1)");
  file.close();
  return path;
}

/** A command's arguments, folder and environment. */
export interface CommandLine {
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

interface Where {
  /** A value of `undefined` takes a variable away. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** An empty folder unless given, so that no `.env` is read. */
  readonly cwd?: string;
}

/** Commands that start processes or take signals: each runs in its own process. */
const PARTS: readonly (string | undefined)[] = ["up", "demo", "worker", "gateway", "sandbox"];

/** Processes that have loaded the CLI and run no command now. */
const idleHosts: ChildProcess[] = [];

/**
 * Runs the CLI in another process, without a terminal and without this machine's settings. Commands
 * that end by themselves reuse a process that has the CLI loaded; `payrunProcess` starts a new one.
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
  // The host ends with this process and does not keep it alive.
  host.unref();
  host.channel?.unref();
  return host;
}

function commandLine(args: readonly string[], where: Where): CommandLine {
  const cwd = where.cwd ?? temporaryFolder();
  const env = { ...machineEnv(), PAYRUN_HOME: join(cwd, "home"), ...where.env };
  return { args, cwd, env: definedOnly(env) };
}

/** Runs the CLI in its own process. */
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
