import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { RunStatus } from "../../src/api/runs.ts";
import type { NewStubBusiness, StubFigures } from "../../bench/run/stub-book.ts";
import { TestPayrun } from "./payrun.ts";
import { TestSandbox } from "./sandbox.ts";
import { machineEnv } from "./machine-env.ts";

/** Connections to PostgreSQL that each part may have. */
export const STUB_POOL = 4;

/** The whole of Payrun beside the stub of the benchmark: a service with thousands of bills. */
export class StubPayrun extends TestPayrun {
  readonly #stub: ChildProcess;
  readonly #url: string;

  private constructor(home: string, stub: ChildProcess, url: string, databaseUrl?: string) {
    // Only holds the address; no sandbox is ever started.
    const sandbox = new TestSandbox(home, false, "blank");
    sandbox.url = url;
    super(home, sandbox, databaseUrl);
    this.#stub = stub;
    this.#url = url;
  }

  static async start(
    businesses: readonly NewStubBusiness[],
    options: { readonly databaseUrl?: string } = {},
  ): Promise<StubPayrun> {
    const home = await mkdtemp(join(tmpdir(), "payrun-stub-"));
    const program = fileURLToPath(new URL("../../bench/run/stub.ts", import.meta.url));
    const stub = spawn(process.execPath, [program, "--latency-ms", "5"], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const [line] = (await once(createInterface({ input: stub.stdout }), "line")) as [string];
    const { url } = JSON.parse(line) as { url: string };
    const payrun = new StubPayrun(home, stub, url, options.databaseUrl);
    try {
      for (const business of businesses) await payrun.#tell(business);
      const profiles = businesses.map(({ businessId, token }) => [
        businessId,
        {
          apiUrl: url,
          businessId,
          token,
          webhookSecrets: ["whsec_none"],
          achAuthorization: { acceptedBy: "A. Owner", acceptedAt: "2026-01-05" },
        },
      ]);
      const text = JSON.stringify({ businesses: Object.fromEntries(profiles) });
      await writeFile(join(home, "profiles.yaml"), text, { mode: 0o600 });
      await payrun.start({ webhooks: false });
      return payrun;
    } catch (error) {
      await payrun.stop();
      throw error;
    }
  }

  override env(): Record<string, string> {
    const port = new URL(this.gatewayUrl).port;
    return {
      ...machineEnv(),
      PAYRUN_HOME: this.home,
      PAYRUN_DATABASE_URL: this.databaseUrl,
      PAYRUN_DATABASE_POOL: String(STUB_POOL),
      PAYRUN_GATEWAY_PORT: port,
      PAYRUN_PROFILES: join(this.home, "profiles.yaml"),
      TEMPORAL_ADDRESS: this.temporalAddress,
      TEMPORAL_NAMESPACE: this.namespace,
    };
  }

  /** Reads only one line: the status is read again and again, and the bills are many. */
  override async status(runId: string): Promise<RunStatus> {
    const path = `/v1/runs/${encodeURIComponent(runId)}?pageSize=1`;
    const { status, body } = await this.call<RunStatus>("launcher", "GET", path);
    if (status !== 200) throw new Error(`status: ${status} ${JSON.stringify(body)}`);
    return body;
  }

  override async stop(): Promise<void> {
    await super.stop();
    this.#stub.kill("SIGKILL");
  }

  /** Returns counts of the requests that a business has received so far. */
  async figures(businessId: string): Promise<StubFigures> {
    const response = await fetch(`${this.#url}/stub/businesses/${businessId}`);
    return (await response.json()) as StubFigures;
  }

  /** Launches a playbook and approves its plan as it is. */
  async approvedRun(name: string, text: string): Promise<string> {
    await this.apply(name, text);
    const runId = await this.launch(name);
    await this.untilPhase(runId, "awaiting-approval");
    const { status, body } = await this.decide("controller", runId, "approve");
    if (status !== 200) throw new Error(`approve: ${status} ${JSON.stringify(body).slice(0, 500)}`);
    return runId;
  }

  async #tell(business: NewStubBusiness): Promise<void> {
    const body = JSON.stringify(business);
    await fetch(`${this.#url}/stub/businesses`, { method: "POST", body });
  }
}
