import { createHash, randomBytes } from "node:crypto";

/** Returns a secret of 256 random bits. The store keeps only its `hashOf`. */
export function newSecret(prefix: string): string {
  return `${prefix}${randomBytes(32).toString("base64url")}`;
}

export function hashOfSecret(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}
