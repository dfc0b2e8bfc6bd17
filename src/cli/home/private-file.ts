import { chmodSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

/** Writes a file that only its owner may read, completely or not at all. */
export function writePrivate(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  const unfinished = `${path}.${process.pid}`;
  writeFileSync(unfinished, text, { mode: 0o600 });
  chmodSync(unfinished, 0o600);
  renameSync(unfinished, path);
}

/** Returns the file's text; undefined if the file doesn't exist. */
export function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}

/** Returns the contents of a JSON file that we wrote; undefined if missing or no longer valid. */
export function readJsonIfThere(path: string): unknown {
  const text = readIfThere(path);
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
