import { stopsReads } from "../src/domain/service-waits.ts";
import { PaymentsApiError } from "../src/payments-api/index.ts";
import { clearWait, countTries, listWaits } from "../src/store/waits.ts";
import { type BusinessFault, businessFault, faultOfRead, waitForEnd } from "./business-fault.ts";
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
      await waitForEnd(trx, { businessId }, fault, { serviceMs, realMs });
    });
    return undefined;
  }
}

function faultOf(error: unknown): BusinessFault | undefined {
  const refusal = faultOfRead(error);
  if (refusal !== undefined || !(error instanceof PaymentsApiError)) return refusal;
  const { code, message, status } = error;
  if (code === "unexpected_answer") {
    return businessFault("unreadable", `The service answers otherwise than it says: ${message}`);
  }
  const isAway = status === undefined || status >= 500;
  return isAway ? businessFault("unreachable", `The service can't be read: ${message}`) : undefined;
}
