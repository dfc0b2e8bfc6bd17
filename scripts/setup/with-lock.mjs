import { randomUUID } from "node:crypto";
import { mkdir, open, readFile, stat, unlink, utimes } from "node:fs/promises";
import { unlinkSync } from "node:fs";
import { hostname } from "node:os";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const TOUCH_EVERY_MS = 5000;
/**
 * A holder shows that it is alive by touching the file: its process id may be another process's by
 * now.
 */
const STALE_AFTER_MS = 60_000;
/** Taking over is a matter of milliseconds. */
const TAKEOVER_STALE_AFTER_MS = 10_000;
const TAKEOVER_POLL_MS = 50;

/**
 * Runs `action` while nothing else runs under the same lock file, on this machine or another with
 * the same home. A lock whose holder has died is taken over: at once if it ran on this machine, or
 * once the file has not been touched for a minute.
 *
 * @template T
 * @param {string} path
 * @param {object} options
 * @param {(holder: string) => void} options.onWait called once, if another process holds the lock
 * @param {number} [options.pollMs] time between two looks
 * @param {number} [options.staleAfterMs]
 * @param {() => Promise<T>} action
 * @returns {Promise<T>}
 */
export async function withLock(path, options, action) {
  const { onWait, pollMs = 250, staleAfterMs = STALE_AFTER_MS } = options;
  await mkdir(dirname(path), { recursive: true });
  const mine = JSON.stringify({ pid: process.pid, host: hostname(), id: randomUUID() });
  let told = false;
  const lock = new Watched(path);
  const guard = new Watched(`${path}.takeover`);
  while (!(await create(path, mine))) {
    const theirs = await read(path);
    if (theirs === undefined) continue;
    const unchangedLooks = await lock.unchangedLooks();
    if (hasEnded(theirs) || unchangedLooks * pollMs > staleAfterMs) {
      await takeAway(path, theirs, guard);
      continue;
    }
    // A holder creates the file first and then writes its name into it.
    if (!told && (theirs !== "" || unchangedLooks > 0)) {
      onWait(holderOf(theirs));
      told = true;
    }
    await sleep(pollMs);
  }
  const release = () => {
    try {
      unlinkSync(path);
    } catch {
      // Another process took this one for dead and has removed the file.
    }
  };
  const touch = setInterval(() => {
    const now = new Date();
    utimes(path, now, now).catch(() => {});
  }, TOUCH_EVERY_MS);
  process.once("exit", release);
  try {
    return await action();
  } finally {
    clearInterval(touch);
    process.removeListener("exit", release);
    if ((await read(path)) === mine) release();
  }
}

/** @param {string} path @param {string} content */
async function create(path, content) {
  try {
    const file = await open(path, "wx");
    await file.writeFile(content);
    await file.close();
    return true;
  } catch (error) {
    if (hasCode(error, "EEXIST")) return false;
    throw error;
  }
}

/** @param {string} path @returns {Promise<string | undefined>} */
async function read(path) {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (hasCode(error, "ENOENT")) return undefined;
    throw error;
  }
}

/** @param {string} content */
function hasEnded(content) {
  const holder = parse(content);
  return holder?.host === hostname() && !isAlive(holder.pid);
}

/**
 * Removes a stale lock under a lock of its own: if two processes both saw it as stale, the slower
 * must not remove the new lock of the faster.
 *
 * @param {string} path @param {string} stale @param {Watched} guard
 */
async function takeAway(path, stale, guard) {
  if (!(await create(guard.path, ""))) {
    const unchangedMs = (await guard.unchangedLooks()) * TAKEOVER_POLL_MS;
    if (unchangedMs > TAKEOVER_STALE_AFTER_MS) await unlink(guard.path).catch(() => {});
    await sleep(TAKEOVER_POLL_MS);
    return;
  }
  try {
    if ((await read(path)) === stale) await unlink(path).catch(() => {});
  } finally {
    await unlink(guard.path).catch(() => {});
  }
}

/**
 * Counts the looks at which a file was found unchanged. Looks are counted because a file's time
 * can't be compared with a clock: the process that touches it may have another clock, and the
 * machine may have slept.
 */
class Watched {
  /** @type {string | undefined} */
  #seen;
  #looks = 0;

  /** @param {string} path */
  constructor(path) {
    this.path = path;
  }

  /** @returns {Promise<number>} the number of looks before this one that saw the same */
  async unchangedLooks() {
    const seen = await stat(this.path).then(
      ({ ino, mtimeMs }) => `${ino} ${mtimeMs}`,
      () => undefined,
    );
    this.#looks = seen !== undefined && seen === this.#seen ? this.#looks + 1 : 0;
    this.#seen = seen;
    return this.#looks;
  }
}

/** @param {string} content @returns {{ pid: number, host: string } | undefined} */
function parse(content) {
  try {
    const { pid, host } = JSON.parse(content);
    return typeof pid === "number" && typeof host === "string" ? { pid, host } : undefined;
  } catch {
    return undefined;
  }
}

/** @param {string} content */
function holderOf(content) {
  const holder = parse(content);
  if (!holder) return "another process";
  const place = holder.host === hostname() ? "" : ` on ${holder.host}`;
  return `process ${holder.pid}${place}`;
}

/** @param {number} pid */
function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Another user's process is alive, although it can't be signaled.
    return hasCode(error, "EPERM");
  }
}

/** @param {unknown} error @param {string} code */
function hasCode(error, code) {
  return error instanceof Error && "code" in error && error.code === code;
}
