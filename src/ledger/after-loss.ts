import { DAY_MS } from "../contracts/durations.ts";
import type { ClockReading } from "../business/clock.ts";
import { NEW_YORK } from "../domain/clock/new-york.ts";
import type { SendsAfter } from "../domain/goes-out.ts";
import { lossHold, lossNoticed } from "../store/janitor/behind.ts";
import type { Db } from "../store/sql/db.ts";
import { afterLossLeftMs } from "./shown.ts";

/**
 * Returns the business-clock instant until which nothing is sent after a loss of the store was
 * noticed; null if that has passed, or if nothing was lost.
 */
export async function sendsNothingUntilMs(
  db: Db,
  businessId: string,
  clock: ClockReading,
): Promise<number | null> {
  return nothingUntilMs(await lossNoticed(db, businessId), clock);
}

/**
 * True for a restored store that may still lack payments: until a person has compared it, and until
 * everything that it may have lost shows at the service. Until then its counts are too low.
 *
 * @param clock undefined if it can't be read: then the state lasts until a person ends it
 */
export async function isBehind(
  db: Db,
  businessId: string,
  clock: ClockReading | undefined,
): Promise<boolean> {
  // The hold for a loss never expires by itself, so it is found without a clock too.
  if ((await lossHold(db, businessId, clock?.businessMs ?? 0)) !== null) return true;
  return clock !== undefined && (await sendsNothingUntilMs(db, businessId, clock)) !== null;
}

type NoticedLoss = Awaited<ReturnType<typeof lossNoticed>>;

function nothingUntilMs(loss: NoticedLoss, clock: ClockReading): number | null {
  if (loss === null) return null;
  const { realMs: atMs, serviceMs } = clock;
  const leftMs = afterLossLeftMs(loss, { atMs, serviceMs }, clock);
  return leftMs > 0 ? clock.afterRealMs(leftMs) : null;
}

/** How long after a restore the texts about several plans mention it. */
const SPOKEN_OF_MS = 14 * DAY_MS;

/**
 * Describes how a restored store sends, for texts that people read.
 *
 * @param plannedAtMs when the plan that they look at was made; undefined for several plans together
 */
export async function sendsAfter(
  db: Db,
  businessId: string,
  clock: ClockReading,
  plannedAtMs: number = clock.realMs - SPOKEN_OF_MS,
): Promise<SendsAfter> {
  const loss = await lossNoticed(db, businessId);
  const untilMs = nothingUntilMs(loss, clock);
  return {
    ...(loss !== null && plannedAtMs < loss.atMs ? { restored: true as const } : {}),
    zone: clock.zone ?? NEW_YORK,
    notBefore: untilMs === null ? null : new Date(untilMs).toISOString(),
  };
}
