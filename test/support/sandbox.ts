import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const program = fileURLToPath(new URL("../../src/sandbox/main.ts", import.meta.url));
const startTimeoutMs = 60_000;

export type Json = Record<string, unknown>;

export interface SandboxBusiness {
  businessId: string;
  token: string;
  webhookEndpoints?: { id: string; url: string; secret: string }[];
}

export interface LedgerEntry {
  id: string;
  at: string;
  kind: "debit" | "credit" | "return" | "refund";
  paymentId: string | null;
  transactionId: string | null;
  payableId: string | null;
  businessId: string;
  amountCents: number;
}

export interface ClockReading {
  bank: string;
  wire: string;
  scale: number;
}

export interface OutcomeRule {
  match: { payableId?: string; contactId?: string; paymentId?: string };
  outcome: "settle" | "fail" | "return" | "hold";
  code?: string;
  reason?: string;
  after?: string;
  times?: number;
}

export interface FaultRule {
  method?: string;
  path: string;
  when: "before" | "during" | "after";
  effect: "status" | "drop" | "delay" | "malformed" | "partial";
  status?: number;
  retryAfter?: number;
  delayMs?: number;
  times?: number;
  probability?: number;
  seed?: number | string;
}

export interface WebhookFaults {
  lose?: number;
  duplicate?: number;
  reorder?: number;
  delayMs?: number;
  seed?: number | string;
}

export interface LoggedRequest {
  method: string;
  path: string;
  business: string | null;
  key: string | null;
  bodyHash: string | null;
  status: number | null;
  at: string;
}

export interface StartOptions {
  /** What a new data directory starts with; "blank" unless said. */
  fixture?: string;
  /** Kept by `stop()` when given; else a temporary one that is removed. */
  dataDir?: string;
  port?: number;
}

/** What a request to the service was answered. */
export interface ApiAnswer<Body = Json> {
  status: number;
  headers: Headers;
  body: Body;
  text: string;
}

/**
 * Starts the real service, bank included, as a process of its own on a free port.
 *
 * It exits with this process, so a test that dies leaves nothing behind.
 */
export async function startSandbox(options: StartOptions = {}): Promise<TestSandbox> {
  const isOwnDir = options.dataDir === undefined;
  const dataDir = options.dataDir ?? (await mkdtemp(join(tmpdir(), "payrun-sandbox-")));
  const sandbox = new TestSandbox(dataDir, isOwnDir, options.fixture ?? "blank");
  await sandbox.start(options.port ?? 0);
  return sandbox;
}

/** A running sandbox, and everything its control API offers. */
export class TestSandbox {
  readonly dataDir: string;
  readonly control: SandboxControl;
  url = "";
  /** The businesses of the last fixture, with a token each. */
  businesses: SandboxBusiness[] = [];
  readonly #isOwnDir: boolean;
  readonly #fixture: string;
  #child: ChildProcess | undefined;

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

  /** The service's process, for tests that look at it from outside. */
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

  /** Starts it again on the same port with the state it had; tokens stay valid. */
  async restart(signal: NodeJS.Signals = "SIGTERM"): Promise<void> {
    const port = Number(new URL(this.url).port);
    await this.kill(signal);
    await this.start(port);
  }

