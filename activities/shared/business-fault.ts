import type { Transaction } from "kysely";
import type { WaitCode } from "../../src/contracts/reason-codes.ts";
import type { ClockReading } from "../../src/business/clock.ts";
import { SLOW_DOWN, TOKEN_REFUSED } from "../../src/domain/service-waits.ts";
import { serviceSays } from "../../src/domain/service-words.ts";
import { PaymentsApiError } from "../../src/payments-api/index.ts";
import type { Tables } from "../../src/store/schema/tables.ts";
import { setWait } from "../../src/store/runs/waits.ts";

/**
 * A fault of the whole business, or of one of its funding sources: all its runs and retries wait
 * for its end.
 */
export interface BusinessFault {
  readonly kind: "business-wait";
  readonly code: WaitCode;
  readonly message: string;
  /** Milliseconds that the service has asked to wait; null if it has not said. */
  readonly retryAfterMs: number | null;
}

export function businessFault(
  code: WaitCode,
  message: string,
  retryAfterMs: number | null = null,
): BusinessFault {
  return { kind: "business-wait", code, message, retryAfterMs };
}

/**
 * Returns the fault of the business that a failed read reveals; undefined if the fault concerns
 * only what was to be read.
 *
 * @param forbidden code of the wait for a scope that the token lacks: everything else that needs
 * the scope waits too
 */
export function faultOfRead(error: unknown, forbidden: WaitCode): BusinessFault | undefined {
  if (!(error instanceof PaymentsApiError)) return undefined;
  const { status, code, words, retryAfterMs } = error;
  if (status === 401 || code === "token_unavailable") {
    return businessFault("unauthorized", TOKEN_REFUSED);
  }
  if (status === 429) return businessFault("rate_limited", SLOW_DOWN, retryAfterMs ?? null);
  if (status !== 403) return undefined;
  return businessFault(forbidden, `The token lacks a scope (403).${serviceSays(words)}`);
}

/** Makes a business wait, or everything that pays from one of its funding sources. */
export async function waitForEnd(
  trx: Transaction<Tables>,
  of: { readonly businessId: string; readonly sourceId?: string },
  { code, message, retryAfterMs }: BusinessFault,
  { serviceMs: nowMs, realMs }: Pick<ClockReading, "serviceMs" | "realMs">,
): Promise<void> {
  const retryAt = retryAfterMs === null ? {} : { retryAtMs: nowMs + retryAfterMs };
  await setWait(trx, { sourceId: "", ...of, code, message, nowMs, realMs, ...retryAt });
}
