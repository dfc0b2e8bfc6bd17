import { waitBegan, waitEnded } from "../../domain/facts/businesses.ts";
import type { Head } from "../../domain/facts/fact.ts";
import { record } from "../facts/record.ts";
import type { Transaction } from "kysely";
import { PAYRUN } from "../../contracts/authors.ts";
import { PAYMENT_READ_FAILURES, READ_FAILURES } from "../../domain/service-waits.ts";
import { doublingMs } from "../../domain/back-off.ts";
import { asColumns, readerOf, type RecordOf } from "../sql/as-record.ts";
import { COUNT, type Db } from "../sql/db.ts";
import { findAll, findOne } from "../sql/records.ts";
import type { Tables } from "../schema/tables.ts";

/** A fault of a whole business, or of one of its funding sources, during which everything waits. */
export type BusinessWait = RecordOf<"business_waits">;

const toWait = readerOf("business_waits");

export interface NewWait extends Pick<
  BusinessWait,
  "businessId" | "sourceId" | "code" | "message"
> {
  /** Service clock. */
  readonly nowMs: number;
  /** Real time, for the audit trail. */
  readonly realMs: number;
  /** Service-clock instant that the service asked to wait for; without it, the back-off applies. */
  readonly retryAtMs?: number;
}

/** First back-off if the service doesn't ask for a pause; it doubles with every try. */
const BACK_OFF_MS = 5_000;
const BACK_OFF_MAX_MS = 600_000;

/**
 * The longest back-off while the service can't be reached: it comes back by itself, and by then a
 * whole business waits for it.
 */
const AWAY_BACK_OFF_MAX_MS = 120_000;
const AWAY: readonly string[] = [PAYMENT_READ_FAILURES.away, READ_FAILURES.away];

/** How long others wait for the outcome of a try, if it brings none. */
const TEST_MS = 30_000;

/**
 * Makes a business or a source wait, or continues an existing wait.
 *
 * Responses to requests that were in flight together may each ask for a pause: until a request has
 * been tried again, the longest holds.
 */
export async function setWait(trx: Transaction<Tables>, wait: NewWait): Promise<BusinessWait> {
  const { businessId, sourceId, code, message, nowMs } = wait;
  const found = await findOne(trx, "business_waits", { businessId, sourceId, code });
  const tries = found?.tries ?? 0;
  const floorMs = found !== undefined && tries === 0 ? found.retryAtMs : 0;
  const retryAtMs = Math.max(floorMs, wait.retryAtMs ?? nowMs + backOffMs(code, tries));
  const row = await trx
    .insertInto("business_waits")
    .values({
      ...asColumns({ businessId, sourceId, code, message, retryAtMs }),
      since_ms: nowMs,
      tries: 0,
    })
    .onConflict((conflict) =>
      conflict
        .columns(["business_id", "source_id", "code"])
        .doUpdateSet({ message, retry_at_ms: retryAtMs }),
    )
    .returningAll()
    .executeTakeFirstOrThrow();
  // Continuing a wait is no news: a service that refuses for days must not fill the trail.
  const set = toWait(row);
  if (found === undefined) await record(trx, waitBegan(headOf(set, wait.realMs), { code }));
  return set;
}

function headOf({ businessId, sourceId }: BusinessWait, nowMs: number): Head {
  return { businessId, nowMs, by: PAYRUN, subject: sourceId === "" ? businessId : sourceId };
}

/** Records that a wait is over. */
async function noteEnd(
  trx: Transaction<Tables>,
  wait: BusinessWait,
  realMs: number,
): Promise<void> {
  const { code, tries, sinceMs } = wait;
  await record(trx, waitEnded(headOf(wait, realMs), { code, tries, sinceMs: Math.floor(sinceMs) }));
}

function backOffMs(code: string, tries: number): number {
  const mostMs = AWAY.includes(code) ? AWAY_BACK_OFF_MAX_MS : BACK_OFF_MAX_MS;
  return doublingMs(BACK_OFF_MS, mostMs, tries);
}

