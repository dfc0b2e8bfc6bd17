import { type READ_WAITS, stopsReads } from "../src/domain/service-waits.ts";
import { PaymentsApiError } from "../src/payments-api/index.ts";
import { clearWait, countTries, listWaits, setWait } from "../src/store/waits.ts";
import type { ActivityContext } from "./context.ts";

/**
 * Reads something of a business, or makes the whole business wait where the service refuses the
 * token, asks to slow down or can't be reached: the status then says so, and nobody asks again
 * before the pause is over.
 *
 * @returns undefined while the business waits
 */
export async function readOrWait<T>(
  context: ActivityContext,
  run: { readonly business: string; readonly businessId: string },
  reading: () => Promise<T>,
): Promise<T | undefined> {
  const { businessId } = run;
  const { db } = context.store;
  const { serviceMs, realMs } = await context.clockOf(run.business).now();
  const waits = (await listWaits(db, businessId)).filter(stopsReads);
  if (waits.some((wait) => wait.retryAtMs > serviceMs)) return undefined;
  try {
    const found = await reading();
    if (waits.length > 0) {
      await context.store.transactionOf(businessId, async (trx) => {
        for (const { code } of waits) {
          await clearWait(trx, { businessId, sourceId: "", code, realMs });
        }
      });
    }
    return found;
  } catch (error) {
    const fault = faultOf(error);
    if (fault === undefined) throw error;
    await context.store.transactionOf(businessId, async (trx) => {
      await countTries(trx, businessId, serviceMs);
      await setWait(trx, {
        businessId,
        sourceId: "",
        code: fault.code,
        message: fault.message,
        nowMs: serviceMs,
        realMs,
        ...(fault.retryAfterMs === undefined ? {} : { retryAtMs: serviceMs + fault.retryAfterMs }),
      });
    });
    return undefined;
  }
}

interface Fault {
  readonly code: (typeof READ_WAITS)[number];
  readonly message: string;
  readonly retryAfterMs?: number;
}

function faultOf(error: unknown): Fault | undefined {
  if (!(error instanceof PaymentsApiError)) return undefined;
  const { status, retryAfterMs } = error;
  if (status === 401 || error.code === "token_unavailable") {
    return { code: "unauthorized", message: "The service refuses the token (401). Renew it." };
  }
  if (status === 403) {
    const message = `The token lacks a scope (403): ${error.message}`;
    return { code: "forbidden_read", message };
  }
  if (status === 429) {
    const message = "The service asked to slow down (429).";
    return {
      code: "rate_limited",
      message,
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    };
  }
  if (error.code === "unexpected_answer") {
    return {
      code: "unreadable",
      message: `The service answers otherwise than it says: ${error.message}`,
    };
  }
  if (status === undefined || status >= 500) {
    return { code: "unreachable", message: `The service can't be read: ${error.message}` };
  }
  return undefined;
}
