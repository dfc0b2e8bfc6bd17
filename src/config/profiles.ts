import { statSync } from "node:fs";

import { trustFolder } from "../../scripts/setup/trusted-files.mjs";
import type { BusinessProfile } from "./business-profile.ts";
import { ConfigError } from "./config-error.ts";
import { type ProfilesFile, readProfilesFile } from "./profiles-file.ts";
import type { Environment } from "./settings.ts";
import { untrusted } from "./trust.ts";

/**
 * The source of the businesses: a file that may change, or the environment, which does not; or why
 * this process may not know them. In that case, code that needs no business continues, and code
 * that needs one is refused.
 */
export type ProfilesSource =
  | ProfilesPath
  | { readonly refused: string }
  | { readonly businesses: readonly BusinessProfile[] };

interface ProfilesPath {
  readonly path: string;
  readonly env: Environment;
  /** True if the file, and those that it refers to, count only as the user has trusted them. */
  readonly isChecked?: boolean;
}

/**
 * The businesses that this process works for.
 *
 * Every query checks whether the file, or one that it refers to, has changed, and reads it again if
 * so. A change that can't be used leaves the businesses as they were, because payments are on their
 * way for them; `problems` then reports what is wrong.
 */
export class Profiles {
  readonly #source: ProfilesSource;
  #businesses: readonly BusinessProfile[] = [];
  #problems: readonly string[] = [];
  /** What was read since it was last taken. */
  #read: BusinessProfile[] = [];
  #filesRead: readonly string[] = [];
  #stamp = "";

  /** @throws {ConfigError} if the file can't be used, with every mistake in it */
  constructor(source: ProfilesSource) {
    this.#source = source;
    if ("businesses" in source) {
      this.#businesses = source.businesses;
      this.#read.push(...source.businesses);
      return;
    }
    if ("refused" in source) return;
    this.#filesRead = [source.path];
    this.#refresh();
    if (this.#problems.length > 0) throw new ConfigError(this.#problems);
  }

  /** Returns the business with this name in playbooks and addresses. */
  get(name: string): BusinessProfile | undefined {
    return this.all().find((business) => business.name === name);
  }

  byBusinessId(businessId: string): BusinessProfile | undefined {
    return this.all().find((business) => business.businessId === businessId);
  }

  /**
   * Returns every business, in the file's order; empty if none is configured.
   *
   * @throws {ConfigError} if the source is refused
   */
  all(): readonly BusinessProfile[] {
    this.#refresh();
    return this.#businesses;
  }

  /** Returns, once, each business as it was read since the last call, in the order of reading. */
  takeRead(): readonly BusinessProfile[] {
    if (!("refused" in this.#source)) this.#refresh();
    return this.#read.splice(0);
  }

  /** True if no business moves real money, also if there is none. */
  sandboxesOnly(): boolean {
    return this.all().every(({ sandbox }) => sandbox);
  }

  /** Returns what is wrong with the current file; empty while the file is in use as it stands. */
  problems(): readonly string[] {
    this.#refresh();
    return this.#problems;
  }

  #refresh(): void {
    if ("businesses" in this.#source) return;
    if ("refused" in this.#source) throw new ConfigError([this.#source.refused]);
    const stamp = stampOf(this.#filesRead);
    if (stamp === this.#stamp) return;
    const file = readAsTrusted(this.#source);
    this.#problems = file.problems;
    this.#filesRead = file.filesRead;
    // A file that changed while it was read has the older stamp, and is read once more next time.
    this.#stamp = file.filesRead.length === stamp.split("\n").length ? stamp : "";
    if (file.problems.length > 0) return;
    this.#businesses = file.businesses;
    this.#read.push(...file.businesses);
  }
}

function readAsTrusted({ path, env, isChecked = false }: ProfilesPath): ProfilesFile {
  const file = readProfilesFile(path, env);
  if (!isChecked) return file;
  const doubts = [...file.texts].flatMap(([each, text]) => untrusted(each, text) ?? []);
  return {
    ...file,
    problems: doubts.length > 0 ? doubts : file.problems,
    // What is trusted changes there.
    filesRead: [...file.filesRead, trustFolder()],
  };
}

function stampOf(paths: readonly string[]): string {
  return paths.map((path) => stampOfOne(path)).join("\n");
}

function stampOfOne(path: string): string {
  try {
    const { mtimeMs, size, ino } = statSync(path);
    return `${path} ${ino} ${mtimeMs} ${size}`;
  } catch {
    return `${path} missing`;
  }
}