/**
 * Records that the waits of a business whose pause is over are being tried: their back-off grows.
 */
export async function countTries(db: Db, businessId: string, nowMs: number): Promise<void> {
  await db
    .updateTable("business_waits")
    .set((eb) => ({ tries: eb("tries", "+", 1) }))
    .where("business_id", "=", businessId)
    .where("source_id", "=", "")
    .where("retry_at_ms", "<=", nowMs)
    .execute();
}

/**
 * Records that a request is about to try whether the waits whose pause has passed are over:
 * everything else waits for its outcome, and the next pause is longer.
 *
 * Affects only the waits that it tries: those of other sources are left to requests that pay from
 * them.
 */
export async function testWaits(
  db: Db,
  test: {
    readonly businessId: string;
    readonly sourceIds: readonly string[];
    readonly nowMs: number;
    /** Codes of the waits that it tries; by default all. */
    readonly codes?: readonly string[];
  },
): Promise<void> {
  await db
    .updateTable("business_waits")
    .set((eb) => ({ retry_at_ms: test.nowMs + TEST_MS, tries: eb("tries", "+", 1) }))
    .where("business_id", "=", test.businessId)
    .where("source_id", "in", ["", ...new Set(test.sourceIds)])
    .where("retry_at_ms", "<=", test.nowMs)
    .$if(test.codes !== undefined, (waits) => waits.where("code", "in", test.codes ?? []))
    .execute();
}

/**
 * Ends the waits that a request for `sourceId` has shown to be over: waits of the source and of the
 * whole business.
 *
 * Ends only those that have been tried since they began: a response to a request that left before
 * the fault says nothing about it.
 */
export async function clearWaits(
  trx: Transaction<Tables>,
  shown: {
    readonly businessId: string;
    readonly sourceId: string;
    readonly realMs: number;
    /** Codes of the waits that it has shown to be over; by default all. */
    readonly codes?: readonly string[];
  },
): Promise<void> {
  const ended = await trx
    .deleteFrom("business_waits")
    .where("business_id", "=", shown.businessId)
    .where("source_id", "in", [shown.sourceId, ""])
    .where("tries", ">", 0)
    .$if(shown.codes !== undefined, (waits) => waits.where("code", "in", shown.codes ?? []))
    .returningAll()
    .execute();
  for (const row of ended) await noteEnd(trx, toWait(row), shown.realMs);
}

/** Ends one wait whose cause is known to be gone. */
export async function clearWait(
  trx: Transaction<Tables>,
  wait: {
    readonly businessId: string;
    readonly sourceId: string;
    readonly code: string;
    readonly realMs: number;
    /**
     * Only if its pause was over by then: a pause that was asked for since is news of the fault.
     */
    readonly overByMs?: number;
  },
): Promise<boolean> {
  const { overByMs } = wait;
  const ended = await trx
    .deleteFrom("business_waits")
    .where("business_id", "=", wait.businessId)
    .where("source_id", "=", wait.sourceId)
    .where("code", "=", wait.code)
    .$if(overByMs !== undefined, (waits) => waits.where("retry_at_ms", "<=", overByMs ?? 0))
    .returningAll()
    .executeTakeFirst();
  if (ended === undefined) return false;
  await noteEnd(trx, toWait(ended), wait.realMs);
  return true;
}

/** Returns the waits of a business, the longest first. */
export function listWaits(db: Db, businessId: string): Promise<BusinessWait[]> {
  return findAll(db, "business_waits", { businessId }, ["since_ms", "source_id", "code"]);
}

/** Counts the businesses and sources that wait, by the code of what they wait for. */
export async function countWaitsByCode(
  db: Db,
): Promise<{ readonly code: string; readonly count: number }[]> {
  const rows = await db
    .selectFrom("business_waits")
    .select(["code", COUNT])
    .groupBy("code")
    .execute();
  return rows.map((row) => ({ ...row, count: Number(row.count) }));
}
