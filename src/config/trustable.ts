import { existsSync } from "node:fs";
import { join, resolve } from "node:path";

import {
  distrust,
  hasToken,
  isTrusted,
  readEnvFile,
  readIfThere,
} from "../../scripts/setup/trusted-files.mjs";
import { isSettable, namedFiles } from "./env-file.ts";
import { readProfilesFile } from "./profiles-file.ts";
import type { Environment } from "./settings.ts";
import {
  type ShownFile,
  shownProfiles,
  shownSettings,
  shownTemporalProfiles,
} from "./shown-files.ts";
import {
  claimHome,
  DEFAULT_HOME,
  homeMark,
  homeProblem,
  isEmptyHome,
  SANDBOX_PROFILES,
  trustFile,
} from "./trust.ts";

/** A file or a home of the current folder, whose content counts once the user has trusted it. */
export interface Trustable extends ShownFile {
  readonly path: string;
  readonly isTrusted: boolean;
  /** Trusts it as it was read. */
  readonly trust: () => void;
}

/** What there is to trust in the current folder. */
export interface TrustableFolder {
  /** The `.env` and what it names. */
  readonly files: readonly Trustable[];
  /** The home that commands use here; undefined if it needs no trust. */
  readonly home: Trustable | undefined;
}

/** Reads what there is to trust in the current folder; runs nothing that it names. */
export function trustableIn(env: Environment): TrustableFolder {
  const path = resolve(".env");
  const file = readEnvFile(path);
  const set: Environment = Object.fromEntries(
    Object.entries(file?.values ?? {}).filter(([name]) => isSettable(name)),
  );
  const own = env["PAYRUN_HOME"]?.trim() || undefined;
  const named = hasToken(env) ? undefined : set["PAYRUN_HOME"]?.trim();
  const home = resolve(own ?? (named || DEFAULT_HOME));
  const needsTrust = own === undefined ? !isEmptyHome(home) : homeProblem(home, true) !== undefined;
  const isEnvUsed = file !== undefined && Object.keys(set).length > 0;
  return {
    files: isEnvUsed
      ? [
          trustable(path, file.text, { says: shownSettings(set), problems: [] }),
          ...namedBy(set, env),
        ]
      : [],
    home: needsTrust ? trustableHome(home, set, env) : undefined,
  };
}

/** Takes back the trust in the current folder, all that is in it, and the home that it uses. */
export function distrustIn(env: Environment): void {
  const { files, home } = trustableIn(env);
  distrust(resolve("."));
  for (const { path } of files) distrust(path);
  if (home !== undefined) distrust(homeMark(home.path));
}

function trustable(path: string, text: string, shown: ShownFile): Trustable {
  return { path, isTrusted: isTrusted(path, text), ...shown, trust: () => trustFile(path, text) };
}

/** Returns the files that an `.env` names, and those that they name. */
function namedBy(set: Environment, env: Environment): Trustable[] {
  const { PAYRUN_PROFILES: profiles, TEMPORAL_CONFIG_FILE: temporal } = namedFiles(set);
  const text = temporal === undefined ? undefined : readIfThere(temporal);
  const isThere = temporal !== undefined && text !== undefined;
  return [
    ...(profiles === undefined ? [] : trustableProfiles(profiles, set, env)),
    ...(isThere ? [trustable(temporal, text, shownTemporalProfiles(temporal, text))] : []),
  ];
}

function trustableProfiles(path: string, set: Environment, env: Environment): Trustable[] {
  const { texts, shown } = readToShow(path, set, env);
  // What the others say stands where the profiles name them.
  return [...texts].map(([each, text]) =>
    trustable(each, text, each === path ? shown : { ...shown, says: [] }),
  );
}

function trustableHome(home: string, set: Environment, env: Environment): Trustable {
  const profiles = join(home, SANDBOX_PROFILES);
  const shown = existsSync(profiles) ? readToShow(profiles, set, env).shown : undefined;
  return {
    path: home,
    isTrusted: homeProblem(home, false) === undefined,
    says: ["a home: what changes in it later needs no new trust", ...(shown?.says ?? [])],
    problems: shown?.problems ?? [],
    trust: () => claimHome(home),
  };
}

function readToShow(path: string, set: Environment, env: Environment) {
  const file = readProfilesFile(path, { ...set, ...env });
  // What is exported is the user's own, and may be a secret.
  const ofFolder = Object.entries(set).filter(([name]) => env[name] === undefined);
  return { texts: file.texts, shown: shownProfiles(path, file, Object.fromEntries(ofFolder)) };
}
