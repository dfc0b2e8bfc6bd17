import { dirname, resolve } from "node:path";

import { loadClientConfig, toTomlConfig } from "@temporalio/envconfig";

import { isRecord } from "../contracts/is-record.ts";
import { MASK, masked, maskedBehindHost } from "./masked.ts";
import { REFERENCE, type ProfilesFile } from "./profiles-file.ts";
import { describeSettings, type Environment } from "./settings.ts";

/** What a file sets, as its reader sees it before trusting it. */
export interface ShownFile {
  /** A line for each setting. Secrets are masked, and nothing that leads, runs or decides is. */
  readonly says: readonly string[];
  /** What is wrong, if the file can't be shown as a whole. */
  readonly problems: readonly string[];
}

/** How a value is shown in a place where it is a secret, or has one in it. */
type Secrets = readonly (readonly [place: RegExp, show: (text: string) => string])[];

const mask = () => MASK;
const asItIs = (text: string) => text;

// Only here may an address have a password. What looks like one elsewhere may hide what leads.
const OF_ENV_FILE: Secrets = [
  [/^PAYRUN_DATABASE_URL$/, masked],
  [/^PAYMENTS_NOTIFY_(WEBHOOK|SLACK|SMTP_URL)$/, maskedBehindHost],
  [/^TEMPORAL_(API_KEY|TLS_CLIENT_KEY_DATA)$/, mask],
];

// Anchored at the business, so that nobody's name makes a secret of what else it says.
const OF_BUSINESS: Secrets = [
  [/^(token|webhookSecrets(\.\d+)?|signIn\.provider\.clientSecret)$/, mask],
  [/^notify\.channels\.[^.]+\.secret(\.\d+)?$/, mask],
  [/^notify\.(channels\.[^.]+\.(webhook|slack)|smtp\.url)$/, maskedBehindHost],
];

const OF_TEMPORALS_PROFILE: Secrets = [[/^(api_key|tls\.client_key_data|grpc_meta\..*)$/, mask]];

/** Shows the settings of an `.env`. */
export function shownSettings(set: Environment): string[] {
  const masks = describeSettings(set).filter(({ value }) => value === MASK);
  const secrets = new Set<string>(masks.map(({ name }) => name));
  return Object.entries(set).map(([name, value = ""]) => {
    const show = maskOf(name, OF_ENV_FILE) ?? (secrets.has(name) ? mask : asItIs);
    return `${name}=${show(value)}`;
  });
}

/**
 * Shows every setting of a profiles file as it is written. Behind a reference stands what it stands
 * for, if that is in a file, or in the `.env` that is trusted with it.
 *
 * @param set what the `.env` sets
 */
export function shownProfiles(path: string, file: ProfilesFile, set: Environment): ShownFile {
  const valueOf = (text: string): string | undefined => {
    const [, kind, target = ""] = REFERENCE.exec(text.trim()) ?? [];
    if (kind === "env") return set[target.trim()]?.trim();
    return kind === "file"
      ? file.texts.get(resolve(dirname(path), target.trim()))?.trim()
      : undefined;
  };
  const says = Object.entries(file.written).flatMap(([name, business]) =>
    leaves(business).map(([place, text]) => {
      const show = maskOf(place, OF_BUSINESS) ?? asItIs;
      if (!REFERENCE.test(text.trim())) return `${name}.${place}: ${show(text)}`;
      const value = show(valueOf(text) ?? "");
      return `${name}.${place}: ${text}${value === "" || value === MASK ? "" : ` = ${value}`}`;
    }),
  );
  return { says, problems: file.mistakes };
}

/** Shows what a file of Temporal's profiles sets. */
export function shownTemporalProfiles(path: string, text: string): ShownFile {
  try {
    const { profile } = toTomlConfig(loadClientConfig({ configSource: { data: text } }));
    const says = Object.entries(profile).flatMap(([name, each]) =>
      leaves(each).map(
        ([place, value]) =>
          `${name}.${place}: ${maskOf(place, OF_TEMPORALS_PROFILE)?.(value) ?? value}`,
      ),
    );
    return { says, problems: [] };
  } catch (error) {
    // The lines after the first repeat the file, which may have a secret in it.
    const [why = ""] = String(error instanceof Error ? error.message : error).split("\n");
    return { says: [], problems: [`${path}: ${why}`] };
  }
}

function maskOf(place: string, secrets: Secrets): ((text: string) => string) | undefined {
  return secrets.find(([where]) => where.test(place))?.[1];
}

/** Returns every value in a tree that isn't empty, with its place. */
function leaves(value: unknown, place = ""): (readonly [place: string, text: string])[] {
  if (Array.isArray(value) || isRecord(value)) {
    return Object.entries(value).flatMap(([key, item]) =>
      leaves(item, place === "" ? key : `${place}.${key}`),
    );
  }
  if (value === null || value === undefined || value === "") return [];
  return [[place, typeof value === "string" ? value : JSON.stringify(value)]];
}
