import { parentPort, workerData } from "node:worker_threads";
import { FileConnection, type StatementResult } from "./connection.ts";
import { openFile, useWriteAheadLog } from "./file.ts";
import type { ThreadAnswer, Failure, Request, RowList, Written } from "./thread-messages.ts";

/**
 * The thread in which a process's SQLite file is read and written, so that requests and heartbeats
 * go on while a commit waits for the disk. Started by `openThread`.
 */
const path = String(workerData);
const port = parentPort;
if (port === null) throw new Error("this file is a thread of the store");

const database = openFile(path, true);
useWriteAheadLog(database);
const connection = new FileConnection(database);

port.on("message", (request: Request) => {
  void answer(request).then((message) => {
    port.postMessage(message);
    if (request.kind === "close") port.close();
  });
});

async function answer(request: Request): Promise<ThreadAnswer> {
  try {
    switch (request.kind) {
      case "begin":
        await connection.begin(request.flush);
        return { ok: true };
      case "run":
        return { ok: true, result: packed(await connection.run(request.sql, request.parameters)) };
      default:
        await connection[request.kind]();
        return { ok: true };
    }
  } catch (error) {
    return { ok: false, error: failureOf(error) };
  }
}

function packed({ rows, written }: StatementResult): RowList | Written {
  if (written !== undefined) return written;
  const columns = Object.keys((rows[0] as object | undefined) ?? {});
  return { columns, rows: rows.map((row) => Object.values(row as Record<string, unknown>)) };
}

function failureOf(error: unknown): Failure {
  const { message, code, errcode } = error as Partial<Failure>;
  return { message: message ?? String(error), code, errcode };
}
