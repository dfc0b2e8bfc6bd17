import { existsSync, readFileSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";

import type { ClientConnectConfig } from "@temporalio/envconfig";
import { loadClientConnectConfig } from "@temporalio/envconfig";

import type { GatewayLimits } from "./contracts/gateway-limits.ts";
import { ConfigError } from "./config/config-error.ts";
import { readDefaultBusiness } from "./config/default-business.ts";
import { type EncryptionKey, readEncryptionKeysFile } from "./config/encryption-keys.ts";
import { definedOnly } from "./contracts/defined-only.ts";
import { checkedFiles, environmentWithFile } from "./config/env-file.ts";
import { type PlaintextPart, plaintextProblems } from "./config/plaintext.ts";
import { Profiles } from "./config/profiles.ts";
import type { Environment, SettingLine, SettingName, SettingValues } from "./config/settings.ts";
import { describeSettings, readSettings, unknownSettings } from "./config/settings.ts";
import { proxyProblems } from "../scripts/setup/proxy.mjs";
import { distrustIn, type TrustableFolder, trustableIn } from "./config/trustable.ts";
import { DEFAULT_HOME, homeProblem, SANDBOX_PROFILES, untrusted } from "./config/trust.ts";

export { ConfigError } from "./config/config-error.ts";
export { encryptionKeysFile } from "./config/encryption-keys.ts";
export { claimHome, isEmptyHome, SANDBOX_PROFILES, trustFile } from "./config/trust.ts";
export type { Trustable } from "./config/trustable.ts";
export { type BusinessProfile, businessNameProblem } from "./config/business-profile.ts";
export type { Profiles } from "./config/profiles.ts";

export type { SettingLine, SettingName } from "./config/settings.ts";

/** A port, and whether a person chose it: a default one that is taken gives way to the next. */
export interface PortSetting {
  readonly port: number;
  readonly isSet: boolean;
}

export interface TemporalSettings {
  /** Port where `up` starts the embedded server; its UI is 1,000 above. */
  readonly embeddedPort: PortSetting;
  /** True if Temporal's variables or profile name a server: then none is embedded. */
  readonly isExternal: boolean;
  /** For `Connection.connect` and `NativeConnection.connect`; the address is always there. */
  readonly connectionOptions: ClientConnectConfig["connectionOptions"] & {
    readonly address: string;
  };
  readonly namespace: string;
  /** Origins of its UI, whose pages may have histories decrypted. */
  readonly uiOrigins: readonly string[];
  /** Path of the Temporal CLI, if set-up or the user has set it. */
  readonly cliPath: string | undefined;
}

const HIDDEN_PROFILES =
  "PAYRUN_PROFILES stands in .env alone, and a token comes from the environment, so that the file must be named there too: export PAYRUN_PROFILES=FILE";

/** Everything that can be set, checked, with defaults filled in. Paths are absolute. */
export interface Config {
  readonly home: string;
  /**
   * Why the tokens that the home keeps are sent nowhere and nothing is started in it, although the
   * environment names it; undefined if they may be.
   */
  readonly homeProblem: string | undefined;
  /** `sqlite:` and an absolute path, or `postgres://…` with its password. */
  readonly databaseUrl: string;
  /** Parts that may be used without TLS although another machine runs them. */
  readonly allowsPlaintext: readonly PlaintextPart[];
  /** Connections to PostgreSQL that a process opens at most. */
  readonly databasePoolSize: number;
  readonly gateway: PortSetting & { readonly host: string; readonly limits: GatewayLimits };
  /** Keys for personal data, the newest first: it encrypts. Without a key, no personal data is accepted. */
  readonly encryptionKeys: readonly EncryptionKey[];
  /** True once a business is no sandbox and there is a key: then Temporal keeps nothing readable. */
  readonly encryptsHistories: () => boolean;
  /** Where commands find the gateway, without a slash at the end. */
  readonly gatewayUrl: string;
  /** Where others find the gateway, without a slash at the end. */
  readonly publicUrl: string;
  /** `PAYRUN_TOKEN`; without it the commands use the local token in `home`. */
  readonly token: string | undefined;
  readonly sandbox: PortSetting;
  /** Where a worker offers Temporal's metrics, `HOST:PORT`; undefined for nowhere. */
  readonly workerMetrics: string | undefined;
  readonly temporal: TemporalSettings;
  readonly profiles: Profiles;
  /** True if no setting names a business: then `up`'s sandbox has the businesses. */
  readonly isHomeSandbox: boolean;
  /** True if only `.env` names the businesses, which it may not: every request for them is refused. */
  readonly hidesProfiles: boolean;
  /** Every setting as `payrun doctor` lists it, secrets masked. */
  readonly settings: readonly SettingLine[];
  /** Variables that look like settings but are none. */
  readonly warnings: readonly string[];
}

/**
 * Reads the settings, once, from the environment and the `.env` of the current folder (see
 * `environmentWithFile` for what that may set).
 *
 * @param env used instead of both, for tests and for processes started with settings of their own
 * @throws {ConfigError} with a line for every mistake
 */
export function loadConfig(env?: Environment): Config {
  const given = env === undefined ? ownEnvironment() : undefined;
  const variables = env ?? given?.variables ?? {};
  const { values, problems } = readSettings(variables);
  const temporal = readTemporal(variables, values, problems);
  const home = values.PAYRUN_HOME ?? resolve(DEFAULT_HOME);
  // Who is started with settings of its own is told where its businesses are.
  const profiles = given?.hidesProfiles
    ? { read: new Profiles({ refused: HIDDEN_PROFILES }), isHomeSandbox: false }
    : readProfiles(variables, values, problems, env === undefined ? home : undefined);
  const keys = values.PAYRUN_ENCRYPTION_KEYS ?? readEncryptionKeysFile(home, problems);
  const databaseUrl = values.PAYRUN_DATABASE_URL ?? `sqlite:${join(home, "payrun.db")}`;
  const allowsPlaintext = values.PAYRUN_ALLOW_PLAINTEXT ?? [];
  if (temporal !== undefined) {
    const { connectionOptions } = temporal;
    problems.push(...plaintextProblems(databaseUrl, connectionOptions, allowsPlaintext));
    problems.push(...proxyProblems(variables, connectionOptions.address));
  }
  if (problems.length > 0 || profiles === undefined || temporal === undefined) {
    // What was left out may be what is missing.
    throw new ConfigError([...problems, ...(given?.ignored ?? [])]);
  }
  const host = values.PAYRUN_GATEWAY_HOST ?? "127.0.0.1";
  const limits = {
    connections: values.PAYRUN_GATEWAY_CONNECTIONS ?? 1_000,
    connectionsPerAddress: values.PAYRUN_GATEWAY_CONNECTIONS_PER_ADDRESS ?? 500,
    trustedProxies: values.PAYRUN_TRUSTED_PROXIES ?? [],
    ratePerToken: values.PAYRUN_GATEWAY_RATE_PER_TOKEN ?? 200,
    ratePerAddress: values.PAYRUN_GATEWAY_RATE_PER_ADDRESS ?? 400,
    webhookRate: values.PAYRUN_GATEWAY_WEBHOOK_RATE ?? 2_000,
    headersTimeoutMs: 10_000,
    requestTimeoutMs: 60_000,
  };
  const gateway = { host, limits, ...portSetting(values.PAYRUN_GATEWAY_PORT, 8088) };
  const gatewayUrl = values.PAYRUN_GATEWAY_URL ?? urlOf(host, gateway.port);
  return {
    home,
    homeProblem: homeProblem(home, true),
    databaseUrl,
    allowsPlaintext,
    databasePoolSize: values.PAYRUN_DATABASE_POOL ?? 10,
    gateway,
    encryptionKeys: keys,
    encryptsHistories: () => keys.length > 0 && !profiles.read.sandboxesOnly(),
    gatewayUrl,
    publicUrl: values.PAYRUN_PUBLIC_URL ?? gatewayUrl,
    token: values.PAYRUN_TOKEN,
    sandbox: portSetting(values.PAYRUN_SANDBOX_PORT, 8089),
    workerMetrics: values.PAYRUN_WORKER_METRICS,
    temporal,
    profiles: profiles.read,
    isHomeSandbox: profiles.isHomeSandbox,
    hidesProfiles: given?.hidesProfiles ?? false,
    settings: describeSettings(variables),
    warnings: [...unknownSettings(variables), ...(given?.ignored ?? [])],
  };
}

/**
 * The environment for a process that we start: ours, with these settings in place of what it
 * says. `undefined` takes a setting away.
 */
export function environmentWith(
  settings: Readonly<Partial<Record<SettingName | `TEMPORAL_${string}`, string | undefined>>>,
): Record<string, string> {
  return definedOnly({ ...ownEnvironment("PAYRUN_HOME" in settings).variables, ...settings });
}

/**
 * Returns the environment and what the current folder adds to it: an `.env` and a home, as far as
 * they are trusted.
 *
 * @param hasHome true if another home than the one that they name is used
 * @throws {ConfigError} if the user hasn't trusted them; nothing in the home is read then, such as
 *   a profile that names a program
 */
function ownEnvironment(hasHome = false): ReturnType<typeof environmentWithFile> {
  const read = environmentWithFile(process.env);
  if (hasHome || isSaid(process.env["PAYRUN_HOME"])) return read;
  const home = read.variables["PAYRUN_HOME"];
  const doubt = homeProblem(resolve(isSaid(home) ? home.trim() : DEFAULT_HOME), false);
  if (doubt !== undefined) throw new ConfigError([doubt, ...read.ignored]);
  return read;
}

/** Returns what there is to trust in the current folder. */
export function trustableHere(): TrustableFolder {
  return trustableIn(process.env);
}

/** Takes back the trust in the current folder, all that is in it, and the home that it uses. */
export function distrustHere(): void {
  distrustIn(process.env);
}

function isSaid(value: string | undefined): value is string {
  return (value ?? "").trim() !== "";
}

/** Folders in which a shell looks for programs. */
export function programFolders(): string[] {
  return (process.env["PATH"] ?? "").split(delimiter).filter((folder) => folder !== "");
}

function readTemporal(
  env: Environment,
  values: SettingValues,
  problems: string[],
): TemporalSettings | undefined {
  const embeddedPort = portSetting(values.PAYRUN_TEMPORAL_PORT, 7233);
  try {
    const { connectionOptions, namespace } = loadClientConnectConfig({
      ...definedOnly({ configSource: trustedProfilesOfTemporal(env) }),
      overrideEnvVars: definedOnly(env),
    });
    const address = connectionOptions.address ?? `127.0.0.1:${embeddedPort.port}`;
    return {
      embeddedPort,
      isExternal: connectionOptions.address !== undefined,
      connectionOptions: { ...connectionOptions, address },
      namespace: namespace ?? "default",
      uiOrigins: values.PAYRUN_TEMPORAL_UI_ORIGINS ?? [],
      cliPath: values.TEMPORAL_CLI,
    };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    problems.push(`Temporal's own settings (TEMPORAL_…) can't be used: ${why}`);
    return undefined;
  }
}

/** Returns the text of the file that an `.env` names. @throws {ConfigError} if it isn't trusted */
function trustedProfilesOfTemporal(env: Environment): { readonly data: string } | undefined {
  const path = env["TEMPORAL_CONFIG_FILE"]?.trim();
  if (!path || !checkedFiles(env).includes(resolve(path))) return undefined;
  const data = readFileSync(path, "utf8");
  const why = untrusted(path, data);
  if (why !== undefined) throw new ConfigError([why]);
  return { data };
}

/** @param home where `up` may have made the only business there is */
function readProfiles(
  env: Environment,
  values: SettingValues,
  problems: string[],
  home: string | undefined,
): { readonly read: Profiles; readonly isHomeSandbox: boolean } | undefined {
  try {
    const path = values.PAYRUN_PROFILES;
    if (path !== undefined) {
      const isChecked = checkedFiles(env).includes(path);
      return { read: new Profiles({ path, env, isChecked }), isHomeSandbox: false };
    }
    const { businesses, problems: mistakes } = readDefaultBusiness(values);
    problems.push(...mistakes);
    const isSaid = businesses.length + mistakes.length > 0;
    const beside = home === undefined ? undefined : join(home, SANDBOX_PROFILES);
    // Another machine's gateway has businesses of its own.
    const isElsewhere = values.PAYRUN_GATEWAY_URL !== undefined;
    if (isSaid || isElsewhere || beside === undefined || !existsSync(beside)) {
      return { read: new Profiles({ businesses }), isHomeSandbox: false };
    }
    return { read: new Profiles({ path: beside, env }), isHomeSandbox: true };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    problems.push(...error.problems);
    return undefined;
  }
}

function portSetting(port: number | undefined, fallback: number): PortSetting {
  return { port: port ?? fallback, isSet: port !== undefined };
}

/** A gateway that listens on every address is still reached at this machine's own. */
function urlOf(host: string, port: number): string {
  const reachable = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
  return `http://${reachable.includes(":") ? `[${reachable}]` : reachable}:${port}`;
}
