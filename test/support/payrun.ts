import type { ChildProcess } from "node:child_process";
import { mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, Connection } from "@temporalio/client";
import { inject } from "vitest";
import type { Store } from "../../src/store/index.ts";
import { openStore } from "../../src/store/open.ts";
import { confirmedToken } from "./confirmed-token.ts";
import { GatewayCalls, PEOPLE, type Person } from "./gateway-calls.ts";
import { takeNamespace } from "./take-namespace.ts";
import { freePort } from "./free-port.ts";
import { PayrunParts } from "./payrun-parts.ts";
import { nextQuietMonday } from "./quiet-monday.ts";
import { type RewritingFront, startRewritingFront } from "./rewriting-front.ts";
import { type Json, netCreditByPayable, startSandbox, type TestSandbox } from "./sandbox.ts";
import { machineEnv } from "./machine-env.ts";

export interface PayrunOptions {
  /** Fixture of the sandbox; "blank" by default. */
  readonly fixture?: string;
  /** False: webhooks are not registered, so that changes are only found by polling. */
  readonly webhooks?: boolean;
  /** False: no worker is started yet. */
  readonly worker?: boolean;
  /** True: the business's token is in a file that `writeToken` replaces. */
  readonly tokenFile?: boolean;
  /** More of the business's profile, which is then in a file; `writeProfile` replaces it. */
  readonly profile?: Json;
  /** True: `front` stands before the service, and rewrites what Payrun reads there. */
  readonly front?: boolean;
  /** False: the ACH debit authorization has not been accepted. */
  readonly achAuthorization?: boolean;
  /** False: the service is treated as the real one, on real clocks. */
  readonly sandbox?: boolean;
  /** Keys of systems that decide, as PAYMENTS_SIGNERS names them. */
  readonly signers?: string;
  /** How often workers compare the store with Temporal; every minute by default. */
  readonly janitorEveryMs?: number;
  /** A Temporal server of the test's own, `host:port`; its namespace is then `default`. */
  readonly temporalAddress?: string;
  /** Address of that server's UI, whose pages may have histories decrypted. */
  readonly temporalUi?: string;
  /** Address at which workers offer Temporal's metrics, `host:port`; none by default. */
  readonly workerMetrics?: string;
  /** URL of the store; a file of its own by default. */
  readonly databaseUrl?: string;
}

/**
 * Starts the whole of Payrun as separate processes: the sandbox with its bank, a worker, a gateway,
 * a store in a file, and a namespace of the shared Temporal server.
 */
export async function startPayrun(options: PayrunOptions = {}): Promise<TestPayrun> {
  const home = await mkdtemp(join(tmpdir(), "payrun-e2e-"));
  const sandbox = await startSandbox({ fixture: options.fixture ?? "blank" });
  const payrun = new TestPayrun(home, sandbox, options.databaseUrl, options.temporalAddress);
  try {
    // From this day on, a payment takes the same number of days to settle, whatever the machine's
    // day is. The sample company's bills are due around the day on which its bank began, and real
    // clocks can't leap.
    if (options.fixture !== "sample" && options.sandbox !== false) {
      await sandbox.control.setClock(nextQuietMonday());
    }
    // Only the engine then keeps a bill from being paid twice.
    await sandbox.control.changeBusiness({ acceptsDoublePayments: true });
    await payrun.start(options);
    return payrun;
  } catch (error) {
    await payrun.stop();
    throw error;
  }
}

export class TestPayrun extends GatewayCalls {
  readonly home: string;
  readonly sandbox: TestSandbox;
  readonly namespace: string;
  readonly temporalAddress: string;
  readonly #parts: PayrunParts;
  store!: Store;
  temporal!: Client;
  front: RewritingFront | undefined;
  #connection: Connection | undefined;
  #webhookSecret = "whsec_none";
  #hasTokenFile = false;
  #hasAchAuthorization = true;
  #isSandbox = true;
  #signers = "";
  #temporalUi = "";
  #workerMetrics = "";

  readonly databaseUrl: string;
  /** URL at which parts that start now find the store, if it is not the test's. */
  partsUrl: string | undefined;

  constructor(
    home: string,
    sandbox: TestSandbox,
    databaseUrl = `sqlite:${join(home, "payrun.db")}`,
    temporalAddress?: string,
  ) {
    super();
    this.home = home;
    this.#parts = new PayrunParts(home, () => this.env());
    this.sandbox = sandbox;
    this.databaseUrl = databaseUrl;
    this.namespace = temporalAddress === undefined ? takeNamespace() : "default";
    this.temporalAddress = temporalAddress ?? inject("temporalAddress");
  }

