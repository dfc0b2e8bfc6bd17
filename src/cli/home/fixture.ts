import { existsSync } from "node:fs";
import { basename, join, resolve } from "node:path";

import { usageError } from "../terminal/cli-error.ts";
import { readIfThere, writePrivate } from "./private-file.ts";

/** What a home's sandbox starts with. */
interface HomeFixture {
  readonly starts: string;
  /** Records the fixture once the sandbox has started; an earlier record stays unchanged. */
  note(): void;
}

/**
 * Returns what the sandbox of this home starts with.
 *
 * @param wanted a name or a file; undefined if not specified
 * @throws {CliError} 2 if the sandbox has started with something else: its bills are already in the
 *   store
 */
export function fixtureOf(home: string, wanted: string | undefined): HomeFixture {
  const file = join(home, "sandbox.fixture");
  const text = wanted !== undefined && existsSync(wanted) ? resolve(wanted) : wanted;
  const begun = existsSync(join(home, "sandbox")) ? readIfThere(file)?.trim() : undefined;
  if (begun !== undefined && text !== undefined && text !== begun) {
    throw usageError(
      `the sandbox in ${home} has begun with “${begun}” and goes on with it`,
      `PAYRUN_HOME=${home}-${/^\w+/.exec(basename(text))?.[0] ?? "other"} payrun up --fixture ${wanted ?? ""} has a home of its own.`,
    );
  }
  // A started sandbox continues even if the file that it started with is gone.
  if (begun !== undefined) return { starts: "sample", note: () => undefined };
  const starts = text ?? "sample";
  return { starts, note: () => writePrivate(file, `${starts}\n`) };
}
