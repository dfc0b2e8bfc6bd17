import { chmodSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

/** Writes a file that only its owner may read, whole or not at all. */
export function writePrivate(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  const unfinished = `${path}.${process.pid}`;
  writeFileSync(unfinished, text, { mode: 0o600 });
  chmodSync(unfinished, 0o600);
  renameSync(unfinished, path);
}

/** The file's text, or undefined where there is none. */
export function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}

/** A file of JSON that we wrote; undefined where there is none, or it is not readable any more. */
export function readJsonIfThere(path: string): unknown {
  const text = readIfThere(path);
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
