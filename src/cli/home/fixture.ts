import { existsSync } from "node:fs";
import { basename, join, resolve } from "node:path";

import { usageError } from "../terminal/cli-error.ts";
import { readIfThere, writePrivate } from "./private-file.ts";

/** What a home's sandbox starts with. */
interface HomeFixture {
  readonly starts: string;
  /** Notes it once the sandbox has begun; what it has begun with before stays noted as it is. */
  note(): void;
}

/**
 * What the sandbox of this home starts with.
 *
 * @param wanted a name or a file; undefined where nobody says
 * @throws {CliError} 2 where it has started with something else: its bills are the store's already
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
  // What has begun goes on, also where the file is gone that it began with.
  if (begun !== undefined) return { starts: "sample", note: () => undefined };
  const starts = text ?? "sample";
  return { starts, note: () => writePrivate(file, `${starts}\n`) };
}
