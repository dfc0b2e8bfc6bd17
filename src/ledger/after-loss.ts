import type { ClockReading } from "../business/clock.ts";
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
