import { once } from "node:events";
import type { SQLInputValue } from "node:sqlite";
import { Worker } from "node:worker_threads";
import type { Connection, StatementResult } from "./connection.ts";
import type { ThreadAnswer, Failure, Request, RowList, Written } from "./thread-messages.ts";

/**
 * Opens a connection in a thread of its own, to a file that is known to be a store of ours.
 *
 * If the thread dies, so does the process: what it was doing may or may not be on disk, as after
 * any crash.
 */
export function openThread(path: string): Connection {
  return new ThreadConnection(
    new Worker(new URL("thread.ts", import.meta.url), { workerData: path }),
  );
}

interface Waiting {
  readonly resolve: (result: RowList | Written | undefined) => void;
  readonly reject: (error: Error) => void;
}

class ThreadConnection implements Connection {
  readonly #thread: Worker;
  /** In the order of their requests, in which the answers come too. */
  readonly #waiting: Waiting[] = [];
  #inTransaction = false;

  constructor(thread: Worker) {
    this.#thread = thread;
    thread.on("message", (answer: ThreadAnswer) => this.#answered(answer));
    thread.on("exit", () => {
      for (const { reject } of this.#waiting.splice(0)) reject(new Error("the store is closed"));
    });
    // Pending requests keep the process alive; an idle thread does not.
    thread.unref();
  }

  get inTransaction(): boolean {
    return this.#inTransaction;
  }

  async begin(flush: boolean): Promise<void> {
    await this.#ask({ kind: "begin", flush });
    this.#inTransaction = true;
  }

  async commit(): Promise<void> {
    await this.#ask({ kind: "commit" });
    this.#inTransaction = false;
  }

  async rollback(): Promise<void> {
    this.#inTransaction = false;
    await this.#ask({ kind: "rollback" });
  }

  async run(sql: string, parameters: readonly SQLInputValue[]): Promise<StatementResult> {
    const result = await this.#ask({ kind: "run", sql, parameters });
    if (result === undefined) return { rows: [] };
    return "rows" in result ? { rows: unpacked(result) } : { rows: [], written: result };
  }

  async close(): Promise<void> {
    const exited = once(this.#thread, "exit");
    await this.#ask({ kind: "close" });
    this.#thread.ref();
    await exited;
  }

  #ask(request: Request): Promise<RowList | Written | undefined> {
    return new Promise((resolve, reject) => {
      if (this.#waiting.length === 0) this.#thread.ref();
      this.#waiting.push({ resolve, reject });
      this.#thread.postMessage(request);
    });
  }

  #answered(answer: ThreadAnswer): void {
    const waiting = this.#waiting.shift();
    if (this.#waiting.length === 0) this.#thread.unref();
    if (answer.ok) waiting?.resolve(answer.result);
    else waiting?.reject(errorOf(answer.error));
  }
}

function unpacked({ columns, rows }: RowList): object[] {
  return rows.map((values) => {
    const row: Record<string, unknown> = {};
    for (const [index, name] of columns.entries()) row[name] = values[index];
    return row;
  });
}

function errorOf({ message, code, errcode }: Failure): Error {
  return Object.assign(new Error(message), { code, errcode });
}
