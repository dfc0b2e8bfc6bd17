import type { ClockReading } from "../business/clock.ts";
import { NEW_YORK } from "../domain/clock/new-york.ts";
import type { SendsAfter } from "../domain/goes-out.ts";
import { lossHold, lossNoticed } from "../store/janitor/behind.ts";
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
  return nothingUntilMs(await lossNoticed(db, businessId), clock);
}

/**
 * True for a restored store that may lack payments still: until a person has compared it, and until
 * what it may have lost shows at the service. What it counts is then too little.
 *
 * @param clock undefined where it can't be read: then only what a person has said ends it
 */
export async function isBehind(
  db: Db,
  businessId: string,
  clock: ClockReading | undefined,
): Promise<boolean> {
  // The hold for a loss has no end of its own.
  if ((await lossHold(db, businessId, clock?.businessMs ?? 0)) !== null) return true;
  return clock !== undefined && (await sendsNothingUntilMs(db, businessId, clock)) !== null;
}

type NoticedLoss = Awaited<ReturnType<typeof lossNoticed>>;

function nothingUntilMs(loss: NoticedLoss, clock: ClockReading): number | null {
  if (loss === null) return null;
  const { realMs: atMs, serviceMs, businessMs, scale } = clock;
  const leftMs = afterLossLeftMs(loss, { atMs, serviceMs }, clock);
  return leftMs > 0 ? businessMs + leftMs * scale : null;
}

/** People speak of a restore for as long as this. */
const SPOKEN_OF_MS = 14 * 86_400_000;

/**
 * How a restored store sends, as people are told it.
 *
 * @param plannedAtMs when what they look at was planned; undefined for several plans together
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
