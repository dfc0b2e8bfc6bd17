import { statSync } from "node:fs";

import type { BusinessProfile } from "./business-profile.ts";
import { ConfigError } from "./config-error.ts";
import { readProfilesFile } from "./profiles-file.ts";
import type { Environment } from "./settings.ts";

/**
 * The source of the businesses: a file that may change, or the environment, which does not; or why
 * this process may not know them. In that case, code that needs no business continues, and code
 * that needs one is refused.
 */
export type ProfilesSource =
  | { readonly path: string; readonly env: Environment }
  | { readonly refused: string }
  | { readonly businesses: readonly BusinessProfile[] };

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
  #filesRead: readonly string[] = [];
  #stamp = "";

  /** @throws {ConfigError} if the file can't be used, with every mistake in it */
  constructor(source: ProfilesSource) {
    this.#source = source;
    if ("businesses" in source) {
      this.#businesses = source.businesses;
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
    const file = readProfilesFile(this.#source.path, this.#source.env);
    this.#problems = file.problems;
    this.#filesRead = file.filesRead;
    // A file that changed while it was read has the older stamp, and is read once more next time.
    this.#stamp = file.filesRead.length === stamp.split("\n").length ? stamp : "";
    if (file.problems.length === 0) this.#businesses = file.businesses;
  }
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
