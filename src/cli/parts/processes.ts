import { type ChildProcess, spawn } from "node:child_process";
import { createWriteStream, mkdirSync, statSync, truncateSync, type WriteStream } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";

import { definedOnly } from "../../contracts/defined-only.ts";
import { CliError, EXIT } from "../terminal/cli-error.ts";

/** How to start one part of Payrun, to recognize that it is ready, and to stop it. */
export interface PartPlan {
  /** The part's name, also the log's. */
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Record<string, string>;
  readonly cwd?: string;
  /** Parts are stopped from the highest layer to the lowest, parts of one layer together. */
  readonly layer: number;
  /**
   * `line`: the part prints a line of JSON with `ready: true`; otherwise the function is called
   * repeatedly until it returns true.
   */
  readonly ready: "line" | (() => Promise<boolean>);
  readonly readyTimeoutMs?: number;
  /** How long the part may take to stop by itself. */
  readonly stopTimeoutMs?: number;
}

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A part that is running or has run. */
export interface RunningPart {
  readonly name: string;
  readonly pid: number;
  readonly plan: PartPlan;
  /** What the part printed when it was ready; empty if it prints nothing. */
  readonly greeting: Readonly<Record<string, unknown>>;
  readonly exited: Promise<Exit>;
  readonly logFile: string;
}

interface Running {
  readonly plan: PartPlan;
  readonly child: ChildProcess;
  readonly exited: Promise<Exit>;
  readonly logFile: string;
  readonly lastLines: string[];
  /** True if we ended the part. */
  expected: boolean;
  exit: Exit | undefined;
}

const READY_TIMEOUT_MS = 60_000;
const STOP_TIMEOUT_MS = 10_000;
const PROBE_EVERY_MS = 100;
const KEPT_LINES = 40;
const LOG_LIMIT_BYTES = 20_000_000;

/**
 * Starts the parts of Payrun as processes and makes sure that none outlives us.
 *
 * Each part runs in its own process group, so that Ctrl-C reaches only us and we stop the parts in
 * order, and so that what a part has started ends with it. Each has a pipe as its standard input
 * and ends when the pipe closes, which also happens if we are killed.
 */
export class Processes {
  readonly #logFolder: string;
  readonly #running = new Set<Running>();
  #onUnexpectedExit: (part: { name: string; logFile: string }, exit: Exit) => void = () => {};
  #stopping = false;

  constructor(logFolder: string) {
    this.#logFolder = logFolder;
    mkdirSync(logFolder, { recursive: true });
  }

  /** Sets the listener for parts that end unexpectedly after they were ready. */
  onUnexpectedExit(listener: (part: { name: string; logFile: string }, exit: Exit) => void): void {
    this.#onUnexpectedExit = listener;
  }

