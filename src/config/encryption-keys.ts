import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { z } from "zod";

/** A 256-bit key, with the id that encrypted values name. */
export interface EncryptionKey {
  readonly id: string;
  readonly key: Buffer;
}

const KEYS_FORMAT =
  "must be ID:KEY, KEY the base64 or hex of 32 random bytes; several separated by commas, the newest first";

const ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,31}$/;

/**
 * Reads `ID:KEY[,ID:KEY…]`. The first key encrypts, and all of them decrypt: a new key is put in
 * front, and an old one is removed once nothing names it any more.
 */
export const encryptionKeys = z.string().transform((text, context): readonly EncryptionKey[] => {
  const keys: EncryptionKey[] = [];
  for (const part of text.split(/[,\n]/).map((each) => each.trim())) {
    if (part === "") continue;
    const colon = part.indexOf(":");
    const id = part.slice(0, Math.max(colon, 0));
    const key = bytesOf(part.slice(colon + 1));
    if (!ID.test(id) || key === undefined) {
      context.addIssue({ code: "custom", message: `(key ${keys.length + 1}) ${KEYS_FORMAT}` });
      return z.NEVER;
    }
    if (keys.some((other) => other.id === id)) {
      context.addIssue({ code: "custom", message: `names the key id ${id} twice` });
      return z.NEVER;
    }
    keys.push({ id, key });
  }
  return keys;
});

function bytesOf(text: string): Buffer | undefined {
  if (/^[0-9a-f]{64}$/i.test(text)) return Buffer.from(text, "hex");
  // 32 bytes are 43 characters of base64, with or without the padding character.
  if (!/^[A-Za-z0-9+/_-]{43}=?$/.test(text)) return undefined;
  return Buffer.from(text, "base64");
}

/** Returns the path at which `payrun up` keeps the key that it makes if none is set. */
export function encryptionKeysFile(home: string): string {
  return join(home, "encryption.keys");
}

/**
 * Returns the keys of the home's file; none if there is no such file.
 *
 * @param problems receives what is wrong with it
 */
export function readEncryptionKeysFile(home: string, problems: string[]): readonly EncryptionKey[] {
  const file = encryptionKeysFile(home);
  if (!existsSync(file)) return [];
  try {
    const parsed = encryptionKeys.safeParse(readFileSync(file, "utf8"));
    if (parsed.success) return parsed.data;
    for (const issue of parsed.error.issues) problems.push(`${file} ${issue.message}`);
  } catch (error) {
    problems.push(`${file} can't be read: ${error instanceof Error ? error.message : ""}`);
  }
  return [];
}
