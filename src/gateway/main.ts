import { parseArgs } from "node:util";
import { setTimeout as sleep } from "node:timers/promises";
import { Client, type Connection } from "@temporalio/client";
import type { Config } from "../config.ts";
import { Clients } from "../business/clients.ts";
import { createGateway } from "./gateway.ts";
import type { Log } from "../actions/context.ts";
import { GRPC, grpcCode } from "../temporal/grpc.ts";
import { howToStart } from "../temporal/how-to-start.ts";
import { registerSearchAttributes } from "../temporal/search-attributes.ts";
import { dataConverterOf } from "../temporal/codec.ts";
import { lazyConnection } from "../temporal/connection.ts";
import { complainAs, EXIT_UNREACHABLE, openPart, stopSignal } from "../process/part.ts";
import { createLog } from "../process/log.ts";
import { watchProfiles } from "../process/profile-watch.ts";
import { watchStore } from "../process/store-watch.ts";
import { temporalAnswers } from "../actions/temporal.ts";

/** Milliseconds between attempts to reach a server that can't be reached yet. */
const REGISTER_EVERY_MS = 2_000;

const complain = complainAs("gateway");

/** The gateway itself only lists deliveries at the service. */
const CONNECTIONS = 4;
const API_TIMEOUT_MS = 15_000;

/**
 * Runs the gateway as a process of its own: `node src/gateway/main.ts`, `payrun gateway`.
 *
 * Prints one line of JSON, `{ ready: true, url, pid }`, once it listens. On SIGTERM and SIGINT it
 * finishes the requests in progress and ends; with `--exit-with-parent` also at the end of standard
 * input. It starts even if the Temporal server is down: it accepts webhooks, and `/ready` says what
 * is missing.
 *
 * @returns exit code: 0 after a signal, 2 for settings that can't be used, 4 if the port is taken
 * or the store can't be opened
 */
async function main(): Promise<number> {
  const { values: options } = parseArgs({
    options: { "exit-with-parent": { type: "boolean", default: false } },
  });
  const part = await openPart(complain);
  if (typeof part === "number") return part;
  const { config, store } = part;
  const log = createLog("gateway");
  const { connectionOptions, namespace } = config.temporal;
  const connection = lazyConnection(connectionOptions);
  const temporal = new Client({
    connection,
    namespace,
    dataConverter: dataConverterOf(config),
  });
  const clients = new Clients({ connections: CONNECTIONS, timeoutMs: API_TIMEOUT_MS });
  const gateway = createGateway({
    store,
    profiles: config.profiles,
    temporal,
    clientOf: (profile) => clients.of(profile),
    log,
    encryption: config,
    temporalUiOrigins: config.temporal.uiOrigins,
    host: config.gateway.host,
    port: config.gateway.port,
    limits: config.gateway.limits,
    // With port 0 the address is known only once the gateway listens.
    ...(config.gateway.port === 0 && config.publicUrl.endsWith(":0")
      ? {}
      : { publicUrl: config.publicUrl }),
  });
  let isGone = false;
  // The gateway goes on answering. Its 503 makes the service send webhooks again, and makes a load
  // balancer use another gateway.
  const storeWatch = watchStore(part, (why) => {
    if (!isGone) complain(why);
    isGone = true;
  });
  const profileWatch = watchProfiles({ store, profiles: config.profiles, log });
  const stopped = stopSignal(options["exit-with-parent"]);
  try {
    const url = await gateway.start();
    process.stdout.write(`${JSON.stringify({ ready: true, url, pid: process.pid })}\n`);
    if (!(await temporalAnswers(temporal, 2_000))) {
      log.warn(
        `Temporal can't be reached at ${connectionOptions.address}: webhooks are kept until it can. ${howToStart(config.temporal.isExternal)}`,
      );
    }
    void prepareNamespace(connection, namespace, log, stopped);
    await stopped;
    return 0;
  } catch (error) {
    complain(portProblem(error, config));
    return EXIT_UNREACHABLE;
  } finally {
    await storeWatch?.stop();
    await profileWatch.stop();
    await gateway.stop();
    await clients.close();
    await connection.close();
    await store.close();
    // An open standard input would keep the process alive.
    process.stdin.destroy();
  }
}

/**
 * Registers the search attributes that launches carry, and tries again until the server answers.
 */
async function prepareNamespace(
  connection: Connection,
  namespace: string,
  log: Log,
  stopped: Promise<void>,
): Promise<void> {
  let open = true;
  void stopped.then(() => (open = false));
  while (open) {
    try {
      await registerSearchAttributes(connection, namespace);
      return;
    } catch (error) {
      if (!isUnavailable(error)) {
        const why = error instanceof Error ? error.message : String(error);
        log.warn(`can't register search attributes in namespace ${namespace}: ${why}`);
        return;
      }
      await Promise.race([stopped, sleep(REGISTER_EVERY_MS)]);
    }
  }
}

function isUnavailable(error: unknown): boolean {
  const code = grpcCode(error);
  return code === GRPC.deadlineExceeded || code === GRPC.unavailable;
}

function portProblem(error: unknown, config: Config): string {
  const { host, port } = config.gateway;
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  const message = error instanceof Error ? error.message : String(error);
  return code === "EADDRINUSE"
    ? `port ${port} on ${host} is taken: stop what listens there, or set PAYRUN_GATEWAY_PORT to another`
    : `the gateway can't listen on ${host}:${port}: ${message}`;
}

process.exitCode = await main();
