import { statfsSync } from "node:fs";
import { dirname } from "node:path";
import { StoreError } from "../sql/errors.ts";

const SQLITE_PERM = 3;
const SQLITE_BUSY = 5;
const SQLITE_LOCKED = 6;
const SQLITE_READONLY = 8;
const SQLITE_IOERR = 10;
const SQLITE_CORRUPT = 11;
const SQLITE_FULL = 13;
const SQLITE_CANTOPEN = 14;
const SQLITE_NOTADB = 26;

type Fault = "full" | "read_only" | "failing";

const FAULTS: Readonly<Record<number, Fault>> = {
  [SQLITE_FULL]: "full",
  [SQLITE_PERM]: "read_only",
  [SQLITE_READONLY]: "read_only",
  [SQLITE_IOERR]: "failing",
  [SQLITE_CANTOPEN]: "failing",
};

const SAID: Readonly<Record<Fault, readonly [what: string, remedy: string]>> = {
  full: ["the disk is full", "Make room on it; writes then go on by themselves."],
  read_only: [
    "the file, or its file system, is read-only",
    "Make it writable for the user of Payrun's processes; writes then go on by themselves.",
  ],
  failing: ["the disk, or its file system, fails", "Look at the machine's own log."],
};

/**
 * Returns the primary result code of an error thrown by node:sqlite; undefined for other errors.
 */
function resultCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !("errcode" in error)) return undefined;
  // The upper bits only refine the primary code (SQLITE_BUSY_SNAPSHOT is still busy).
  return typeof error.errcode === "number" ? error.errcode & 0xff : undefined;
}

/** True if another connection holds the lock; the same statement may succeed later. */
export function isLockedNow(error: unknown): boolean {
  const code = resultCode(error);
  return code === SQLITE_BUSY || code === SQLITE_LOCKED;
}

export function isCorrupt(error: unknown): boolean {
  return resultCode(error) === SQLITE_CORRUPT;
}

export function isNotADatabase(error: unknown): boolean {
  return resultCode(error) === SQLITE_NOTADB;
}

/** Returns the error as users of a store know it; other errors stay as they are. */
export function toStoreError(error: unknown, path: string): unknown {
  const code = resultCode(error);
  if (!(error instanceof Error) || code === undefined) return error;
  const cause = { cause: error };
  if (isCorrupt(error)) return new StoreError("corrupt", damaged(path), cause);
  const found = FAULTS[code];
  if (found === undefined) return error;
  // SQLite has other codes than “full” for what it can't make beside the file.
  const fault = found === "failing" && hasNoRoom(path) ? "full" : found;
  const [what, remedy] = SAID[fault];
  const text = `${path}: ${what} (${error.message}), so nothing was written. ${remedy}`;
  return new StoreError(fault, text, cause);
}

export function damaged(path: string): string {
  return `${path} is damaged. Stop Payrun and restore it from a backup; nothing is paid twice by that.`;
}

function hasNoRoom(path: string): boolean {
  try {
    return statfsSync(dirname(path)).bavail === 0;
  } catch {
    return false;
  }
}
