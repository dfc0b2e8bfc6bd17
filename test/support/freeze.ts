import { type ChildProcess, execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { sql } from "kysely";
import type { TestPayrun } from "./payrun.ts";

/**
 * Stops a worker at a moment when it has no transaction under way: SQLite has no way to take the
 * lock from a process that lives and does nothing, and PostgreSQL waits for ten seconds.
 */
export async function freeze(payrun: TestPayrun, worker: ChildProcess): Promise<void> {
  for (;;) {
    worker.kill("SIGSTOP");
    await stopped(worker);
    if (!(await isInTransaction(payrun, worker))) return;
    worker.kill("SIGCONT");
    await sleep(20);
  }
}

/**
 * Waits until every thread of a process that was sent a stop signal has stopped. On a busy machine
 * the other threads run on, and may take the store's lock, until the thread with the signal gets
 * its turn.
 */
async function stopped({ pid }: ChildProcess): Promise<void> {
  for (;;) {
    const states = await threadStates(String(pid));
    if (states.length > 0 && states.every((state) => state.startsWith("T"))) return;
    await sleep(5);
  }
}

async function threadStates(pid: string): Promise<string[]> {
  const folder = `/proc/${pid}/task`;
  const threads = await readdir(folder).catch(() => undefined);
  if (threads === undefined) {
    const { stdout } = await promisify(execFile)("ps", ["-o", "stat=", "-p", pid]);
    return [stdout.trim()];
  }
  const texts = await Promise.all(
    // A thread that ended meanwhile counts as stopped.
    threads.map((thread) => readFile(`${folder}/${thread}/stat`, "utf8").catch(() => ") T")),
  );
  // The thread's name, in parentheses, may contain anything, including parentheses.
  return texts.map((text) => text.slice(text.lastIndexOf(")") + 2));
}

async function isInTransaction(payrun: TestPayrun, { pid }: ChildProcess): Promise<boolean> {
  if (payrun.databaseUrl.startsWith("postgres:")) {
    const { rows } = await sql`
      select 1 from pg_stat_activity
      where datname = current_database() and application_name = ${`payrun ${pid}`}
        and state <> 'idle'`.execute(payrun.store.db);
    return rows.length > 0;
  }
  const path = payrun.databaseUrl.replace(/^sqlite:/, "");
  const database = new DatabaseSync(path, { timeout: 300 });
  try {
    database.exec("begin immediate");
    database.exec("rollback");
    return false;
  } catch {
    return true;
  } finally {
    database.close();
  }
}
