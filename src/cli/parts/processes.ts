import { type ChildProcess, spawn } from "node:child_process";
import { createWriteStream, mkdirSync, statSync, truncateSync, type WriteStream } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";

import { CliError, EXIT } from "../terminal/cli-error.ts";

/** How one part of Payrun is started, known to be ready, and stopped. */
export interface PartPlan {
  /** Also the log's name. */
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Record<string, string>;
  readonly cwd?: string;
  /** Stopped from the highest to the lowest, what shares a layer together. */
  readonly layer: number;
  /**
   * `line`: it prints a line of JSON with `ready: true`; else asked again and again until it
   * answers true.
   */
  readonly ready: "line" | (() => Promise<boolean>);
  readonly readyTimeoutMs?: number;
  /** How long it may take to stop by itself. */
  readonly stopTimeoutMs?: number;
}

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A part that runs, or has run. */
export interface Part {
  readonly name: string;
  readonly pid: number;
  readonly plan: PartPlan;
  /** What it said when it was ready; empty where it says nothing. */
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
  /** True where we ended it. */
  expected: boolean;
  exit: Exit | undefined;
}

const READY_TIMEOUT_MS = 60_000;
const STOP_TIMEOUT_MS = 10_000;
const PROBE_EVERY_MS = 100;
const KEPT_LINES = 40;
const LOG_LIMIT_BYTES = 20_000_000;

/**
 * Starts the parts of Payrun as processes and sees to it that none outlives us.
 *
 * Each runs in a process group of its own, so that Ctrl-C reaches only us and we stop them in
 * order, and so that what a part has started ends with it. Each has a pipe as its standard input
 * and ends when that closes, which also happens where we are killed.
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

  /** Hears of parts that end though nobody stopped them, once they have been ready. */
  onUnexpectedExit(listener: (part: { name: string; logFile: string }, exit: Exit) => void): void {
    this.#onUnexpectedExit = listener;
  }

  /**
   * Starts a part and waits until it is ready.
   *
   * @param ended hears that it ended though nobody stopped it, in place of `onUnexpectedExit`
   * @throws {CliError} 4 where it ends, or is not ready in time, with its last words and its log
   */
  async start(plan: PartPlan, ended?: (exit: Exit) => void): Promise<Part> {
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

  /** Where a part of this name writes what it has to say. */
  logOf(name: string): string {
    return join(this.#logFolder, `${name}.log`);
  }

  /** Ends a part as a crash would: SIGKILL, to it and all that it has started. */
  async crash(part: Part): Promise<void> {
    const running = this.#find(part);
    if (running === undefined) return;
    running.expected = true;
    kill(running.child, "SIGKILL");
    await running.exited;
  }

  /** Stops everything in order, the slow ones by force in the end. Safe to call again. */
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

  /** For the moment in which we end ourselves: nothing is waited for. */
  killAllNow(): void {
    this.#stopping = true;
    for (const running of this.#running) {
      running.expected = true;
      kill(running.child, "SIGKILL");
    }
  }

  #find(part: Part): Running | undefined {
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
      ...(plan.cwd === undefined ? {} : { cwd: plan.cwd }),
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
      // A greeting may hold tokens.
      log.write(readGreeting(line) === undefined ? `${line}\n` : "ready\n");
    });
    void exited.then((exit) => {
      running.exit = exit;
      this.#running.delete(running);
      // What a part had started must not outlive it.
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
    // There is none yet.
  }
  const log = createWriteStream(path, { flags: "a", mode: 0o600 });
  // A full disk must not end the parts that it can't note anything about.
  log.on("error", () => {});
  return log;
}

function aborted(signal: AbortSignal): Promise<undefined> {
  if (signal.aborted) return Promise.resolve(undefined);
  return new Promise((resolve) => {
    signal.addEventListener("abort", () => resolve(undefined), { once: true });
  });
}

/** The part's line of JSON that says it is ready; other lines are for its log. */
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

/** Longer than all that Payrun itself says of what to do. */
const LINE_LIMIT = 1_000;

/** As many whole sentences of a text as fit; of one that is longer by itself its beginning. */
export function wholeSentences(text: string, most: number): string {
  if (text.length <= most) return text;
  const end = text.slice(0, most).search(/[.!?](?=\s[^.!?]*$)/);
  return end < 0 ? `${text.slice(0, most)} …` : text.slice(0, end + 1);
}

/** Where in the code it happened is for the log. */
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
  // A part that says so was told something wrong; all else may be over the next time.
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
  // A part that reads its standard input to follow us would live on with it open.
  child.stdin?.end();
  const timer = setTimeout(() => kill(child, "SIGKILL"), plan.stopTimeoutMs ?? STOP_TIMEOUT_MS);
  await exited;
  clearTimeout(timer);
}

/** The part's whole process group, where the system has such. */
function kill(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, signal);
  } catch {
    child.kill(signal);
  }
}