  /**
   * Starts a part and waits until it is ready.
   *
   * @param ended is called if the part ends unexpectedly, in place of `onUnexpectedExit`
   * @throws {CliError} 4 if the part ends or isn't ready in time, with its last words and its log
   */
  async start(plan: PartPlan, ended?: (exit: Exit) => void): Promise<RunningPart> {
    if (this.#stopping) throw new CliError(EXIT.interrupted, "stopping", { code: "interrupted" });
    const running = this.#spawn(plan);
    const { child, exited, logFile } = running;
    try {
      const greeting = await this.#ready(running);
      void exited.then((exit) => {
        if (running.expected) return;
        if (ended !== undefined) ended(exit);
        else this.#onUnexpectedExit({ name: plan.name, logFile }, exit);
      });
      return { name: plan.name, pid: child.pid ?? 0, plan, greeting, exited, logFile };
    } catch (error) {
      running.expected = true;
      kill(child, "SIGKILL");
      throw error;
    }
  }

  get isStopping(): boolean {
    return this.#stopping;
  }

  /** Returns the path of the log of a part with this name. */
  logOf(name: string): string {
    return join(this.#logFolder, `${name}.log`);
  }

  /** Ends a part as a crash would: sends SIGKILL to it and everything that it has started. */
  async crash(part: RunningPart): Promise<void> {
    const running = this.#find(part);
    if (running === undefined) return;
    running.expected = true;
    kill(running.child, "SIGKILL");
    await running.exited;
  }

  /** Stops everything in order, finally killing the slow parts. Safe to call again. */
  async stopAll(): Promise<void> {
    this.#stopping = true;
    const layers = [...new Set([...this.#running].map(({ plan }) => plan.layer))].sort(
      (one, other) => other - one,
    );
    for (const layer of layers) {
      const parts = [...this.#running].filter(({ plan }) => plan.layer === layer);
      await Promise.all(parts.map((running) => stop(running)));
    }
    this.killAllNow();
  }

  /** Kills everything without waiting, for the moment in which we exit. */
  killAllNow(): void {
    this.#stopping = true;
    for (const running of this.#running) {
      running.expected = true;
      kill(running.child, "SIGKILL");
    }
  }

  #find(part: RunningPart): Running | undefined {
    return [...this.#running].find(({ child }) => child.pid === part.pid);
  }

  #spawn(plan: PartPlan): Running {
    const logFile = this.logOf(plan.name);
    const log = openLog(logFile);
    log.write(`--- ${new Date().toISOString()} ${plan.name} starts\n`);
    const child = spawn(plan.command, plan.args, {
      detached: true,
      env: plan.env,
      stdio: ["pipe", "pipe", "pipe"],
      ...definedOnly({ cwd: plan.cwd }),
    });
    child.stdin.on("error", () => {});
    const exited = new Promise<Exit>((resolve) => {
      child.once("error", (error) => {
        log.write(`${plan.name} can't be started: ${error.message}\n`);
        remember(error.message);
        resolve({ code: 127, signal: null });
      });
      child.once("exit", (code, signal) => resolve({ code, signal }));
    });
    const lastLines: string[] = [];
    const remember = (line: string) => {
      lastLines.push(line);
      if (lastLines.length > KEPT_LINES) lastLines.shift();
    };
    const running: Running = {
      plan,
      child,
      exited,
      logFile,
      lastLines,
      expected: false,
      exit: undefined,
    };
    this.#running.add(running);
    createInterface({ input: child.stderr }).on("line", (line) => {
      log.write(`${line}\n`);
      remember(line);
    });
    createInterface({ input: child.stdout }).on("line", (line) => {
      // A greeting may contain tokens.
      log.write(readGreeting(line) === undefined ? `${line}\n` : "ready\n");
    });
    void exited.then((exit) => {
      running.exit = exit;
      this.#running.delete(running);
      // What a part has started must not outlive it.
      kill(child, "SIGKILL");
      setTimeout(() => log.end(), 200).unref();
    });
    return running;
  }

  async #ready(running: Running): Promise<Readonly<Record<string, unknown>>> {
    const { plan, exited } = running;
    const timeoutMs = plan.readyTimeoutMs ?? READY_TIMEOUT_MS;
    const ended = new AbortController();
    const timer = setTimeout(() => ended.abort("slow"), timeoutMs);
    void exited.then(() => ended.abort("exited"));
    try {
      const asked = plan.ready === "line" ? greeting(running) : probed(plan.ready, ended.signal);
      const given = await Promise.race([asked, aborted(ended.signal)]);
      if (given !== undefined) return given;
    } finally {
      clearTimeout(timer);
    }
    throw notReady(running, ended.signal.reason === "slow" ? timeoutMs : undefined);
  }
}

function openLog(path: string): WriteStream {
  try {
    if (statSync(path).size > LOG_LIMIT_BYTES) truncateSync(path);
  } catch {
    // There is no log yet.
  }
  const log = createWriteStream(path, { flags: "a", mode: 0o600 });
  // A full disk must not end the parts whose output can't be logged.
  log.on("error", () => {});
  return log;
}

function aborted(signal: AbortSignal): Promise<undefined> {
  if (signal.aborted) return Promise.resolve(undefined);
  return new Promise((resolve) => {
    signal.addEventListener("abort", () => resolve(undefined), { once: true });
  });
}

/** Resolves with the part's line of JSON that reports it ready; other lines are only logged. */
function greeting({ child }: Running): Promise<Record<string, unknown>> {
  return new Promise((resolve) => {
    if (child.stdout === null) return;
    const lines = createInterface({ input: child.stdout });
    lines.on("line", (line) => {
      const said = readGreeting(line);
      if (said === undefined) return;
      resolve(said);
    });
  });
}

function readGreeting(line: string): Record<string, unknown> | undefined {
  if (!line.startsWith("{")) return undefined;
  try {
    const value: unknown = JSON.parse(line);
    const isReady = typeof value === "object" && value !== null && "ready" in value && value.ready;
    return isReady === true ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

async function probed(
  isReady: () => Promise<boolean>,
  signal: AbortSignal,
): Promise<Record<string, unknown> | undefined> {
  while (!signal.aborted) {
    if (await isReady().catch(() => false)) return {};
    await new Promise((resolve) => setTimeout(resolve, PROBE_EVERY_MS));
  }
  return undefined;
}

/** Longer than any advice that Payrun itself prints. */
const LINE_LIMIT = 1_000;

/** Returns as many whole sentences of a text as fit; at least the beginning of the first. */
export function wholeSentences(text: string, most: number): string {
  if (text.length <= most) return text;
  const end = text.slice(0, most).search(/[.!?](?=\s[^.!?]*$)/);
  return end < 0 ? `${text.slice(0, most)} …` : text.slice(0, end + 1);
}

/** Stack traces belong in the log only. */
const TRACE = /^\s+at |^Node\.js v|^node:|^file:|^\s*\^+\s*$/;

function notReady({ plan, exit, lastLines, logFile }: Running, slowMs?: number): CliError {
  const why =
    slowMs === undefined
      ? `ended before it was ready (${exit?.signal ?? `exit code ${exit?.code ?? "unknown"}`})`
      : `was not ready after ${Math.round(slowMs / 1000)} s`;
  const words = lastLines
    .filter((line) => line.trim() !== "" && !TRACE.test(line))
    .slice(-4)
    .map((line) => `\n  ${wholeSentences(line, LINE_LIMIT)}`)
    .join("");
  // A part that exits with `usage` got wrong settings; any other failure may be gone the next time.
  const exitCode = exit?.code === EXIT.usage ? EXIT.usage : EXIT.unavailable;
  return new CliError(exitCode, `the ${plan.name} ${why}${words}`, {
    code: `${plan.name}_unavailable`,
    hint: `Its log: ${logFile}`,
  });
}

async function stop(running: Running): Promise<void> {
  const { child, exited, plan } = running;
  running.expected = true;
  child.kill("SIGTERM");
  // A part that follows its standard input to exit with us would keep running while it is open.
  child.stdin?.end();
  const timer = setTimeout(() => kill(child, "SIGKILL"), plan.stopTimeoutMs ?? STOP_TIMEOUT_MS);
  await exited;
  clearTimeout(timer);
}

/** Sends a signal to the part's whole process group, on systems that have process groups. */
function kill(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, signal);
  } catch {
    child.kill(signal);
  }
}
