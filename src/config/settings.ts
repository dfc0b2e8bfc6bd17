import type { z } from "zod";

import { encryptionKeys } from "./encryption-keys.ts";
import { MASK, masked } from "./masked.ts";
import { nearest } from "./nearest.ts";
import { PLAINTEXT_PARTS } from "./plaintext.ts";
import {
  addressesText,
  countSetting,
  databaseUrl,
  httpUrl,
  listenAddress,
  networks,
  origins,
  path,
  plaintextParts,
  poolSize,
  port,
  secretList,
  textSetting,
} from "./setting-values.ts";
import { signersText } from "./signers.ts";

/** The variables of the environment, or something with the same shape. */
export type Environment = Readonly<Record<string, string | undefined>>;

interface Definition<Value> {
  readonly description: string;
  /** What `payrun doctor` shows if nothing is set. */
  readonly defaultText: string;
  readonly secret?: true;
  readonly parse: z.ZodType<Value, string>;
}

function setting<Value>(
  description: string,
  defaultText: string,
  parse: z.ZodType<Value, string>,
  secret?: true,
): Definition<Value> {
  return { description, defaultText, parse, ...(secret ? { secret } : {}) };
}

/**
 * Every setting of Payrun, by the name of its variable. Temporal's own reader reads Temporal's
 * variables (`TEMPORAL_ADDRESS`, `TEMPORAL_NAMESPACE`, `TEMPORAL_API_KEY`, `TEMPORAL_PROFILE`,
 * `TEMPORAL_TLS…`) and its profiles.
 */
export const SETTINGS = {
  PAYRUN_HOME: setting("folder of everything kept on this machine", ".payrun", path),
  PAYRUN_DATABASE_URL: setting(
    "the store: sqlite: and the path of a file, or postgres://USER:PASSWORD@HOST:PORT/DATABASE",
    "sqlite:$PAYRUN_HOME/payrun.db",
    databaseUrl,
  ),
  PAYRUN_DATABASE_POOL: setting(
    "connections to PostgreSQL that each process opens at most",
    "10",
    poolSize,
  ),
  PAYRUN_ALLOW_PLAINTEXT: setting(
    `which of ${PLAINTEXT_PARTS.join(", ")} may be spoken to without TLS on other machines of a private network`,
    "none",
    plaintextParts,
  ),
  PAYRUN_GATEWAY_HOST: setting("address the gateway listens on", "127.0.0.1", textSetting),
  PAYRUN_GATEWAY_PORT: setting("port the gateway listens on", "8088", port(65_535)),
  PAYRUN_GATEWAY_CONNECTIONS: setting(
    "connections the gateway holds open",
    "1000",
    countSetting(100_000),
  ),
  PAYRUN_GATEWAY_CONNECTIONS_PER_ADDRESS: setting(
    "connections from one address that is not a trusted proxy",
    "500",
    countSetting(100_000),
  ),
  PAYRUN_GATEWAY_RATE_PER_TOKEN: setting(
    "requests a second of one token",
    "200",
    countSetting(100_000),
  ),
  PAYRUN_GATEWAY_RATE_PER_ADDRESS: setting(
    "requests a second from one address, webhooks apart",
    "400",
    countSetting(100_000),
  ),
  PAYRUN_GATEWAY_WEBHOOK_RATE: setting(
    "webhooks a second of one business from one address",
    "2000",
    countSetting(100_000),
  ),
  PAYRUN_TRUSTED_PROXIES: setting(
    "proxies before the gateway whose X-Forwarded-For is believed: addresses or networks like 10.0.0.0/8, separated by commas",
    "none",
    networks,
  ),
  PAYRUN_PUBLIC_URL: setting(
    "address of the gateway as others reach it, for webhooks and links",
    "PAYRUN_GATEWAY_URL",
    httpUrl,
  ),
  PAYRUN_SANDBOX_PORT: setting("port the sandbox listens on", "8089", port(65_535)),
  PAYRUN_TEMPORAL_PORT: setting(
    "port of the embedded Temporal server; its UI is 1,000 above",
    "7233",
    port(64_535),
  ),
  PAYRUN_WORKER_METRICS: setting(
    "address at which a worker offers its Temporal metrics to Prometheus, HOST:PORT",
    "none",
    listenAddress,
  ),
  PAYRUN_TEMPORAL_UI_ORIGINS: setting(
    "origins of Temporal's UI whose pages may have histories decrypted, separated by commas",
    "the embedded one's with `up`, otherwise none",
    origins,
  ),
  PAYRUN_PROFILES: setting("YAML file with the businesses", "one business, `default`", path),
  PAYRUN_ENCRYPTION_KEYS: setting(
    "keys of the vault, ID:KEY with 32 random bytes in base64 or hex, the newest first",
    "encryption.keys in PAYRUN_HOME, made by `up`",
    encryptionKeys,
    true,
  ),
  PAYRUN_GATEWAY_URL: setting(
    "address where the commands find the gateway",
    "where PAYRUN_GATEWAY_HOST and …_PORT say",
    httpUrl,
  ),
  PAYRUN_TOKEN: setting(
    "token the commands show to the gateway",
    "the local one",
    textSetting,
    true,
  ),
  TEMPORAL_CLI: setting("path of the Temporal CLI to use", "found at set-up", path),
  PAYMENTS_API_URL: setting("address of the Payments Service", "none", textSetting),
  PAYMENTS_API_TOKEN: setting("token for the Payments Service", "none", textSetting, true),
  PAYMENTS_BUSINESS_ID: setting("the business's id at the Payments Service", "none", textSetting),
  PAYMENTS_WEBHOOK_SECRETS: setting(
    "secrets of its webhook endpoints, separated by commas",
    "none",
    textSetting,
    true,
  ),
  PAYMENTS_ACH_ACCEPTED_BY: setting(
    "person who accepted the ACH debit authorization (every source but the balance needs it)",
    "none",
    textSetting,
  ),
  PAYMENTS_ACH_ACCEPTED_AT: setting("date or instant when that was", "none", textSetting),
  PAYMENTS_SIGNERS: setting(
    "Ed25519 keys of systems that decide on runs, KEY_ID:NAME:ROLE+ROLE:PUBLIC_KEY",
    "none",
    signersText,
  ),
  PAYMENTS_NOTIFY_WEBHOOK: setting(
    "address that is notified of what people must decide or look at (Standard Webhooks)",
    "none",
    textSetting,
    true,
  ),
  PAYMENTS_NOTIFY_WEBHOOK_SECRET: setting(
    "secrets that sign its notices, separated by commas",
    "none",
    secretList,
    true,
  ),
  PAYMENTS_NOTIFY_SLACK: setting(
    "incoming webhook for notices, of Slack or of another service that takes the same JSON",
    "none",
    textSetting,
    true,
  ),
  PAYMENTS_NOTIFY_EMAIL: setting(
    "e-mail addresses for notices, ROLE:ADDRESS, several separated by commas",
    "none",
    addressesText,
  ),
  PAYMENTS_NOTIFY_SMTP_URL: setting(
    "how e-mail leaves: smtps://USER:PASSWORD@HOST:PORT or smtp://…",
    "none",
    textSetting,
    true,
  ),
  PAYMENTS_NOTIFY_SMTP_FROM: setting(
    "sender of e-mail: an address, or NAME <ADDRESS>",
    "none",
    textSetting,
  ),
  PAYMENTS_API_SANDBOX: setting(
    "true if the service is the sandbox and its clocks are read",
    "false",
    textSetting,
  ),
} as const satisfies Record<string, Definition<unknown>>;

