import type { ChildProcess } from "node:child_process";
import { mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Client, Connection } from "@temporalio/client";
import { inject } from "vitest";
import type { RunStatus } from "../../src/contracts/pay-run.ts";
import { openStore, type Store } from "../../src/store/index.ts";
import { createToken } from "../../src/store/tokens.ts";
import { takeNamespace } from "./take-namespace.ts";
import { endPart, freePort, startPart } from "./parts.ts";
import { type Json, netCreditByPayable, startSandbox, type TestSandbox } from "./sandbox.ts";

export interface PayrunOptions {
  /** Fixture of the sandbox; "blank" unless said. */
  readonly fixture?: string;
  /** False: webhooks are not registered, so that only polls find out. */
  readonly webhooks?: boolean;
  /** False: no worker is started yet. */
  readonly worker?: boolean;
  /** True: the business's token stands in a file that `writeToken` replaces. */
  readonly tokenFile?: boolean;
  /** False: nobody has accepted the ACH debit authorization. */
  readonly achAuthorization?: boolean;
  /** Keys of systems that decide, as PAYMENTS_SIGNERS names them. */
  readonly signers?: string;
  /** Workers compare the store with Temporal this often; every minute unless said. */
  readonly sweepEveryMs?: number;
  /** A Temporal server of the test's own, `host:port`; its namespace is then `default`. */
  readonly temporalAddress?: string;
  /** Where the store is; a file of its own unless said. */
  readonly databaseUrl?: string;
}

/** Names of the tokens that every test stack has, and their roles. */
const PEOPLE = {
  launcher: ["launcher", "operator", "viewer"],
  controller: ["controller", "viewer"],
  owner: ["owner", "viewer"],
  operator: ["operator", "viewer"],
  admin: ["admin"],
} as const;
export type Person = keyof typeof PEOPLE;

/**
 * The whole of Payrun as processes of their own: sandbox with its bank, worker, gateway, a store
 * in a file, and a namespace of the shared Temporal server.
 */
export async function startPayrun(options: PayrunOptions = {}): Promise<TestPayrun> {
  const home = await mkdtemp(join(tmpdir(), "payrun-e2e-"));
  const sandbox = await startSandbox({ fixture: options.fixture ?? "blank" });
  const payrun = new TestPayrun(home, sandbox, options.databaseUrl, options.temporalAddress);
  try {
    await payrun.start(options);
    return payrun;
  } catch (error) {
    await payrun.stop();
    throw error;
  }
}

export class TestPayrun {
  readonly home: string;
  readonly sandbox: TestSandbox;
  readonly namespace: string;
  readonly temporalAddress: string;
  readonly #tokens = new Map<Person, string>();
  gatewayUrl = "";
  store!: Store;
  temporal!: Client;
  #connection: Connection | undefined;
  #gateways: ChildProcess[] = [];
  #workers: ChildProcess[] = [];
  #webhookSecret = "whsec_none";
  #hasTokenFile = false;
  #hasAchAuthorization = true;
  #workerArgs: readonly string[] = [];
  #signers = "";

  readonly databaseUrl: string;

  constructor(
    home: string,
    sandbox: TestSandbox,
    databaseUrl = `sqlite:${join(home, "payrun.db")}`,
    temporalAddress?: string,
  ) {
    this.home = home;
    this.sandbox = sandbox;
    this.databaseUrl = databaseUrl;
    this.namespace = temporalAddress === undefined ? takeNamespace() : "default";
    this.temporalAddress = temporalAddress ?? inject("temporalAddress");
  }