  /** Ends it and removes its temporary directory. */
  async stop(): Promise<void> {
    await this.kill("SIGTERM");
    if (this.#isOwnDir) await rm(this.dataDir, { recursive: true, force: true });
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

/** The control API under `/sandbox`; every method throws when it is refused. */
export class SandboxControl {
  readonly #sandbox: TestSandbox;

  constructor(sandbox: TestSandbox) {
    this.#sandbox = sandbox;
  }

  /** Forgets everything and loads a fixture, by name or as an object. */
  async reset(fixture: string | Json = "blank"): Promise<SandboxBusiness[]> {
    const { businesses } = await this.#post<{ businesses: SandboxBusiness[] }>("/reset", {
      fixture,
    });
    this.#sandbox.businesses = businesses;
    return businesses;
  }

  async token(
    businessId = this.#sandbox.business.businessId,
    options: { scopes?: readonly string[]; expiresInSeconds?: number } = {},
  ): Promise<string> {
    const { token } = await this.#post<{ token: string }>("/tokens", { businessId, ...options });
    return token;
  }

  /** Enters a bill of the first business unless `businessId` says another. */
  createPayable(payable: Json): Promise<Json & { id: string }> {
    return this.#post("/payables", { businessId: this.#sandbox.business.businessId, ...payable });
  }

  changePayable(id: string, changes: Json): Promise<Json> {
    return this.#post(`/payables/${id}`, changes);
  }

  changeContact(id: string, changes: Json): Promise<Json> {
    return this.#post(`/contacts/${id}`, changes);
  }

  changeBusiness(changes: Json, id = this.#sandbox.business.businessId): Promise<Json> {
    return this.#post(`/businesses/${id}`, changes);
  }

  /** Records a payment made by check, wire or cash: what is owed unless an amount is given. */
  payOutside(payableId: string, amountCents?: number): Promise<Json> {
    return this.#post("/payments", { payableId, amountCents });
  }

  clock(): Promise<ClockReading> {
    return this.#get("/clock");
  }

  /** Lets the bank clock leap by an ISO 8601 duration; what fell due has happened when it returns. */
  advance(duration: string): Promise<ClockReading> {
    return this.#post("/clock", { advance: duration });
  }

  /** Sets the bank clock to a later instant. */
  setClock(instant: string): Promise<ClockReading> {
    return this.#post("/clock", { set: instant });
  }

  /** Bank seconds per real second. */
  setScale(scale: number): Promise<ClockReading> {
    return this.#post("/clock", { scale });
  }

  advanceWire(duration: string): Promise<ClockReading> {
    return this.#post("/clock", { wire: { advance: duration } });
  }

  outcome(rule: OutcomeRule): Promise<Json> {
    return this.#post("/outcomes", rule);
  }

  /** Replaces all fault rules; none clears them. */
  faults(rules: readonly FaultRule[] = [], webhooks?: WebhookFaults): Promise<Json> {
    return this.#post("/faults", { rules, ...(webhooks !== undefined && { webhooks }) });
  }

  async ledger(): Promise<LedgerEntry[]> {
    return (await this.#get<{ items: LedgerEntry[] }>("/ledger")).items;
  }

  async requests(): Promise<LoggedRequest[]> {
    return (await this.#get<{ items: LoggedRequest[] }>("/requests")).items;
  }

  health(): Promise<Json & { ok: boolean }> {
    return this.#get("/health");
  }

  #get<T>(path: string): Promise<T> {
    return this.#call(path, {});
  }

  #post<T>(path: string, body: unknown): Promise<T> {
    return this.#call(path, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  }

  async #call<T>(path: string, init: RequestInit): Promise<T> {
    const response = await fetch(`${this.#sandbox.url}/sandbox${path}`, init);
    const text = await response.text();
    if (!response.ok) {
      throw new Error(`${init.method ?? "GET"} /sandbox${path}: ${response.status} ${text}`);
    }
    return JSON.parse(text) as T;
  }
}

/**
 * What each payable's payees have got, in cents, from a ledger: credits less the returns of
 * credits. A return without a credit gave a debit back to the payer and does not count.
 */
export function netCreditByPayable(ledger: readonly LedgerEntry[]): Map<string, number> {
  const credited = new Set(
    ledger.filter(({ kind }) => kind === "credit").map(({ paymentId }) => paymentId),
  );
  const net = new Map<string, number>();
  for (const { kind, paymentId, payableId, amountCents } of ledger) {
    if (payableId === null || !credited.has(paymentId)) continue;
    const sign = kind === "credit" ? 1 : kind === "return" ? -1 : 0;
    net.set(payableId, (net.get(payableId) ?? 0) + sign * amountCents);
  }
  return net;
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
