import { type BigIntStats, readFileSync, statSync, writeFileSync } from "node:fs";
import { basename } from "node:path";
import { StoreError } from "../sql/errors.ts";

/** Beside the file, like SQLite's own `-wal` and `-shm`: records which file was opened last. */
const noteOf = (path: string): string => `${path}-file`;

/**
 * Refuses a file that has replaced another one whose write-ahead log is still there: SQLite would
 * write that log into it, which undoes a restore, or damages the file.
 *
 * @throws {StoreError} `replaced`; nothing was touched
 */
export function refuseLogOfAnother(path: string): void {
  const log = statSync(`${path}-wal`, { throwIfNoEntry: false });
  if (log === undefined || log.size === 0) return;
  const noted = readNote(path);
  const now = identityOf(path);
  if (noted === undefined || (now !== undefined && isSame(noted, now))) return;
  const name = basename(path);
  const is = now === undefined ? "was deleted, or moved away" : "is another file";
  throw new StoreError(
    "replaced",
    `${path} ${is}: ${name}-wal beside it belongs to the one that was there before, and would undo or damage this one. ` +
      `If you have restored a backup, or begin anew: stop every worker and gateway, delete ${name}-wal and ${name}-shm, and start again. ` +
      `If you have copied the whole folder: delete ${name}-file, and keep ${name}-wal, which has the last commits.`,
  );
}

/** Records which file it is, once SQLite has it open. */
export function noteFile(path: string): void {
  const now = identityOf(path);
  const noted = readNote(path);
  if (now === undefined || (noted !== undefined && isSame(noted, now))) return;
  writeFileSync(noteOf(path), JSON.stringify(now), { mode: 0o600 });
}

interface Identity {
  readonly inode: string;
  /** Empty if the file system doesn't record it. */
  readonly bornNs: string;
}

function isSame(one: Identity, other: Identity): boolean {
  const isBornAlike = one.bornNs === other.bornNs || one.bornNs === "" || other.bornNs === "";
  return one.inode === other.inode && isBornAlike;
}

function identityOf(path: string): Identity | undefined {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  if (found === undefined) return undefined;
  return { inode: String(found.ino), bornNs: bornText(found) };
}

/**
 * Returns when the file was created; empty if that isn't known, in which case Node returns when it
 * was changed, or 1970.
 */
function bornText({ birthtimeNs, ctimeNs }: BigIntStats): string {
  return birthtimeNs === 0n || birthtimeNs === ctimeNs ? "" : String(birthtimeNs);
}

function readNote(path: string): Identity | undefined {
  try {
    const note = JSON.parse(readFileSync(noteOf(path), "utf8")) as Partial<Identity>;
    const { inode, bornNs } = note;
    return inode === undefined || bornNs === undefined ? undefined : { inode, bornNs };
  } catch {
    // There is no note yet, or its writing was cut short: nothing is known of the earlier file.
    return undefined;
  }
}
