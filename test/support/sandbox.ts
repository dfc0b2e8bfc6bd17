import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { freePort } from "./free-port.ts";
import { SandboxControl } from "./sandbox/control.ts";

export { entriesOfPayer, netCreditByPayable } from "./sandbox/ledger.ts";
export type { FaultRule, WebhookFaults } from "./sandbox/control.ts";

const program = fileURLToPath(new URL("../../src/sandbox/main.ts", import.meta.url));
const startTimeoutMs = 60_000;

export type Json = Record<string, unknown>;

export interface SandboxBusiness {
  businessId: string;
  token: string;
  webhookEndpoints?: { id: string; url: string; secret: string }[];
}

export interface StartOptions {
  /** The fixture of a new data directory; "blank" by default. */
  fixture?: string;
  /** Kept by `stop()` if given; otherwise a temporary directory that is removed. */
  dataDir?: string;
  port?: number;
  /** True if the processes must not have been used by another test. */
  fresh?: boolean;
}

/** The answer to a request to the service. */
export interface ApiAnswer<Body = Json> {
  status: number;
  headers: Headers;
  body: Body;
  text: string;
}

/**
 * The variable that names the folder of a test run's sandboxes, which is removed when the run has
 * ended.
 */
export const SANDBOXES = "TEST_SANDBOXES";

/** Sandboxes that run and are not in use: two processes take a second to start. */
const idle: TestSandbox[] = [];

/**
 * Starts the real sandbox service, bank included, as a process of its own on a free port. A sandbox
 * that a test file of this process has stopped is emptied and used again.
 *
 * It exits with this process, so a test that dies leaves nothing running.
 */
export async function startSandbox(options: StartOptions = {}): Promise<TestSandbox> {
  const fixture = options.fixture ?? "blank";
  const mayBeUsed =
    options.fresh !== true && options.dataDir === undefined && options.port === undefined;
  const used = mayBeUsed ? await takeIdle() : undefined;
  if (used !== undefined) {
    await used.control.reset(fixture);
    return used;
  }
  const folder = process.env[SANDBOXES] ?? tmpdir();
  const dataDir = options.dataDir ?? (await mkdtemp(join(folder, "payrun-sandbox-")));
  const sandbox = new TestSandbox(dataDir, options.dataDir === undefined, fixture);
  await sandbox.start(options.port ?? (await freePort()));
  return sandbox;
}

/**
 * Returns the last idle sandbox that has this process's clock: on a telling day the clock starts
 * again (`fixed-day.mjs`).
 */
async function takeIdle(): Promise<TestSandbox | undefined> {
  for (let last = idle.pop(); last !== undefined; last = idle.pop()) {
    if (last.dayBegan === process.env["TEST_STARTED_MS"]) return last;
    await last.end();
  }
  return undefined;
}

/** A running sandbox, and everything that its control API offers. */
export class TestSandbox {
  readonly dataDir: string;
  readonly control: SandboxControl;
  url = "";
  /** The businesses of the last fixture, with a token each. */
  businesses: SandboxBusiness[] = [];
  readonly #isOwnDir: boolean;
  readonly #fixture: string;
  #child: ChildProcess | undefined;
  /** When the clock of its process began. */
  dayBegan: string | undefined;

  constructor(dataDir: string, isOwnDir: boolean, fixture: string) {
    this.dataDir = dataDir;
    this.#isOwnDir = isOwnDir;
    this.#fixture = fixture;
    this.control = new SandboxControl(this);
  }

  /** The first business of the fixture. */
  get business(): SandboxBusiness {
    const [first] = this.businesses;
    if (first === undefined) throw new Error("the fixture has no business");
    return first;
  }

  /** The id of the service's process, for tests that watch it from outside. */
  get pid(): number | undefined {
    return this.#child?.pid;
  }

  async start(port: number): Promise<void> {
    const child = spawn(
      process.execPath,
      [
        program,
        "--port",
        String(port),
        "--data-dir",
        this.dataDir,
        "--fixture",
        this.#fixture,
      ].concat("--exit-with-parent"),
      { stdio: ["pipe", "pipe", "inherit"] },
    );
    this.#child = child;
    this.dayBegan = process.env["TEST_STARTED_MS"];
    const ready = await firstLine(child);
    this.url = ready.url;
    if (ready.businesses !== undefined) this.businesses = ready.businesses;
  }

  /** Ends the process with a signal and waits until it is gone. */
  async kill(signal: NodeJS.Signals = "SIGKILL"): Promise<void> {
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, "exit");
    child.kill(signal);
    await exited;
  }

  /** Restarts it on the same port with the state that it had; tokens stay valid. */
  async restart(signal: NodeJS.Signals = "SIGTERM"): Promise<void> {
    const port = Number(new URL(this.url).port);
    await this.kill(signal);
    await this.start(port);
  }

  /**
   * Returns it to the idle ones. Ends it instead if it isn't running, if its data is to be kept, or
   * if the test run has no folder for sandboxes.
   */
  async stop(): Promise<void> {
    if (this.#isOwnDir && this.#isUp && process.env[SANDBOXES] !== undefined) {
      idle.push(this);
      return;
    }
    await this.end();
  }

  /** Ends its process, and removes its data unless the data directory was given. */
  async end(): Promise<void> {
    await this.kill("SIGTERM");
    if (this.#isOwnDir) await rm(this.dataDir, { recursive: true, force: true });
  }

  get #isUp(): boolean {
    return this.#child?.exitCode === null && this.#child.signalCode === null;
  }

  /** Sends one request to the service with the first business's token, and an optional key. */
  async api<Body = Json>(
    method: string,
    path: string,
    options: { body?: unknown; key?: string; token?: string | null; signal?: AbortSignal } = {},
  ): Promise<ApiAnswer<Body>> {
    const token = options.token === undefined ? this.business.token : options.token;
    const response = await fetch(`${this.url}${path}`, {
      method,
      headers: {
        ...(token !== null && { authorization: `Bearer ${token}` }),
        ...(options.key !== undefined && { "idempotency-key": options.key }),
        ...(options.body !== undefined && { "content-type": "application/json" }),
      },
      ...(options.body !== undefined && { body: JSON.stringify(options.body) }),
      ...(options.signal !== undefined && { signal: options.signal }),
    });
    const text = await response.text();
    const isJson = text !== "" && isParsable(text);
    return {
      status: response.status,
      headers: response.headers,
      body: (isJson ? JSON.parse(text) : {}) as Body,
      text,
    };
  }
}

interface ReadyLine {
  url: string;
  businesses?: SandboxBusiness[];
}

async function firstLine(child: ChildProcess): Promise<ReadyLine> {
  if (child.stdout === null) throw new Error("the sandbox has no standard output");
  const lines = createInterface({ input: child.stdout });
  const timer = setTimeout(() => child.kill("SIGKILL"), startTimeoutMs);
  try {
    const line = await Promise.race([
      once(lines, "line").then(([text]) => String(text)),
      once(child, "exit").then(([code]) => {
        throw new Error(`the sandbox exited with ${code} before it was ready`);
      }),
    ]);
    return JSON.parse(line) as ReadyLine;
  } finally {
    clearTimeout(timer);
  }
}

function isParsable(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
