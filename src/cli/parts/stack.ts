import { join } from "node:path";

import { type Config, environmentWith } from "../../config.ts";
import { openStore } from "../../store/open.ts";
import { unavailable } from "../terminal/cli-error.ts";
import { ensureLocalAdmin, ensureLocalApprover } from "./ensure-people.ts";
import { ensureEncryptionKey } from "../home/local-keys.ts";
import { gatewayPart, sandboxPart, temporalPart, workerPart } from "./parts.ts";
import { findPort } from "./ports.ts";
import { writePrivate } from "../home/private-file.ts";
import { startKept } from "./kept-part.ts";
import type { RunningPart, PartPlan, Processes } from "./processes.ts";
import { connectSandbox, type SandboxBusiness } from "./sandbox-business.ts";
import { workflowBundle } from "./workflow-bundle.ts";

export interface StackOptions {
  readonly config: Config;
  /** The folder in which everything is kept. */
  readonly home: string;
  readonly databaseUrl: string;
  /** Start Temporal's development server, instead of using the one in the settings. */
  readonly embedTemporal: boolean;
  readonly sandbox: {
    readonly fixture: string;
    /** True if the sandbox's company is the only business; otherwise the settings' apply. */
    readonly isTheBusiness: boolean;
  } | null;
  /** The address in webhooks and links; the gateway's own unless given. */
  readonly publicUrl?: string | undefined;
  /** The folder of workflow bundles. */
  readonly bundleFolder: string;
  /** The folder that the worker and the gateway run in, whose `.env` is read. */
  readonly cwd?: string;
  readonly workerStopTimeoutMs: number;
  /** If given, parts that die are started again instead of ending everything; called each time. */
  readonly restarted?: (line: string) => void;
}

export interface Addresses {
  readonly gateway: string;
  readonly sandbox: string | null;
  /** Temporal's `host:port`. */
  readonly temporal: string;
  /** Null if the Temporal server isn't ours: its UI's address is not known. */
  readonly temporalUi: string | null;
}

/** Everything that `up` and the demo run. */
export interface Stack {
  readonly addresses: Addresses;
  readonly business: SandboxBusiness | null;
  /** Token of the local administrator. */
  readonly adminToken: string;
  readonly worker: RunningPart;
  startWorker(): Promise<RunningPart>;
}

/**
 * Determines the addresses at which everything will listen.
 *
 * @param said is called for default ports that are replaced
 * @throws {CliError} 4 if a port in the settings is taken
 */
export async function chooseAddresses(
  options: Pick<StackOptions, "config" | "embedTemporal" | "sandbox">,
  said: (line: string) => void,
): Promise<Addresses> {
  const { config } = options;
  const taken = new Set<number>();
  const { host, ...gatewaySetting } = config.gateway;
  const gateway = await findPort(
    { name: "gateway", setting: gatewaySetting, variable: "PAYRUN_GATEWAY_PORT", host },
    taken,
    said,
  );
  const local = { host: "127.0.0.1" };
  const sandbox =
    options.sandbox === null
      ? null
      : await findPort(
          {
            name: "sandbox",
            setting: config.sandbox,
            variable: "PAYRUN_SANDBOX_PORT",
            ...local,
          },
          taken,
          said,
        );
  const temporal = options.embedTemporal
    ? await findPort(
        {
          name: "Temporal server",
          setting: config.temporal.embeddedPort,
          variable: "PAYRUN_TEMPORAL_PORT",
          companions: [1000],
          ...local,
        },
        taken,
        said,
      )
    : null;
  const reachable = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
  return {
    gateway: `http://${reachable.includes(":") ? `[${reachable}]` : reachable}:${gateway}`,
    sandbox: sandbox === null ? null : `http://127.0.0.1:${sandbox}`,
    temporal:
      temporal === null ? config.temporal.connectionOptions.address : `127.0.0.1:${temporal}`,
    temporalUi: temporal === null ? null : `http://127.0.0.1:${temporal + 1000}`,
  };
}

/**
 * Starts all parts, concurrently if possible, and resolves when they are ready.
 *
 * @throws {CliError} 4 if a part can't be started; `processes` still owns the parts that are
 *   running
 */
export async function startStack(
  processes: Processes,
  options: StackOptions,
  addresses: Addresses,
): Promise<Stack> {
  if (options.config.encryptionKeys.length === 0) ensureEncryptionKey(options.home);
  const [bundle, business, adminToken] = await Promise.all([
    workflowBundle(options.bundleFolder, {
      encrypts: !options.config.profiles.sandboxesOnly(),
    }),
    startSandbox(processes, options, addresses),
    prepareStore(options),
    startTemporal(processes, options, addresses),
  ]);
  const env = engineEnv(options, addresses, business);
  const engine = { env, cwd: options.cwd };
  const startWorker = () => {
    const { workerStopTimeoutMs: stopTimeoutMs } = options;
    return startPart(processes, options, workerPart({ ...engine, stopTimeoutMs }, bundle));
  };
  const [worker] = await Promise.all([
    startWorker(),
    startPart(processes, options, gatewayPart(engine)),
  ]);
  return { addresses, business, adminToken, worker, startWorker };
}

