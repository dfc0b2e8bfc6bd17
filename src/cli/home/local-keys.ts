import { randomBytes } from "node:crypto";

import { encryptionKeysFile } from "../../config.ts";
import { readIfThere, writePrivate } from "./private-file.ts";
import { dateOfUtcMs } from "../../domain/clock/dates.ts";

/**
 * Makes sure that the home holds a key for personal data, readable by its owner only. An existing
 * key stays unchanged.
 */
export function ensureEncryptionKey(home: string): void {
  const file = encryptionKeysFile(home);
  if (readIfThere(file) !== undefined) return;
  const id = `local-${dateOfUtcMs(Date.now())}`;
  writePrivate(file, `${id}:${randomBytes(32).toString("base64")}\n`);
}
