import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { parseEnv } from "node:util";

import { ConfigError } from "./config-error.ts";
import { type Environment, SETTING_NAMES, type SettingName } from "./settings.ts";

/** Temporal's own variables, as its own reader knows them. */
const TEMPORAL = /^TEMPORAL_(ADDRESS|NAMESPACE|API_KEY|PROFILE|CONFIG_FILE|TLS(_\w+)?)$/;

/** Settings that may hold a token; only the source of a token decides where it is sent. */
const TOKENS = ["PAYRUN_TOKEN", "PAYMENTS_API_TOKEN", "TEMPORAL_API_KEY"] as const;

/** Settings that determine where something goes, what runs, or whose rules apply. */
const LEADS: readonly SettingName[] = [
  "PAYRUN_HOME",
  "PAYRUN_DATABASE_URL",
  "PAYRUN_GATEWAY_HOST",
  "PAYRUN_GATEWAY_PORT",
  "PAYRUN_GATEWAY_URL",
  "PAYRUN_PUBLIC_URL",
  "PAYRUN_PROFILES",
  "PAYRUN_ALLOW_PLAINTEXT",
  "PAYMENTS_API_URL",
  "PAYMENTS_API_SANDBOX",
  "PAYMENTS_SIGNERS",
  "PAYMENTS_NOTIFY_WEBHOOK",
  "PAYMENTS_NOTIFY_SLACK",
  "PAYMENTS_NOTIFY_SMTP_URL",
  "TEMPORAL_CLI",
];

interface EnvironmentRead {
  readonly variables: Environment;
  readonly ignored: readonly string[];
  readonly hidesProfiles: boolean;
}

/**
 * Returns the environment, extended by the `.env` of the current folder. The file may set only
 * settings and never overrides the environment. If a token comes from the environment, the file
 * determines neither where it goes, nor what runs, nor who decides: anyone may have supplied the
 * folder.
 *
 * @returns `ignored` names what is left out, without its value, with a line for each reason;
 *   `hidesProfiles` is true if the file names the businesses and may not
 * @throws {ConfigError} if the file can't be read
 */
export function environmentWithFile(env: Environment, file = resolve(".env")): EnvironmentRead {
  if (!existsSync(file)) return { variables: env, ignored: [], hidesProfiles: false };
  const hasToken = TOKENS.some((name) => (env[name] ?? "").trim() !== "");
  const variables: Record<string, string | undefined> = { ...env };
  const [unknown, leading]: [string[], string[]] = [[], []];
  let hidesProfiles = false;
  for (const [name, value] of Object.entries(read(file))) {
    if (env[name] !== undefined) continue;
    const isSetting = SETTING_NAMES.some((known) => known === name);
    if (!isSetting && !TEMPORAL.test(name)) {
      unknown.push(name);
    } else if (hasToken && leads(name)) {
      hidesProfiles ||= name === "PAYRUN_PROFILES";
      leading.push(name);
    } else variables[name] = value;
  }
  const ignored = [
    ...ignoredText(unknown, "it may set only what “payrun doctor” lists"),
    ...ignoredText(leading, "a token comes from the environment, so they must too"),
  ];
  return { variables, ignored, hidesProfiles };
}

function ignoredText(names: readonly string[], why: string): string[] {
  const last = names.at(-1);
  if (last === undefined) return [];
  if (names.length === 1) {
    return [`.env sets ${last}, which is ignored: ${why.replace("they", "this")}`];
  }
  return [`.env sets ${names.slice(0, -1).join(", ")} and ${last}, which are ignored: ${why}`];
}

function leads(name: string): boolean {
  const isTemporals = TEMPORAL.test(name) && name !== "TEMPORAL_NAMESPACE";
  return isTemporals || LEADS.some((lead) => lead === name);
}

function read(file: string): Record<string, string | undefined> {
  try {
    return parseEnv(readFileSync(file, "utf8"));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new ConfigError([`${file} can't be read: ${why}`]);
  }
}
