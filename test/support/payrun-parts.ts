import type { ChildProcess } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { inject } from "vitest";
import { freePort } from "./free-port.ts";
import { endPart, startPart } from "./parts.ts";

/**
 * The gateways and workers of a test's Payrun, each a process of its own; a test may start several.
 */
export class PayrunParts {
  /** Additional words on each worker's command line. */
  workerArgs: readonly string[] = [];
  readonly #home: string;
  readonly #env: () => Record<string, string>;
  #gateways: ChildProcess[] = [];
  #workers: ChildProcess[] = [];

  /** @param env the environment of a part that starts now */
  constructor(home: string, env: () => Record<string, string>) {
    this.#home = home;
    this.#env = env;
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

  async stopGateways(signal: NodeJS.Signals): Promise<void> {
    await Promise.all(this.#gateways.splice(0).map((gateway) => endPart(gateway, signal)));
  }

  async startWorker(args: readonly string[] = []): Promise<ChildProcess> {
    const bundle = inject("workflowBundlePath");
    const worker = await this.#spawn("src/worker/main.ts", [
      "--exit-with-parent",
      "--workflow-bundle",
      bundle,
      ...this.workerArgs,
      ...args,
    ]);
    this.#workers.push(worker);
    return worker;
  }

  /** The workers that were started and have not been ended by the test. */
  get workers(): readonly ChildProcess[] {
    return this.#workers;
  }

  async killWorker(worker: ChildProcess): Promise<void> {
    this.#workers = this.#workers.filter((each) => each !== worker);
    await endPart(worker, "SIGKILL");
  }

  async killWorkers(signal: NodeJS.Signals): Promise<void> {
    await Promise.all(this.#workers.map((worker) => endPart(worker, signal)));
    this.#workers = [];
  }

  /** Makes sure that a gateway and a worker are up, and that none of them is frozen. */
  async revive(): Promise<void> {
    const isUp = ({ exitCode, signalCode }: ChildProcess): boolean =>
      exitCode === null && signalCode === null;
    this.#workers = this.#workers.filter(isUp);
    this.#gateways = this.#gateways.filter(isUp);
    for (const worker of this.#workers) worker.kill("SIGCONT");
    if (this.#gateways.length === 0) await this.startGateway();
    if (this.#workers.length === 0) await this.startWorker();
  }

  /** Returns the last lines that the parts have logged. */
  async logs(): Promise<string> {
    const parts = await Promise.all(
      ["worker", "gateway"].map(async (part) => {
        const text = await readFile(join(this.#home, `${part}.log`), "utf8").catch(() => "");
        return `--- ${part}\n${text.split("\n").slice(-25).join("\n")}`;
      }),
    );
    return parts.join("\n");
  }

  /** Returns what the gateways answered with “internal error”, which no test should cause. */
  async bugs(): Promise<string[]> {
    const text = await readFile(join(this.#home, "gateway.log"), "utf8").catch(() => "");
    return text.split("\n").filter((line) => line.includes('"internal_error"'));
  }

  async #spawn(
    program: "src/worker/main.ts" | "src/gateway/main.ts",
    args: readonly string[],
    env: Record<string, string> = {},
  ): Promise<ChildProcess> {
    const part = program.includes("worker") ? "worker" : "gateway";
    const log = join(this.#home, `${part}.log`);
    try {
      return await startPart({ program, args, env: { ...this.#env(), ...env }, log });
    } catch (error) {
      throw new Error(`${part} did not start\n${await this.logs()}`, { cause: error });
    }
  }
}
