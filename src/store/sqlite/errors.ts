const SQLITE_BUSY = 5;
const SQLITE_LOCKED = 6;
const SQLITE_CORRUPT = 11;
const SQLITE_NOTADB = 26;

/**
 * Returns the primary result code of an error thrown by node:sqlite; undefined for other errors.
 */
function resultCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !("errcode" in error)) return undefined;
  // The upper bits only refine the primary code (SQLITE_BUSY_SNAPSHOT is still busy).
  return typeof error.errcode === "number" ? error.errcode & 0xff : undefined;
}

/** True if another connection holds the lock; the same statement may succeed later. */
export function isBusy(error: unknown): boolean {
  const code = resultCode(error);
  return code === SQLITE_BUSY || code === SQLITE_LOCKED;
}

export function isCorrupt(error: unknown): boolean {
  return resultCode(error) === SQLITE_CORRUPT;
}

export function isNotADatabase(error: unknown): boolean {
  return resultCode(error) === SQLITE_NOTADB;
}
