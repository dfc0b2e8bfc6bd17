import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";

import { afterEach, beforeEach, expect, test } from "vitest";

import { withLock } from "../../scripts/setup/with-lock.mjs";

let folder: string;
let lock: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "payrun-lock-"));
  lock = join(folder, "locks", "it.lock");
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

const quick = { onWait: () => {}, pollMs: 5 };

test("only one action runs at a time under a lock, and the lock is deleted afterwards", async () => {
  let inside = 0;
  let most = 0;
  const enter = () =>
    withLock(lock, quick, async () => {
      inside += 1;
      most = Math.max(most, inside);
      await new Promise((resolve) => setImmediate(resolve));
      inside -= 1;
    });
  await Promise.all(Array.from({ length: 10 }, enter));
  expect(most).toBe(1);
  expect(existsSync(lock)).toBe(false);
});

test("a caller that waits for a lock learns once who holds it", async () => {
  const holders: string[] = [];
  const onWait = (holder: string): void => void holders.push(holder);
  let release: () => void = () => {};
  const held = new Promise<void>((resolve) => (release = resolve));
  const first = withLock(lock, quick, () => held);
  while (!existsSync(lock)) await new Promise((resolve) => setImmediate(resolve));
  const second = withLock(lock, { onWait, pollMs: 5 }, () => Promise.resolve("mine"));
  while (holders.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  release();
  expect(await second).toBe("mine");
  await first;
  expect(holders).toEqual([`process ${process.pid}`]);
});

test("a caller that waits before the holder has written its name learns the name later", async () => {
  await withLock(lock, quick, () => Promise.resolve());
  writeFileSync(lock, "");
  const holders: string[] = [];
  const onWait = (holder: string): void => void holders.push(holder);
  const second = withLock(lock, { onWait, pollMs: 300 }, () => Promise.resolve());
  await new Promise((resolve) => setTimeout(resolve, 100));
  writeFileSync(lock, JSON.stringify({ pid: process.pid, host: hostname(), id: "x" }));
  while (holders.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  rmSync(lock);
  await second;
  expect(holders).toEqual([`process ${process.pid}`]);
});

test("a lock is released if its action fails", async () => {
  const failing = withLock(lock, quick, () => Promise.reject(new Error("no")));
  await expect(failing).rejects.toThrow("no");
  expect(existsSync(lock)).toBe(false);
});

test("the lock of a killed process is taken over by one of those that wait", async () => {
  const script = new URL("../../scripts/setup/with-lock.mjs", import.meta.url).href;
  const program = `
    const { withLock } = await import(${JSON.stringify(script)});
    const hold = () => { console.log("held"); return new Promise(() => setInterval(() => {}, 1e6)); };
    await withLock(${JSON.stringify(lock)}, { onWait() {} }, hold);
  `;
  const holder = spawn(process.execPath, ["--input-type=module", "-e", program]);
  await once(holder.stdout, "data");
  holder.kill("SIGKILL");
  await once(holder, "exit");
  expect(existsSync(lock)).toBe(true);
  let inside = 0;
  const enter = () =>
    withLock(lock, quick, async () => {
      inside += 1;
      expect(inside).toBe(1);
      await new Promise((resolve) => setTimeout(resolve, 5));
      inside -= 1;
    });
  await Promise.all([enter(), enter(), enter()]);
});

test("a lock that is no longer touched is taken over, even from another machine", async () => {
  await withLock(lock, quick, () => Promise.resolve());
  for (const content of [
    JSON.stringify({ pid: 1, host: "elsewhere", id: "x" }),
    JSON.stringify({ pid: process.pid, host: hostname(), id: "reused process id" }),
    "",
  ]) {
    writeFileSync(lock, content);
    const patient = { ...quick, staleAfterMs: 50 };
    expect(await withLock(lock, patient, () => Promise.resolve("mine"))).toBe("mine");
  }
});

test("a lock is kept as long as it is touched, even if its file's time is years off", async () => {
  await withLock(lock, quick, () => Promise.resolve());
  const held = JSON.stringify({ pid: 1, host: "elsewhere", id: "another clock" });
  writeFileSync(lock, held);
  let touches = 0;
  const touch = setInterval(() => {
    touches += 1;
    const longAgo = new Date(Date.UTC(2020, 0, 1) + touches);
    utimesSync(lock, longAgo, longAgo);
    if (touches < 40) return;
    clearInterval(touch);
    rmSync(lock);
  }, 5);
  await withLock(lock, { ...quick, staleAfterMs: 1000 }, () => Promise.resolve());
  expect(touches).toBe(40);
});
