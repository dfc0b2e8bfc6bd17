import type { Transaction } from "kysely";
import type { ClockReading } from "../../src/business/clock.ts";
import { serviceSays } from "../../src/domain/service-words.ts";
import { PaymentsApiError } from "../../src/payments-api/index.ts";
import type { Tables } from "../../src/store/schema/tables.ts";
import { setWait } from "../../src/store/runs/waits.ts";

/** A fault of the whole business, or of one of its funding sources: everybody waits for its end. */
export interface BusinessFault {
  readonly kind: "business-wait";
  readonly code: string;
  readonly message: string;
  /** For how long the service has asked; null where it has not said. */
  readonly retryAfterMs: number | null;
}

export function businessFault(
  code: string,
  message: string,
  retryAfterMs: number | null = null,
): BusinessFault {
  return { kind: "business-wait", code, message, retryAfterMs };
}

/** What a 401 says. */
export const BAD_TOKEN = businessFault(
  "unauthorized",
  "The service refuses the token (401). Renew it.",
);

/** What a 429 says. */
export function slowDown(retryAfterMs: number | null): BusinessFault {
  return businessFault("rate_limited", "The service asked to slow down (429).", retryAfterMs);
}

/**
 * The fault that a failed read tells of; undefined for one of what was to be read.
 *
 * @param forbidden code of the wait for a scope that the token lacks: who else needs it waits too
 */
export function faultOfRead(error: unknown, forbidden: string): BusinessFault | undefined {
  if (!(error instanceof PaymentsApiError)) return undefined;
  const { status, code, words, retryAfterMs } = error;
  if (status === 401 || code === "token_unavailable") return BAD_TOKEN;
  if (status === 429) return slowDown(retryAfterMs ?? null);
  if (status !== 403) return undefined;
  return businessFault(forbidden, `The token lacks a scope (403).${serviceSays(words)}`);
}

/** What the service refuses to everybody for now, by its code. */
export function refusedForNow(code: string, words: string): BusinessFault {
  return businessFault(code, `payments are refused for now (${code}).${serviceSays(words)}`);
}

/** Makes a business wait, or what pays from one of its funding sources. */
export async function waitForEnd(
  trx: Transaction<Tables>,
  of: { readonly businessId: string; readonly sourceId?: string },
  { code, message, retryAfterMs }: BusinessFault,
  { serviceMs: nowMs, realMs }: Pick<ClockReading, "serviceMs" | "realMs">,
): Promise<void> {
  const retryAt = retryAfterMs === null ? {} : { retryAtMs: nowMs + retryAfterMs };
  await setWait(trx, { sourceId: "", ...of, code, message, nowMs, realMs, ...retryAt });
}
