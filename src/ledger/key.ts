import { hash } from "node:crypto";
import { canonicalJson } from "../domain/canonical-json.ts";

/** Prefix of every key made this way; a different way needs a different prefix. */
const KEY_VERSION = "pr1_";

/**
 * Returns the idempotency key of one attempt: the same after any crash, even from an empty store.
 *
 * Amount, date and account are not part of it, on purpose: a request that differs in them meets the
 * service's own guard (409 on another body) instead of paying a second time.
 *
 * @param businessId the API's businessId
 * @param subject a payable id; for a cancel or a deposit, the ledger's own subject
 * @param seq 1 for the first attempt at the subject
 * @returns 52 characters (API specification, section 8, allows 64)
 */
export function idempotencyKey(businessId: string, subject: string, seq: number): string {
  if (businessId === "" || subject === "") {
    throw new RangeError("an idempotency key needs a business and a subject");
  }
  if (!Number.isSafeInteger(seq) || seq < 1) {
    throw new RangeError(`seq of an attempt starts at 1, got ${String(seq)}`);
  }
  const digest = hash("sha256", canonicalJson([KEY_VERSION, businessId, subject, seq]));
  return KEY_VERSION + digest.slice(0, 48);
}
