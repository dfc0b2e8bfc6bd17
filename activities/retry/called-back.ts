import type { RetryAssessment } from "../../src/contracts/activities.ts";
import { CALLED_BACK_TEXT } from "../../src/domain/notices/incident-texts.ts";
import type { Payment } from "../../src/payments-api/index.ts";
import { calledBack } from "../../src/store/cancellations/called-back.ts";
import { getIncident } from "../../src/store/incidents/incidents.ts";
import { getRetryCase, keepRetryCase } from "../../src/store/lines/retry-cases.ts";
import { decisionAbout, joined, waitFor } from "./answers.ts";
import type { RetryCase } from "./retry-case.ts";

/**
 * Makes a bill wait for the incident of its account, if its new payment was called back because of
 * it: once the account is released, it is tried again like those that bounced.
 *
 * @returns undefined if its payment was cancelled for another reason
 */
export async function waitIfCalledBack(
  retry: RetryCase,
  ended: readonly Payment[],
): Promise<RetryAssessment | undefined> {
  const { context, businessId, payableId, line, row } = retry;
  const { db } = context.store;
  const ids = ended.map(({ id }) => id);
  const last = ids.at(-1);
  if (last === undefined || !(await calledBack(db, businessId, [last])).has(last)) return undefined;
  const kept = await getRetryCase(db, businessId, payableId);
  const incident = await getIncident(db, businessId, line.sourceId);
  if (kept === undefined || incident === undefined) return undefined;
  await keepRetryCase(db, { ...kept, waitsFor: "incident" });
  const handledPaymentIds = [...new Set([...row.handledPaymentIds, ...ids])];
  const change = { phase: "waiting", reasonCode: row.reasonCode, handledPaymentIds };
  const text = decisionAbout(line.sourceId);
  return joined(await waitFor(retry, text, CALLED_BACK_TEXT, change), incident);
}
