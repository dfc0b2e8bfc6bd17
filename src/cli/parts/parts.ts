import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { definedOnly } from "../../contracts/defined-only.ts";
import { devServerArguments } from "../../temporal/dev-server.ts";
import type { QueueName } from "../../worker/queues.ts";
import type { PartPlan } from "./processes.ts";

/** Parts are stopped from the highest layer to the lowest: what depends on others first. */
const LAYER = { temporal: 1, sandbox: 2, worker: 3, gateway: 3 } as const;

/** Returns the path of a source file, given relative to this folder. */
function source(path: string): string {
  return fileURLToPath(new URL(path, import.meta.url));
}

function nodePart(script: string, args: readonly string[]): Pick<PartPlan, "command" | "args"> {
  return { command: process.execPath, args: [source(script), ...args, "--exit-with-parent"] };
}

type Env = Record<string, string>;

export interface TemporalPart {
  readonly cli: string;
  readonly port: number;
  readonly home: string;
  readonly env: Env;
  /** The URL at which its UI has histories decrypted; undefined if they are plain. */
  readonly codecUrl?: string | undefined;
}

/** Returns Temporal's development server: its state in a file, its UI at its port plus 1,000. */
export function temporalPart({ cli, port, home, env, codecUrl }: TemporalPart): PartPlan {
  const args = [
    ...devServerArguments(port),
    "--ui-port",
    String(port + 1000),
    ...(codecUrl === undefined ? [] : ["--ui-codec-endpoint", codecUrl]),
    "--db-filename",
    join(home, "temporal.db"),
  ];
  return {
    name: "temporal",
    command: process.execPath,
    args: [source("with-parent.ts"), cli, ...args],
    env,
    layer: LAYER.temporal,
    ready: () => temporalAnswers(`127.0.0.1:${port}`),
  };
}

async function temporalAnswers(address: string): Promise<boolean> {
  const { connectTo } = await import("../../temporal/connection.ts");
  const connection = await connectTo({ address, connectTimeout: 1_000 });
  try {
    await connection.workflowService.describeNamespace({ namespace: "default" });
    return true;
  } finally {
    await connection.close();
  }
}

export interface SandboxPart {
  readonly host: string;
  readonly port: number;
  readonly dataDir: string;
  /** What a new data folder starts with. */
  readonly fixture: string;
  readonly env: Env;
}

/** Returns the sandbox with its bank; its greeting has `url` and, if freshly made, `businesses`. */
export function sandboxPart({ host, port, dataDir, fixture, env }: SandboxPart): PartPlan {
  const args = ["--host", host, "--port", String(port), "--data-dir", dataDir];
  return {
    name: "sandbox",
    ...nodePart("../../sandbox/main.ts", [...args, "--fixture", fixture]),
    env,
    layer: LAYER.sandbox,
    ready: "line",
  };
}

export interface EnginePart {
  readonly env: Env;
  readonly cwd?: string | undefined;
  readonly stopTimeoutMs?: number | undefined;
}

/**
 * @param workflowBundle path of the workflow code, bundled earlier
 * @param serve the task queues that the worker serves; all unless given
 */
export function workerPart(
  engine: EnginePart,
  workflowBundle?: string,
  serve: readonly QueueName[] = [],
): PartPlan {
  const args = [
    ...(workflowBundle === undefined ? [] : ["--workflow-bundle", workflowBundle]),
    ...serve.flatMap((name) => ["--serve", name]),
  ];
  return {
    name: "worker",
    ...nodePart("../../worker/main.ts", args),
    ...shared(engine),
    layer: LAYER.worker,
    ready: "line",
  };
}

/** Returns the gateway; its greeting has `url`. */
export function gatewayPart(engine: EnginePart): PartPlan {
  return {
    name: "gateway",
    ...nodePart("../../gateway/main.ts", []),
    ...shared(engine),
    layer: LAYER.gateway,
    ready: "line",
  };
}

function shared({ env, cwd, stopTimeoutMs }: EnginePart) {
  return {
    env,
    ...definedOnly({ cwd, stopTimeoutMs }),
  };
}
