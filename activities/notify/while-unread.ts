import type { Transaction } from "kysely";
import type { ClockReading } from "../../src/business/clock.ts";
import { serviceWaitText, stopsReads } from "../../src/domain/service-waits.ts";
import type { Tables } from "../../src/store/schema/tables.ts";
import { type BusinessWait, listWaits } from "../../src/store/runs/waits.ts";
import type { ActivityContext } from "../shared/context.ts";
import { readOrWait } from "../shared/read-or-wait.ts";
import { notifyOfWaits } from "./run.ts";

/** Shortest sleep of a workflow while the service can't be read. */
const WAKE_MIN_MS = 5_000;

/** Why a workflow can do nothing now. */
export interface Unread {
  readonly waitingFor: string;
  /** Real milliseconds until it is worth looking again. */
  readonly wakeInMs: number;
}

/**
 * Reads for a workflow of its own. If the service can't be read now, returns what the workflow
 * waits for; operators are notified if that lasts.
 */
export async function readOrSay<T>(
  context: ActivityContext,
  { business, workflowId }: { readonly business: string; readonly workflowId: string },
  reading: () => Promise<T>,
): Promise<{ readonly found: T } | Unread> {
  const { businessId } = context.profileOf(business);
  const found = await readOrWait(context, { business, businessId }, async () => ({
    found: await reading(),
  }));
  if (found !== undefined) return found;
  const clock = await context.clockOf(business).now();
  return context.store.transactionOf(businessId, async (trx) => {
    const waits = await notifyOfUnread(trx, { runId: workflowId, businessId }, clock);
    const [wait] = waits;
    const untilMs = Math.max(0, ...waits.map(({ retryAtMs }) => retryAtMs));
    return {
      waitingFor:
        wait === undefined ? "the service: it can't be read now" : serviceWaitText(wait, clock),
      wakeInMs: Math.max(WAKE_MIN_MS, untilMs - clock.serviceMs),
    };
  });
}

/**
 * Notifies operators of what keeps the service from being read for a run or a workflow of its own.
 *
 * @returns the waits that do
 */
export async function notifyOfUnread(
  trx: Transaction<Tables>,
  run: Parameters<typeof notifyOfWaits>[1]["run"],
  clock: ClockReading,
): Promise<BusinessWait[]> {
  const waits = (await listWaits(trx, run.businessId)).filter(stopsReads);
  await notifyOfWaits(trx, { run, waits, clock });
  return waits;
}
