import { createHash } from "node:crypto";
import type { DatabaseSync } from "node:sqlite";
import { allRows, insertRow, transaction } from "../db.ts";

export const requestLogDdl = `
CREATE TABLE IF NOT EXISTS request_log (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  method TEXT NOT NULL,
  path TEXT NOT NULL,
  business TEXT,
  key TEXT,
  body_hash TEXT,
  status INTEGER,
  at TEXT NOT NULL
);
`;

const flushAfterMs = 100;
const flushAt = 500;

/** One request as it was received; `status` is null if it was dropped without an answer. */
export interface LoggedRequest {
  method: string;
  path: string;
  business: string | null;
  key: string | null;
  bodyHash: string | null;
  status: number | null;
  /** An instant of the wire clock. */
  at: string;
}

/**
 * The requests that the service received, in the order of its answers. They are written in batches,
 * so that no request waits for its entry.
 */
export class RequestLog {
  readonly #db: DatabaseSync;
  #pending: LoggedRequest[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(db: DatabaseSync) {
    this.#db = db;
  }

  add(request: LoggedRequest): void {
    this.#pending.push(request);
    if (this.#pending.length >= flushAt) this.flush();
    else this.#timer ??= setTimeout(() => this.flush(), flushAfterMs).unref();
  }

  list(): LoggedRequest[] {
    this.flush();
    return allRows(
      this.#db,
      `SELECT method, path, business, key, body_hash AS bodyHash, status, at
       FROM request_log ORDER BY seq`,
    );
  }

  /** Discards what has not been written yet. */
  clear(): void {
    this.#pending = [];
  }

  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const pending = this.#pending;
    if (pending.length === 0) return;
    this.#pending = [];
    transaction(this.#db, () => {
      for (const { bodyHash, ...request } of pending) {
        insertRow(this.#db, "request_log", { ...request, body_hash: bodyHash });
      }
    });
  }
}

/** Returns the SHA-256 of a body's bytes in hexadecimal; null for an empty body. */
export function bodyHashOf(body: Uint8Array): string | null {
  return body.length === 0 ? null : createHash("sha256").update(body).digest("hex");
}