  async start(options: PayrunOptions): Promise<void> {
    await this.openStore();
    await this.makeTokens();
    if (options.front === true) this.front = await startRewritingFront(this.sandbox.url);
    this.#connection = await Connection.connect({ address: this.temporalAddress });
    this.temporal = new Client({ connection: this.#connection, namespace: this.namespace });
    const port = await freePort();
    this.gatewayUrl = `http://127.0.0.1:${port}`;
    if (options.webhooks !== false) await this.#registerWebhook();
    this.#hasAchAuthorization = options.achAuthorization !== false;
    this.#isSandbox = options.sandbox !== false;
    this.#signers = options.signers ?? "";
    this.#temporalUi = options.temporalUi ?? "";
    this.#workerMetrics = options.workerMetrics ?? "";
    if (options.janitorEveryMs !== undefined) {
      this.#parts.workerArgs = ["--janitor-every-ms", String(options.janitorEveryMs)];
    }
    if (options.tokenFile === true || options.profile !== undefined) {
      this.#hasTokenFile = true;
      await this.writeToken(this.sandbox.business.token);
      await this.writeProfile(options.profile);
    }
    await this.startGateway();
    if (options.worker !== false) await this.startWorker();
  }

  /** Opens the store again after it was closed and its file replaced. */
  async openStore(): Promise<void> {
    this.store = await openStore(this.databaseUrl);
  }

  /** Gives each person a token of this store. */
  async makeTokens(): Promise<void> {
    for (const [name, roles] of Object.entries(PEOPLE)) {
      const { token } = await confirmedToken(this.store, {
        name,
        roles: [...roles],
        createdBy: "setup",
        nowMs: Date.now() - 60_000,
      });
      this.tokens.set(name as Person, token);
    }
  }

  /** Returns the environment of the parts, with none of the machine's own settings. */
  env(): Record<string, string> {
    const business = this.sandbox.business;
    return {
      ...machineEnv(),
      PAYRUN_HOME: this.home,
      PAYRUN_DATABASE_URL: this.partsUrl ?? this.databaseUrl,
      PAYRUN_ENCRYPTION_KEYS: `tests:${"00112233445566778899aabbccddeeff".repeat(2)}`,
      PAYRUN_GATEWAY_PORT: new URL(this.gatewayUrl).port,
      PAYRUN_PUBLIC_URL: this.gatewayUrl,
      PAYRUN_TEMPORAL_UI_ORIGINS: this.#temporalUi,
      PAYRUN_WORKER_METRICS: this.#workerMetrics,
      ...(this.#hasTokenFile
        ? { PAYRUN_PROFILES: join(this.home, "profiles.yaml") }
        : {
            PAYMENTS_API_URL: this.#serviceUrl,
            PAYMENTS_API_TOKEN: business.token,
            PAYMENTS_BUSINESS_ID: business.businessId,
            PAYMENTS_WEBHOOK_SECRETS: this.#webhookSecret,
            PAYMENTS_API_SANDBOX: String(this.#isSandbox),
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

  startGateway(): Promise<void> {
    return this.#parts.startGateway();
  }

  /** Starts one more gateway on the same store and returns its address. */
  startAnotherGateway(): Promise<string> {
    return this.#parts.startAnotherGateway();
  }

  /** Ends all gateways. */
  stopGateway(signal: NodeJS.Signals = "SIGTERM"): Promise<void> {
    return this.#parts.stopGateways(signal);
  }

  /** The secret with which webhooks to this stack's gateways are signed. */
  get webhookSecret(): string {
    return this.#webhookSecret;
  }

  /** @param serve what it works on; everything by default */
  startWorker(serve: readonly string[] = []): Promise<ChildProcess> {
    return this.#parts.startWorker(serve.flatMap((name) => ["--serve", name]));
  }

  /** The workers that were started and have not been ended by the test. */
  get workers(): readonly ChildProcess[] {
    return this.#parts.workers;
  }

  /** Ends one worker as a crash does. */
  killWorker(worker: ChildProcess): Promise<void> {
    return this.#parts.killWorker(worker);
  }

  /** Ends all workers; SIGKILL is a crash. */
  killWorkers(signal: NodeJS.Signals = "SIGKILL"): Promise<void> {
    return this.#parts.killWorkers(signal);
  }

  /**
   * Repairs what a test that failed in the middle may have left, so that the tests after it get the
   * stack that they expect.
   */
  async recover(): Promise<void> {
    await this.sandbox.control.faults([]);
    await this.sandbox.control.setScale(1);
    await this.#parts.revive();
  }

  /** Returns the last lines that the parts have logged. */
  logs(): Promise<string> {
    return this.#parts.logs();
  }

  async stop(): Promise<void> {
    for (const bug of await this.#parts.bugs()) process.stderr.write(`${bug}\n`);
    await this.killWorkers("SIGKILL");
    await this.stopGateway("SIGKILL");
    await this.store?.close();
    await this.#connection?.close();
    this.front?.stop();
    await this.sandbox.stop();
    await rm(this.home, { recursive: true, force: true });
  }

  /** Writes the business's profile, which the parts read again; needs `tokenFile` or `profile`. */
  async writeProfile(more: Json = {}): Promise<void> {
    const profile = {
      apiUrl: this.#serviceUrl,
      businessId: this.sandbox.business.businessId,
      token: "${file:token}",
      webhookSecrets: [this.#webhookSecret],
      achAuthorization: { acceptedBy: "A. Owner", acceptedAt: "2026-01-05" },
      sandbox: true,
      ...more,
    };
    const text = JSON.stringify({ businesses: { default: profile } });
    await writeFile(join(this.home, "next-profiles"), text);
    await rename(join(this.home, "next-profiles"), join(this.home, "profiles.yaml"));
  }

  get #serviceUrl(): string {
    return this.front?.url ?? this.sandbox.url;
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
}

/** Returns what the bank moved for each payable, net, and what should have moved. */
export async function paidOnce(
  payrun: TestPayrun,
  expected: ReadonlyMap<string, number>,
): Promise<{ readonly actual: Map<string, number>; readonly expected: Map<string, number> }> {
  const actual = netCreditByPayable(await payrun.sandbox.control.ledger());
  for (const [payableId, cents] of actual) if (cents === 0) actual.delete(payableId);
  return { actual, expected: new Map(expected) };
}
