import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client, Connection } from "@temporalio/client";
import { findTemporalCli } from "../../scripts/setup/temporal-cli.mjs";
import { gatewayPart, temporalPart, workerPart } from "../../src/cli/parts/parts.ts";
import { type RunningPart, Processes } from "../../src/cli/parts/processes.ts";
import { workflowBundle } from "../../src/cli/parts/workflow-bundle.ts";
import { Gateway } from "../gateway.ts";
import type { NewStubBusiness } from "./stub-book.ts";

export interface StackOptions {
  /** URL of an existing store; if undefined, the stack has a file of its own. */
  readonly databaseUrl: string | undefined;
  /**
   * `host:port` of an existing Temporal server; if undefined, the stack has its own development
   * server.
   */
  readonly temporalAddress: string | undefined;
  /**
   * Namespace of that server. It must not know any run yet, or an empty store would be taken for a
   * lost one.
   */
  readonly namespace: string;
  /** Folder for processor profiles of worker and gateway. */
  readonly profileTo: string | undefined;
  readonly businesses: readonly NewStubBusiness[];
}

/** All of Payrun as separate processes, beside the stub of the Payments Service. */
export class Stack {
  readonly home: string;
  readonly #processes: Processes;
  readonly parts = new Map<string, RunningPart>();
  stubUrl = "";
  gateway = new Gateway("");
  client: Client | undefined;
  #connection: Connection | undefined;

  constructor(home: string) {
    this.home = home;
    this.#processes = new Processes(join(home, "logs"));
  }

  static async start(options: StackOptions): Promise<Stack> {
    const stack = new Stack(await mkdtemp(join(tmpdir(), "payrun-bench-")));
    try {
      await stack.#start(options);
      return stack;
    } catch (error) {
      await stack.stop();
      throw error;
    }
  }

  async stop(): Promise<void> {
    await this.#connection?.close();
    await this.#processes.stopAll();
    await rm(this.home, { recursive: true, force: true });
  }

  /** Stops the worker and the gateway, which then write their profiles. */
  async stopEngine(): Promise<void> {
    for (const name of ["worker", "gateway"]) {
      const part = this.parts.get(name);
      if (part === undefined) continue;
      process.kill(part.pid, "SIGTERM");
      await part.exited;
    }
  }

  /** Reads a business of the stub or, with a body, creates one. */
  async stub<T>(path: string, body?: unknown): Promise<T> {
    const init = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
    const response = await fetch(`${this.stubUrl}${path}`, init);
    return (await response.json()) as T;
  }

  async #start(options: StackOptions): Promise<void> {
    const stub = await this.#part("stub", {
      name: "stub",
      command: process.execPath,
      args: [fileURLToPath(new URL("stub.ts", import.meta.url)), "--exit-with-parent"],
      env: { PATH: process.env["PATH"] ?? "" },
      layer: 1,
      ready: "line",
    });
    this.stubUrl = String(stub.greeting["url"]);
    const address = options.temporalAddress ?? (await this.#temporal());
    const databaseUrl = options.databaseUrl ?? `sqlite:${join(this.home, "payrun.db")}`;
    const port = await freePort();
    this.gateway = new Gateway(`http://127.0.0.1:${port}`);
    await this.gateway.invite(databaseUrl);
    const profiles = join(this.home, "profiles.yaml");
    const businesses = options.businesses.map(({ businessId, token }) => {
      const achAuthorization = { acceptedBy: "A. Owner", acceptedAt: "2026-01-05" };
      const at = { apiUrl: this.stubUrl, businessId, token, webhookSecrets: ["whsec_none"] };
      return [businessId, { ...at, achAuthorization }] as const;
    });
    const text = JSON.stringify({ businesses: Object.fromEntries(businesses) });
    await writeFile(profiles, text, { mode: 0o600 });
    for (const business of options.businesses) await this.stub("/stub/businesses", business);
    const profile = (name: string): string =>
      options.profileTo === undefined
        ? ""
        : ` --cpu-prof --cpu-prof-dir=${join(options.profileTo, name)}`;
    const env = (name: string): Record<string, string> => ({
      PATH: process.env["PATH"] ?? "",
      HOME: process.env["HOME"] ?? "",
      NODE_OPTIONS: `--disable-warning=ExperimentalWarning${profile(name)}`,
      PAYRUN_HOME: this.home,
      PAYRUN_DATABASE_URL: databaseUrl,
      PAYRUN_GATEWAY_PORT: String(port),
      PAYRUN_PROFILES: profiles,
      TEMPORAL_ADDRESS: address,
      TEMPORAL_NAMESPACE: options.namespace,
    });
    const bundle = await workflowBundle(this.home, { encrypts: false });
    await this.#part("worker", workerPart({ env: env("worker") }, bundle));
    await this.#part("gateway", gatewayPart({ env: env("gateway") }));
    this.#connection = await Connection.connect({ address });
    this.client = new Client({ connection: this.#connection, namespace: options.namespace });
  }

  async #temporal(): Promise<string> {
    const said = (line: string): void => void process.stderr.write(`${line}\n`);
    const cli = await findTemporalCli({ env: process.env, log: said });
    const port = await freePort();
    const env = { PATH: process.env["PATH"] ?? "", HOME: process.env["HOME"] ?? "" };
    await this.#part("temporal", temporalPart({ cli: cli.path, port, home: this.home, env }));
    return `127.0.0.1:${port}`;
  }

  async #part(name: string, plan: Parameters<Processes["start"]>[0]): Promise<RunningPart> {
    const part = await this.#processes.start(plan);
    this.parts.set(name, part);
    return part;
  }
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const address = probe.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  probe.close();
  await once(probe, "close");
  return port;
}
