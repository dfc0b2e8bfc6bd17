import { randomBytes } from "node:crypto";

import { encryptionKeysFile } from "../../config.ts";
import { readIfThere, writePrivate } from "./private-file.ts";

/**
 * Makes sure that the home holds a key for personal data, readable by its owner only. An existing
 * key stays unchanged.
 */
export function ensureEncryptionKey(home: string): void {
  const file = encryptionKeysFile(home);
  if (readIfThere(file) !== undefined) return;
  const id = `local-${new Date().toISOString().slice(0, 10)}`;
  writePrivate(file, `${id}:${randomBytes(32).toString("base64")}\n`);
}