  async start(options: PayrunOptions): Promise<void> {
    await this.openStore();
    await this.makeTokens();
    this.#connection = await Connection.connect({ address: this.temporalAddress });
    this.temporal = new Client({ connection: this.#connection, namespace: this.namespace });
    const port = await freePort();
    this.gatewayUrl = `http://127.0.0.1:${port}`;
    if (options.webhooks !== false) await this.#registerWebhook();
    this.#hasAchAuthorization = options.achAuthorization !== false;
    this.#signers = options.signers ?? "";
    if (options.sweepEveryMs !== undefined) {
      this.#workerArgs = ["--sweep-every-ms", String(options.sweepEveryMs)];
    }
    if (options.tokenFile === true) await this.#writeProfiles();
    await this.startGateway();
    if (options.worker !== false) await this.startWorker();
  }

  /** Opens the store again after it was closed and its file replaced. */
  async openStore(): Promise<void> {
    this.store = await openStore(this.databaseUrl);
  }

  /** Gives everybody a token of this store. */
  async makeTokens(): Promise<void> {
    for (const [name, roles] of Object.entries(PEOPLE)) {
      const { token } = await createToken(this.store.db, {
        name,
        roles: [...roles],
        createdBy: "setup",
        nowMs: Date.now() - 60_000,
      });
      this.#tokens.set(name as Person, token);
    }
  }

  /** The environment of the parts, and nothing of the machine's own settings. */
  env(): Record<string, string> {
    const business = this.sandbox.business;
    return {
      PATH: process.env["PATH"] ?? "",
      HOME: process.env["HOME"] ?? "",
      PAYRUN_HOME: this.home,
      PAYRUN_DATABASE_URL: this.databaseUrl,
      PAYRUN_ENCRYPTION_KEYS: `tests:${"00112233445566778899aabbccddeeff".repeat(2)}`,
      PAYRUN_GATEWAY_PORT: new URL(this.gatewayUrl).port,
      PAYRUN_PUBLIC_URL: this.gatewayUrl,
      ...(this.#hasTokenFile
        ? { PAYRUN_PROFILES: join(this.home, "profiles.yaml") }
        : {
            PAYMENTS_API_URL: this.sandbox.url,
            PAYMENTS_API_TOKEN: business.token,
            PAYMENTS_BUSINESS_ID: business.businessId,
            PAYMENTS_WEBHOOK_SECRETS: this.#webhookSecret,
            PAYMENTS_API_SANDBOX: "true",
            PAYMENTS_SIGNERS: this.#signers,
            ...(this.#hasAchAuthorization
              ? { PAYMENTS_ACH_ACCEPTED_BY: "A. Owner", PAYMENTS_ACH_ACCEPTED_AT: "2026-01-05" }
              : {}),
          }),
      TEMPORAL_ADDRESS: this.temporalAddress,
      TEMPORAL_NAMESPACE: this.namespace,
    };
  }

  /** Replaces the token that all parts use, as a vault's agent would; needs `tokenFile`. */
  async writeToken(token: string): Promise<void> {
    await writeFile(join(this.home, "next-token"), token);
    await rename(join(this.home, "next-token"), join(this.home, "token"));
  }

  async startGateway(): Promise<void> {
    this.#gateways.push(await this.#spawn("src/gateway/main.ts", []));
  }

  /** Starts one more gateway on the same store and returns its address. */
  async startAnotherGateway(): Promise<string> {
    const port = String(await freePort());
    const env = { PAYRUN_GATEWAY_PORT: port };
    this.#gateways.push(await this.#spawn("src/gateway/main.ts", [], env));
    return `http://127.0.0.1:${port}`;
  }

  /** Ends all gateways. */
  async stopGateway(signal: NodeJS.Signals = "SIGTERM"): Promise<void> {
    await Promise.all(this.#gateways.splice(0).map((gateway) => endPart(gateway, signal)));
  }

  /** What webhooks to this stack's gateways are signed with. */
  get webhookSecret(): string {
    return this.#webhookSecret;
  }

  async startWorker(): Promise<ChildProcess> {
    const bundle = inject("workflowBundlePath");
    const worker = await this.#spawn("src/worker/main.ts", [
      "--exit-with-parent",
      "--workflow-bundle",
      bundle,
      ...this.#workerArgs,
    ]);
    this.#workers.push(worker);
    return worker;
  }

  /** The workers that were started and not ended. */
  get workers(): readonly ChildProcess[] {
    return this.#workers;
  }

  /** Ends one worker as a crash does. */
  async killWorker(worker: ChildProcess): Promise<void> {
    this.#workers = this.#workers.filter((each) => each !== worker);
    await endPart(worker, "SIGKILL");
  }

  /** Ends all workers; SIGKILL is a crash. */
  async killWorkers(signal: NodeJS.Signals = "SIGKILL"): Promise<void> {
    await Promise.all(this.#workers.map((worker) => endPart(worker, signal)));
    this.#workers = [];
  }

  tokenOf(person: Person): string {
    return this.#tokens.get(person) ?? "";
  }

  /** Sends a request to the gateway as somebody. */
  async call<T = Json>(
    person: Person,
    method: string,
    path: string,
    body?: unknown,
    gatewayUrl = this.gatewayUrl,
  ): Promise<{ status: number; body: T }> {
    const response = await fetch(`${gatewayUrl}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${this.#tokens.get(person)}`,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, body: (text === "" ? {} : JSON.parse(text)) as T };
  }

  /** Stores a playbook as the administrator. */
  async apply(name: string, text: string): Promise<void> {
    const { status, body } = await this.call("admin", "POST", "/v1/playbooks", { name, text });
    if (status >= 300) throw new Error(`apply ${name}: ${status} ${JSON.stringify(body)}`);
  }

  /** Launches a stored playbook and returns the run's id. */
  async launch(playbook: string, period?: string): Promise<string> {
    const { status, body } = await this.call<{ id: string }>("launcher", "POST", "/v1/runs", {
      playbook,
      ...(period === undefined ? {} : { period }),
    });
    if (status >= 300) throw new Error(`launch ${playbook}: ${status} ${JSON.stringify(body)}`);
    return body.id;
  }

  /** A run with the lines of its plan, without the bills that were left out. */
  async status(runId: string): Promise<RunStatus> {
    const path = `/v1/runs/${encodeURIComponent(runId)}?skipped=false`;
    const { status, body } = await this.call<RunStatus>("launcher", "GET", path);
    if (status !== 200) throw new Error(`status: ${status} ${JSON.stringify(body)}`);
    return body;
  }

  /** Decides on the plan as it is now. */
  async decide(
    person: Person,
    runId: string,
    decision: "approve" | "reject",
    extra: Json = {},
  ): Promise<{ status: number; body: Json }> {
    const { planHash } = await this.status(runId);
    const path = `/v1/runs/${encodeURIComponent(runId)}/decisions`;
    return this.call(person, "POST", path, { decision, planHash, ...extra });
  }

  /** Waits until the run's status satisfies a condition; fails with the last status it saw. */
  async until(
    runId: string,
    what: string,
    condition: (status: RunStatus) => boolean,
    timeoutMs = 120_000,
  ): Promise<RunStatus> {
    const deadline = Date.now() + timeoutMs;
    for (;;) {
      const status = await this.status(runId);
      if (condition(status)) return status;
      if (Date.now() > deadline) {
        const { phase, waitingFor, counts, payments } = status;
        const lines = payments.map(({ payableId, state, reason }) => ({
          payableId,
          state,
          reason,
        }));
        throw new Error(
          `not ${what} in time: ${JSON.stringify({ phase, waitingFor, counts, lines }, null, 1)}\n${await this.logs()}`,
        );
      }
      await sleep(150);
    }
  }

  untilPhase(runId: string, phase: RunStatus["phase"], timeoutMs?: number): Promise<RunStatus> {
    return this.until(runId, phase, (status) => status.phase === phase, timeoutMs);
  }

  /** The last lines that the parts have logged. */
  async logs(): Promise<string> {
    const parts = await Promise.all(
      ["worker", "gateway"].map(async (part) => {
        const text = await readFile(join(this.home, `${part}.log`), "utf8").catch(() => "");
        return `--- ${part}\n${text.split("\n").slice(-25).join("\n")}`;
      }),
    );
    return parts.join("\n");
  }

  async stop(): Promise<void> {
    await this.killWorkers("SIGKILL");
    await this.stopGateway("SIGKILL");
    await this.store?.close();
    await this.#connection?.close();
    await this.sandbox.stop();
    await rm(this.home, { recursive: true, force: true });
  }

  async #writeProfiles(): Promise<void> {
    this.#hasTokenFile = true;
    const { businessId, token } = this.sandbox.business;
    const profile = {
      apiUrl: this.sandbox.url,
      businessId,
      token: "${file:token}",
      webhookSecrets: [this.#webhookSecret],
      achAuthorization: { acceptedBy: "A. Owner", acceptedAt: "2026-01-05" },
      sandbox: true,
    };
    await this.writeToken(token);
    const text = JSON.stringify({ businesses: { default: profile } });
    await writeFile(join(this.home, "profiles.yaml"), text);
  }

  async #registerWebhook(): Promise<void> {
    const { status, body } = await this.sandbox.api<{ secret: string }>(
      "POST",
      "/v1/webhook-endpoints",
      { body: { url: `${this.gatewayUrl}/webhooks/default`, events: ["*"] } },
    );
    if (status !== 201) throw new Error(`webhook endpoint: ${status} ${JSON.stringify(body)}`);
    this.#webhookSecret = body.secret;
  }

  async #spawn(
    program: "src/worker/main.ts" | "src/gateway/main.ts",
    args: readonly string[],
    env: Record<string, string> = {},
  ): Promise<ChildProcess> {
    const part = program.includes("worker") ? "worker" : "gateway";
    const log = join(this.home, `${part}.log`);
    try {
      return await startPart({ program, args, env: { ...this.env(), ...env }, log });
    } catch (error) {
      throw new Error(`${part} did not start\n${await this.logs()}`, { cause: error });
    }
  }
}

/** What the bank moved for each payable, net, against what should have moved. */
export async function paidOnce(
  payrun: TestPayrun,
  expected: ReadonlyMap<string, number>,
): Promise<{ readonly actual: Map<string, number>; readonly expected: Map<string, number> }> {
  const actual = netCreditByPayable(await payrun.sandbox.control.ledger());
  for (const [payableId, cents] of actual) if (cents === 0) actual.delete(payableId);
  return { actual, expected: new Map(expected) };
}
