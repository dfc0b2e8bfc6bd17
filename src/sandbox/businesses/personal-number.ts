import { createHash, randomBytes, timingSafeEqual } from "node:crypto";

/** What is stored of a tax id or social security number: enough to show it and to recognize it. */
export interface KeptNumber {
  last4: string;
  hash: string;
}

export function keepNumber(written: string): KeptNumber {
  const digits = digitsOf(written);
  const salt = randomBytes(16).toString("hex");
  return { last4: digits.slice(-4), hash: `${salt}:${hashWith(salt, digits).toString("hex")}` };
}

/** True if a number, however it is written, is the one from which a hash was made. */
export function isSameNumber(written: string, hash: string | null): boolean {
  const [salt, digest] = hash?.split(":") ?? [];
  if (salt === undefined || digest === undefined) return false;
  return timingSafeEqual(hashWith(salt, digitsOf(written)), Buffer.from(digest, "hex"));
}

export function digitsOf(written: string): string {
  return written.replaceAll("-", "");
}

function hashWith(salt: string, digits: string): Buffer {
  return createHash("sha256").update(`${salt}:${digits}`).digest();
}
