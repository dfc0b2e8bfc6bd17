import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { Connection } from "@temporalio/client";
import { findTemporalCli } from "../../../scripts/setup/temporal-cli.mjs";
import { devServerArguments } from "../../../src/temporal/dev-server.ts";
import { freePort } from "../../support/free-port.ts";

const START_TIMEOUT_MS = 90_000;

/** A test's own Temporal server: it has no worker, and it may be killed. */
export class DevServer {
  readonly port: number;
  readonly #cliPath: string;
  readonly #databasePath: string;
  #child: ChildProcess | undefined;

  constructor(port: number, cliPath: string, databasePath: string) {
    this.port = port;
    this.#cliPath = cliPath;
    this.#databasePath = databasePath;
  }

  get address(): string {
    return `127.0.0.1:${this.port}`;
  }

  /** @param isBare true for a server without Payrun's search attributes */
  async start(isBare = false): Promise<void> {
    const known = devServerArguments(this.port);
    const isFlag = (at: number): boolean => known[at] === "--search-attribute";
    const bare = known.filter((_, at) => !isFlag(at) && !isFlag(at - 1));
    const child = spawn(
      this.#cliPath,
      [...(isBare ? bare : known), "--headless", "--db-filename", this.#databasePath],
      { stdio: "ignore" },
    );
    this.#child = child;
    await this.#untilReady(child);
  }

  /** Kills the server, as a crash would. */
  async kill(): Promise<void> {
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, "exit");
    child.kill("SIGKILL");
    await exited;
  }

  async #untilReady(child: ChildProcess): Promise<void> {
    const deadline = Date.now() + START_TIMEOUT_MS;
    for (;;) {
      if (child.exitCode !== null) throw new Error(`Temporal ended with code ${child.exitCode}`);
      try {
        const connection = await Connection.connect({
          address: this.address,
          connectTimeout: 2_000,
        });
        await connection.workflowService.describeNamespace({ namespace: "default" });
        await connection.close();
        return;
      } catch (error) {
        if (Date.now() > deadline) {
          await this.kill();
          throw error;
        }
        await sleep(200);
      }
    }
  }
}

/** @param folder where the server keeps its state, so that a restart continues from it */
export async function startDevServer(folder: string): Promise<DevServer> {
  const cli = await findTemporalCli({
    env: process.env,
    log: (line: string) => void process.stderr.write(`${line}\n`),
  });
  const server = new DevServer(await freePort(), cli.path, `${folder}/temporal.db`);
  await server.start();
  return server;
}
