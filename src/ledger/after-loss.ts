import type { ClockReading } from "../business/clock.ts";
import { NEW_YORK } from "../domain/clock/new-york.ts";
import type { SendsAfter } from "../domain/goes-out.ts";
import { lossNoticed } from "../store/janitor/behind.ts";
import type { Db } from "../store/sql/db.ts";
import { afterLossLeftMs } from "./shown.ts";

/**
 * Until when nothing is sent after a loss of the store was noticed, on the business clock; null
 * where that is over, or nothing was lost.
 */
export async function sendsNothingUntilMs(
  db: Db,
  businessId: string,
  clock: ClockReading,
): Promise<number | null> {
  const loss = await lossNoticed(db, businessId);
  if (loss === null) return null;
  const { realMs: atMs, serviceMs, businessMs, scale } = clock;
  const leftMs = afterLossLeftMs(loss, { atMs, serviceMs }, clock);
  return leftMs > 0 ? businessMs + leftMs * scale : null;
}

/** The same as it is told to people. */
export async function sendsAfter(
  db: Db,
  businessId: string,
  clock: ClockReading,
): Promise<SendsAfter> {
  const untilMs = await sendsNothingUntilMs(db, businessId, clock);
  return {
    zone: clock.zone ?? NEW_YORK,
    notBefore: untilMs === null ? null : new Date(untilMs).toISOString(),
  };
}
