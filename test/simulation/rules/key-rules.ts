import type { Bank, SeenRequest } from "../service/bank.ts";
import { Violation } from "./violation.ts";

/**
 * What the service's log alone shows of keys (ledger, 7 and 8): while a request may still be
 * carried out, nothing is sent for its bill except the same bytes under the same key.
 */
export function checkKeys(bank: Bank, request: SeenRequest): void {
  const about = payableOf(request);
  if (about === undefined) return;
  const open = bank.requests.filter(
    (earlier) =>
      earlier.number < request.number && earlier.overMs === null && payableOf(earlier) === about,
  );
  for (const earlier of open) {
    const seconds = Math.round((request.leftMs - earlier.leftMs) / 1_000);
    const which = `request ${request.number} left while request ${earlier.number}, ${seconds} s older, may still be carried out`;
    if (earlier.key !== request.key) {
      throw new Violation("next-key-when-used-up", `${which} under another key`, about);
    }
    if (earlier.body !== request.body || earlier.path !== request.path) {
      throw new Violation("bytes-are-frozen", `${which} with other bytes`, about);
    }
  }
}

/** Returns the bill that a payment or its reinitiation is for. */
export function payableOf({ path, body }: SeenRequest): string | undefined {
  const retried = /^\/v1\/payables\/([^/]+)\/retry-payment$/.exec(path)?.[1];
  if (retried !== undefined) return decodeURIComponent(retried);
  return path === "/v1/payments" ? /"payableId":"([^"]+)"/.exec(body)?.[1] : undefined;
}
