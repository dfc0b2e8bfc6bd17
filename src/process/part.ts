import { ConfigError, loadConfig, type Config } from "../config.ts";
import { StoreError, type Store } from "../store/index.ts";
import { openStore } from "../store/open.ts";

export const EXIT_USAGE = 2;
export const EXIT_UNREACHABLE = 4;

/** What a part of Payrun that runs as a process of its own needs before it can begin. */
export interface PartStart {
  readonly config: Config;
  readonly store: Store;
}

/**
 * Returns a function that shows the person who started a part what is wrong, on standard error, in
 * one line.
 */
export function complainAs(part: string): (line: string) => void {
  return (line) => process.stderr.write(`payrun ${part}: ${line}\n`);
}

/**
 * Reads the settings and opens the store.
 *
 * @returns the part, or the exit code once `complain` has said what is wrong: 2 for settings that
 * can't be used, 4 for a store that can't be opened
 */
export async function openPart(
  complain: (line: string) => void,
  options: { readonly ownThread?: boolean } = {},
): Promise<PartStart | number> {
  const config = unlessWrong(complain, () => {
    const read = loadConfig();
    // The businesses must be known before the work begins.
    read.profiles.all();
    return read;
  });
  if (config === undefined) return EXIT_USAGE;
  try {
    return {
      config,
      store: await openStore(config.databaseUrl, { ...options, poolSize: config.databasePoolSize }),
    };
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    complain(error.message);
    return EXIT_UNREACHABLE;
  }
}

/** Returns what was set or requested; undefined once `complain` has said what is wrong with it. */
export function unlessWrong<T>(complain: (line: string) => void, read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    for (const problem of error.problems) complain(problem);
    return undefined;
  }
}

/** Resolves at SIGTERM or SIGINT; with `withParent` also at the end of standard input. */
export function stopSignal(withParent: boolean): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, () => resolve());
    if (!withParent) return;
    process.stdin.once("end", () => resolve());
    process.stdin.once("error", () => resolve());
    process.stdin.resume();
  });
}
