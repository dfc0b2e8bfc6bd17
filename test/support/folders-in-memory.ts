import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  statSync,
} from "node:fs";
import { join } from "node:path";
import process from "node:process";

const MEMORY = "/dev/shm";
const GIB = 2 ** 30;
const DAY_MS = 24 * 3_600_000;

/**
 * Lets tests create their folders in memory, if the machine has room there: they don't test power
 * cuts, and on a busy disk each commit waits. A `TMPDIR` that is set is kept.
 */
export function makeFoldersInMemory(): void {
  if (process.env["TMPDIR"] !== undefined || !hasRoom()) return;
  const folder = join(MEMORY, "payrun-tests");
  mkdirSync(folder, { recursive: true });
  // As in any shared folder: a PostgreSQL server runs there as another user.
  if (statSync(folder).uid === process.getuid?.()) chmodSync(folder, 0o1777);
  removeLeftovers(folder);
  process.env["TMPDIR"] = folder;
}

function hasRoom(): boolean {
  try {
    // Packages that tests install there bring libraries, which are loaded like programs.
    const mounts = readFileSync("/proc/mounts", "utf8").split("\n");
    if (!mounts.some((line) => line.includes(` ${MEMORY} `) && !line.includes("noexec")))
      return false;
    const { bavail, bsize } = statfsSync(MEMORY);
    return bavail * bsize > 3 * GIB && process.availableMemory() > 6 * GIB;
  } catch {
    return false;
  }
}

/** Removes what killed runs have left; no run takes a day. */
function removeLeftovers(folder: string): void {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    const touchedMs = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Infinity;
    if (Date.now() - touchedMs > DAY_MS) rmSync(path, { recursive: true, force: true });
  }
}
