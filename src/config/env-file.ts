import { resolve } from "node:path";

import { hasToken, readEnvFile } from "../../scripts/setup/trusted-files.mjs";
import { inSentence } from "../contracts/in-sentence.ts";
import { ConfigError } from "./config-error.ts";
import { CHECKED_FILES, type Environment, SETTING_NAMES, type SettingName } from "./settings.ts";
import { untrusted } from "./trust.ts";

/** Temporal's own variables, as its own reader knows them. */
const TEMPORAL = /^TEMPORAL_(ADDRESS|NAMESPACE|API_KEY|PROFILE|CONFIG_FILE|TLS(_\w+)?)$/;

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

/** Settings that name a file with more settings in it. */
const FILES = ["PAYRUN_PROFILES", "TEMPORAL_CONFIG_FILE"] as const;

interface EnvironmentRead {
  readonly variables: Environment;
  readonly ignored: readonly string[];
  readonly hidesProfiles: boolean;
}

/**
 * Returns the environment, extended by the `.env` of the current folder. The file may set only
 * settings and never overrides the environment. Anyone may have supplied the folder: the file sets
 * nothing until the user has trusted it as it is now, and if a token comes from the environment, it
 * determines neither where that goes, nor what runs, nor who decides.
 *
 * @returns `ignored` names what is left out, without its value, with a line for each reason;
 *   `hidesProfiles` is true if the file names the businesses and may not
 * @throws {ConfigError} if the file can't be read, or isn't trusted
 */
export function environmentWithFile(env: Environment, path = resolve(".env")): EnvironmentRead {
  const file = read(path);
  if (file === undefined) return { variables: env, ignored: [], hidesProfiles: false };
  const isLed = hasToken(env);
  const set: Record<string, string | undefined> = {};
  const [unknown, leading]: [string[], string[]] = [[], []];
  let hidesProfiles = false;
  for (const [name, value] of Object.entries(file.values)) {
    if (env[name] !== undefined) continue;
    if (!isSettable(name)) {
      unknown.push(name);
    } else if (isLed && leads(name)) {
      hidesProfiles ||= name === "PAYRUN_PROFILES";
      leading.push(name);
    } else set[name] = value;
  }
  const why = Object.keys(set).length === 0 ? undefined : untrusted(path, file.text);
  if (why !== undefined) {
    throw new ConfigError([
      `${why} It sets ${inSentence(Object.keys(set))}: what is exported needs no trust`,
    ]);
  }
  const ignored = [
    ...ignoredText(unknown, "it may set only what “payrun doctor” lists"),
    ...ignoredText(leading, "a token comes from the environment, so they must too"),
  ];
  const checked = [...checkedFiles(env), ...Object.values(namedFiles(set))];
  if (checked.length > 0) set[CHECKED_FILES] = JSON.stringify(checked);
  return { variables: { ...env, ...set }, ignored, hidesProfiles };
}

/** True if an `.env` may set it: one of Payrun's settings, or of Temporal's own. */
export function isSettable(name: string): boolean {
  return SETTING_NAMES.some((known) => known === name) || TEMPORAL.test(name);
}

/** Returns the paths of the files with more settings that these settings name. */
export function namedFiles(set: Environment): Partial<Record<(typeof FILES)[number], string>> {
  const named = FILES.map((name) => [name, set[name]?.trim()] as const);
  return Object.fromEntries(
    named.flatMap(([name, path]) => (path ? [[name, resolve(path)] as const] : [])),
  );
}

/** Returns the files that count only as far as they are trusted: an `.env` has named them. */
export function checkedFiles(env: Environment): readonly string[] {
  const listed = env[CHECKED_FILES];
  return listed === undefined ? [] : (JSON.parse(listed) as string[]);
}

function ignoredText(names: readonly string[], why: string): string[] {
  if (names.length === 0) return [];
  if (names.length === 1) {
    return [`.env sets ${inSentence(names)}, which is ignored: ${why.replace("they", "this")}`];
  }
  return [`.env sets ${inSentence(names)}, which are ignored: ${why}`];
}

function leads(name: string): boolean {
  const isTemporals = TEMPORAL.test(name) && name !== "TEMPORAL_NAMESPACE";
  return isTemporals || LEADS.some((lead) => lead === name);
}

function read(path: string): ReturnType<typeof readEnvFile> {
  try {
    return readEnvFile(path);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new ConfigError([`${path} can't be read: ${why}`]);
  }
}
