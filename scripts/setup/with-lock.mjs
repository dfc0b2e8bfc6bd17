import { randomUUID } from "node:crypto";
import { mkdir, open, readFile, stat, unlink, utimes } from "node:fs/promises";
import { unlinkSync } from "node:fs";
import { hostname } from "node:os";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const TOUCH_EVERY_MS = 5000;
/** A holder shows that it lives by touching the file: its process id may be another's by now. */
const STALE_AFTER_MS = 60_000;
/** Taking over is a matter of milliseconds. */
const TAKEOVER_STALE_AFTER_MS = 10_000;
const TAKEOVER_POLL_MS = 50;

/**
 * Runs `action` while nobody else does under the same lock file, on this machine or another with
 * the same home. A lock whose holder has died is taken over: at once if it ran on this machine, or
 * when nobody has touched the file for a minute.
 *
 * @template T
 * @param {string} path
 * @param {object} options
 * @param {(holder: string) => void} options.onWait told once, when somebody else holds it
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
    // A holder makes the file first and then writes its name into it.
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
      // Somebody who took us for dead has removed it.
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
 * Removes a stale lock under a lock of its own: two who both saw it stale must not remove the new
 * one that the faster of them has made.
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
 * How often a file was found unchanged. Looks are counted because a file's time can't be compared
 * with a clock: the one who touches it may have another, and the machine may have slept.
 */
class Watched {
  /** @type {string | undefined} */
  #seen;
  #looks = 0;

  /** @param {string} path */
  constructor(path) {
    this.path = path;
  }

  /** @returns {Promise<number>} how many looks before this one saw the same */
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
    // Somebody else's process is alive, though it can't be asked.
    return hasCode(error, "EPERM");
  }
}

/** @param {unknown} error @param {string} code */
function hasCode(error, code) {
  return error instanceof Error && "code" in error && error.code === code;
}