export type SettingName = keyof typeof SETTINGS;

export const SETTING_NAMES = Object.keys(SETTINGS) as readonly SettingName[];

/** The values of the settings that are set; an empty one counts as not set. */
export type SettingValues = {
  readonly [Name in SettingName]?: z.output<(typeof SETTINGS)[Name]["parse"]>;
};

/** One line of the list of `payrun doctor`; a secret's value is masked. */
export interface SettingLine {
  readonly name: SettingName;
  readonly description: string;
  readonly value: string;
  readonly isSet: boolean;
}

/**
 * The variable that tells the processes that we start which files their settings name because an
 * `.env` says so, as a JSON list. It is no setting.
 */
export const CHECKED_FILES = "PAYRUN_CHECKED_FILES";

/** Reads every setting; returns mistakes as lines that name the variable. */
export function readSettings(env: Environment): { values: SettingValues; problems: string[] } {
  const values: Partial<Record<SettingName, unknown>> = {};
  const problems: string[] = [];
  for (const name of SETTING_NAMES) {
    const raw = env[name];
    if (raw === undefined || raw.trim() === "") continue;
    const definition: Definition<unknown> = SETTINGS[name];
    const parsed = definition.parse.safeParse(raw.trim());
    if (parsed.success) values[name] = parsed.data;
    else problems.push(problemLine(name, raw, parsed.error));
  }
  return { values: values as SettingValues, problems };
}

function problemLine(name: SettingName, raw: string, error: z.ZodError): string {
  const why = error.issues.map((issue) => issue.message).join("; ");
  const definition: Definition<unknown> = SETTINGS[name];
  return definition.secret
    ? `${name} ${why}`
    : `${name} ${why}, not ${JSON.stringify(masked(raw))}`;
}

/** Lists every setting as `payrun doctor` shows it. */
export function describeSettings(env: Environment): SettingLine[] {
  return SETTING_NAMES.map((name) => {
    const { description, defaultText, secret }: Definition<unknown> = SETTINGS[name];
    const raw = env[name]?.trim() ?? "";
    const isSet = raw !== "";
    const value = !isSet ? defaultText : secret ? MASK : masked(raw);
    return { name, description, value, isSet };
  });
}

/**
 * Returns lines about variables that look like ours but are unknown. Most are typing mistakes,
 * which would otherwise be ignored silently.
 */
export function unknownSettings(env: Environment): string[] {
  return Object.keys(env)
    .filter((name) => /^(PAYRUN|PAYMENTS)_/.test(name) && !Object.hasOwn(SETTINGS, name))
    .filter((name) => name !== CHECKED_FILES)
    .toSorted()
    .map((name) => {
      const meant = nearest(name, SETTING_NAMES);
      return `${name} is not a setting${meant ? `: did you mean ${meant}?` : ""}`;
    });
}
