import type { ChildProcess } from "node:child_process";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

import { Connection } from "@temporalio/client";
import { bundleWorkflowCode } from "@temporalio/worker";
import type { TestProject } from "vitest/node";

import { findTemporalCli } from "../../scripts/setup/temporal-cli.mjs";
import { devServerArguments } from "../../src/temporal/dev-server.ts";
import { freePort } from "./free-port.ts";
import { NAMESPACES } from "./namespaces.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** `host:port` of the development server that all test files share. */
    temporalAddress: string;
    /** Folder in which a test takes a namespace of its own by creating a folder of its name. */
    temporalNamespaces: string;
    /** Path of the bundled workflow code, for a worker's `workflowBundle: { codePath }`. */
    workflowBundlePath: string;
  }
}

const START_TIMEOUT_MS = 90_000;
const WITH_PARENT = fileURLToPath(new URL("../../src/cli/parts/with-parent.ts", import.meta.url));

export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), "payrun-tests-"));
  const [{ address, server }, bundlePath] = await Promise.all([startServer(), bundle(folder)]);
  project.provide("temporalAddress", address);
  project.provide("temporalNamespaces", folder);
  project.provide("workflowBundlePath", bundlePath);
  return async () => {
    await stop(server);
    await rm(folder, { recursive: true, force: true });
  };
}

async function bundle(folder: string): Promise<string> {
  const workflowsPath = fileURLToPath(new URL("../../workflows/index.ts", import.meta.url));
  const { code } = await bundleWorkflowCode({ workflowsPath, logger: silent });
  const path = join(folder, "workflow-bundle.js");
  await writeFile(path, code);
  return path;
}

const logLine = (line: string): void => void process.stderr.write(`${line}\n`);
const ignore = (): void => {};
const silent = {
  log: ignore,
  trace: ignore,
  debug: ignore,
  info: ignore,
  warn: ignore,
  error: (message: string) => void process.stderr.write(`${message}\n`),
};

async function startServer(): Promise<{ address: string; server: ChildProcess }> {
  const cli = await findTemporalCli({ env: process.env, log: logLine });
  const port = await freePort();
  const namespaces = NAMESPACES.flatMap((namespace) => ["--namespace", namespace]);
  const args = [...devServerArguments(port), "--headless", ...namespaces];
  // The server ends when this process ends, for whatever reason.
  const server = spawn(process.execPath, [WITH_PARENT, cli.path, ...args], {
    stdio: ["pipe", "ignore", "inherit"],
  });
  const address = `127.0.0.1:${port}`;
  try {
    await waitUntilReady(address, server);
    return { address, server };
  } catch (error) {
    await stop(server);
    throw error;
  }
}

async function waitUntilReady(address: string, server: ChildProcess): Promise<void> {
  const deadline = Date.now() + START_TIMEOUT_MS;
  for (;;) {
    if (server.exitCode !== null) throw new Error(`Temporal ended with code ${server.exitCode}`);
    try {
      const connection = await Connection.connect({ address, connectTimeout: 2000 });
      await connection.workflowService.describeNamespace({ namespace: "default" });
      await connection.close();
      return;
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await sleep(200);
    }
  }
}

async function stop(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const ended = once(server, "exit");
  server.kill("SIGTERM");
  const timer = setTimeout(() => server.kill("SIGKILL"), 10_000);
  await ended;
  clearTimeout(timer);
}