function startPart(
  processes: Processes,
  { restarted }: StackOptions,
  plan: PartPlan,
): Promise<RunningPart> {
  return restarted === undefined ? processes.start(plan) : startKept(processes, plan, restarted);
}

async function startTemporal(
  processes: Processes,
  options: StackOptions,
  addresses: Addresses,
): Promise<void> {
  const { config, embedTemporal, home } = options;
  if (!embedTemporal) return;
  const cli = config.temporal.cliPath;
  if (cli === undefined) {
    throw unavailable(
      "temporal_cli_missing",
      "no Temporal CLI was found, so no Temporal server can be started",
      "Start this with `npx payrun …`, which finds or makes one, or set TEMPORAL_CLI to its path.",
    );
  }
  const port = Number(addresses.temporal.split(":").at(-1));
  const codecUrl = config.profiles.sandboxesOnly() ? undefined : `${addresses.gateway}/codec`;
  const plan = temporalPart({ cli, port, home, env: environmentWith({}), codecUrl });
  await startPart(processes, options, plan);
}

async function startSandbox(
  processes: Processes,
  options: StackOptions,
  addresses: Addresses,
): Promise<SandboxBusiness | null> {
  const { sandbox, home } = options;
  if (sandbox === null || addresses.sandbox === null) return null;
  const { hostname, port } = new URL(addresses.sandbox);
  const part = await startPart(
    processes,
    options,
    sandboxPart({
      host: hostname,
      port: Number(port),
      dataDir: join(home, "sandbox"),
      fixture: sandbox.fixture,
      env: environmentWith({}),
    }),
  );
  return sandbox.isTheBusiness
    ? connectSandbox({ home, greeting: part.greeting, gatewayUrl: addresses.gateway })
    : null;
}

/**
 * Makes the store before any other process opens it, and the people whom a first run needs.
 *
 * @returns the local administrator's token
 */
async function prepareStore({ databaseUrl, home, sandbox }: StackOptions): Promise<string> {
  const store = await openStore(databaseUrl);
  try {
    // With real money, a person counts only after a second administrator has confirmed them.
    if (sandbox?.isTheBusiness === true) await ensureLocalApprover(store, home);
    return await ensureLocalAdmin(store, home);
  } finally {
    await store.close();
  }
}

/** Returns the environment of the worker and the gateway, which no longer depends on a `.env`. */
function engineEnv(
  options: StackOptions,
  addresses: Addresses,
  business: SandboxBusiness | null,
): Record<string, string> {
  const env = environmentWith({
    PAYRUN_HOME: options.home,
    PAYRUN_DATABASE_URL: options.databaseUrl,
    PAYRUN_GATEWAY_HOST: options.config.gateway.host,
    PAYRUN_GATEWAY_PORT: new URL(addresses.gateway).port,
    PAYRUN_GATEWAY_URL: addresses.gateway,
    PAYRUN_PUBLIC_URL: options.publicUrl ?? addresses.gateway,
    ...uiOrigins(options, addresses),
    ...(business === null ? {} : { PAYRUN_PROFILES: business.profilesPath }),
  });
  if (!options.embedTemporal) return env;
  // The user's own settings and profiles for Temporal describe another server.
  const ours = Object.entries(env).filter(([name]) => !name.startsWith("TEMPORAL_"));
  return {
    ...Object.fromEntries(ours),
    TEMPORAL_ADDRESS: addresses.temporal,
    TEMPORAL_NAMESPACE: "default",
    TEMPORAL_CONFIG_FILE: temporalProfile(options.home, addresses.temporal),
  };
}

/** Browsers know this machine by two names. */
function uiOrigins({ config }: StackOptions, { temporalUi }: Addresses): Record<string, string> {
  if (temporalUi === null || config.temporal.uiOrigins.length > 0) return {};
  const byName = temporalUi.replace("127.0.0.1", "localhost");
  return { PAYRUN_TEMPORAL_UI_ORIGINS: `${temporalUi},${byName}` };
}

/** Writes a profile of the embedded server, which replaces the user's own file. */
function temporalProfile(home: string, address: string): string {
  const path = join(home, "temporal.toml");
  writePrivate(path, `[profile.default]\naddress = "${address}"\nnamespace = "default"\n`);
  return path;
}
