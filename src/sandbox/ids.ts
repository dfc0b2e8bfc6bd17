import { randomBytes } from "node:crypto";

/**
 * Returns a new opaque identifier such as `pay_5f0c…`; the prefix only helps a person who reads a
 * log.
 */
export function newId(prefix: string): string {
  return `${prefix}_${randomBytes(10).toString("hex")}`;
}

/** Formats an instant of either clock as the API writes it. */
export function instantText(ms: number): string {
  return new Date(ms).toISOString();
}

export function isoInstantOrNull(ms: number | null): string | null {
  return ms === null ? null : instantText(ms);
}
