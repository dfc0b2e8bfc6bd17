import {
  FORBIDDEN,
  FORBIDDEN_READ,
  PAYMENT_READ_FAILURES,
  READ_FAILURES,
  stopsCancels,
  stopsReads,
} from "../../src/domain/service-waits.ts";
import { PaymentsApiError } from "../../src/payments-api/index.ts";
import { clearWait, countTries, listWaits } from "../../src/store/runs/waits.ts";
import { type BusinessFault, businessFault, faultOfRead, waitForEnd } from "./business-fault.ts";
import type { ActivityContext } from "./context.ts";
import { textOfError } from "./error-text.ts";

/** What is read: payments alone, which is what a cancel needs, or anything else. */
type What = "payments" | "anything";

/**
 * Reads something of a business, or makes the whole business wait if the service refuses the token,
 * asks to slow down or can't be reached: the status then says so, and nothing is read again before
 * the pause is over.
 *
 * @returns undefined while the business waits
 */
export async function readOrWait<T>(
  context: ActivityContext,
  run: { readonly business: string; readonly businessId: string },
  reading: () => Promise<T>,
  what: What = "anything",
): Promise<T | undefined> {
  const { businessId } = run;
  const { db } = context.store;
  const { serviceMs, realMs } = await context.clockOf(run.business).now();
  const stops = what === "payments" ? stopsCancels : stopsReads;
  const waits = (await listWaits(db, businessId)).filter(stops);
  if (waits.some((wait) => wait.retryAtMs > serviceMs)) return undefined;
  try {
    const found = await reading();
    if (waits.length > 0) {
      await context.store.transactionOf(businessId, async (trx) => {
        for (const { code } of waits) {
          // That payments can be read says nothing about whether they can be cancelled.
          if (code === FORBIDDEN) continue;
          const wait = { businessId, sourceId: "", code, realMs };
          await clearWait(trx, { ...wait, overByMs: serviceMs });
        }
      });
    }
    return found;
  } catch (error) {
    const fault = faultOf(error, what);
    if (fault === undefined) throw error;
    await context.store.transactionOf(businessId, async (trx) => {
      await countTries(trx, businessId, serviceMs);
      await waitForEnd(trx, { businessId }, fault, { serviceMs, realMs });
    });
    return undefined;
  }
}

function faultOf(error: unknown, what: What): BusinessFault | undefined {
  const isOfPayments = what === "payments";
  const refusal = faultOfRead(error, isOfPayments ? FORBIDDEN : FORBIDDEN_READ);
  if (refusal !== undefined || !(error instanceof PaymentsApiError)) return refusal;
  const { code, status } = error;
  const text = textOfError(error);
  const failures = isOfPayments ? PAYMENT_READ_FAILURES : READ_FAILURES;
  if (code === "unexpected_answer") {
    return businessFault(failures.unusable, `The service's answer is not as documented: ${text}`);
  }
  const isAway = status === undefined || status >= 500;
  return isAway ? businessFault(failures.away, `The service can't be read: ${text}`) : undefined;
}
