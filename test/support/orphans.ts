import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";

const run = promisify(execFile);

const PREFIX = "payrun-postgres-";
const STOP_LIMIT_MS = 20_000;

/**
 * Creates a folder for a server, which names the process that owns it: a run that is broken off
 * can't remove the folder.
 */
export async function serverFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), PREFIX));
  await writeFile(join(folder, "owner"), String(process.pid));
  return folder;
}

export async function removeServerFolder(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
}

/** Returns the folder of the server's cluster in such a folder. */
export function clusterIn(folder: string): string {
  return join(folder, "server");
}

/** Stops the servers that broken-off test runs have left running, and removes their folders. */
export async function stopOrphans(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    const folder = join(tmpdir(), name);
    if (!name.startsWith(PREFIX) || !isOrphan(folder)) continue;
    await stopServerIn(clusterIn(folder));
    await removeServerFolder(folder);
  }
}

function isOrphan(folder: string): boolean {
  const owner = numberIn(join(folder, "owner"));
  return owner !== undefined && !isAlive(owner);
}

async function stopServerIn(cluster: string): Promise<void> {
  const data = join(cluster, "data");
  const pid = numberIn(join(data, "postmaster.pid"));
  // The number may be another process's by now, so only a server of this very folder is stopped.
  if (pid === undefined || !(await commandOf(pid)).includes(data)) return;
  process.kill(pid, "SIGQUIT");
  const untilMs = Date.now() + STOP_LIMIT_MS;
  while (isAlive(pid) && Date.now() < untilMs) await sleep(50);
}

async function commandOf(pid: number): Promise<string> {
  try {
    return (await run("ps", ["-o", "args=", "-p", String(pid)])).stdout;
  } catch {
    return "";
  }
}

function numberIn(path: string): number | undefined {
  if (!existsSync(path)) return undefined;
  const number = Number.parseInt(readFileSync(path, "utf8"), 10);
  return Number.isNaN(number) ? undefined : number;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}
