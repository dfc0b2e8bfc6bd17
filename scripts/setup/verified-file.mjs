import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";

/**
 * Returns the bytes that were read, if they match the hash. Code that checks bytes and then runs a
 * file by its name may run something else.
 *
 * @param {Uint8Array} bytes
 * @param {string} sha256 in hexadecimal
 * @param {string} what
 * @returns {Uint8Array}
 * @throws {Error} if they don't match
 */
export function verified(bytes, sha256, what) {
  const found = createHash("sha256").update(bytes).digest("hex");
  if (found === sha256) return bytes;
  throw new Error(`${what} is not what it should be: its SHA-256 is ${found}, not ${sha256}`);
}

/**
 * True if a file has exactly these bytes.
 *
 * @param {string} path
 * @param {string} sha256
 */
export async function isVerified(path, sha256) {
  const bytes = await readFile(path).catch(() => undefined);
  return bytes !== undefined && createHash("sha256").update(bytes).digest("hex") === sha256;
}
