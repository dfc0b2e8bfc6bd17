import { type ExpressionBuilder, type RawBuilder, sql, type SqlBool } from "kysely";
import { LINE } from "../../contracts/line-states.ts";
import { type Db, sumOfCents } from "../sql/db.ts";
import type { Tables } from "../schema/tables.ts";
import { isIn } from "../sql/is-in.ts";
import { idsIn } from "../sql/rows-as.ts";

/** Lines to leave out, because their money is counted elsewhere. */
export interface ExceptLines {
  readonly exceptRunId?: string;
  /** Leaves out only that run's lines of these bills; all of its lines if missing. */
  readonly exceptPayableIds?: readonly string[];
}

export interface ReservedFrom extends ExceptLines {
  readonly businessId: string;
  readonly sourceId: string;
  /** Today's date in New York. */
  readonly today: string;
  /**
   * Real instant at which reading the available balance began. Money that was taken out of the
   * source since may or may not be missing from that figure, so it still counts as promised.
   */
  readonly readAtMs?: number;
}

/**
 * Returns what all runs have promised from a source and the service may still show as available, in
 * cents. It is rather too much than too little: money that is counted twice only costs a wait.
 *
 * A failed bill that is paid again keeps its money reserved until the service shows the new
 * payment's money as taken, or until its date is over.
 */
export async function reservedCents(db: Db, from: ReservedFrom): Promise<number> {
  const { readAtMs } = from;
  const since =
    readAtMs === undefined ? [] : [taken(db, from, readAtMs), takenAgain(db, from, readAtMs)];
  const sums = [promised(db, from), ...since];
  let cents = 0;
  // What is promised is read first: a payment that is taken in between counts twice, not never.
  for (const sum of sums) cents += Number((await sum.executeTakeFirst())?.cents ?? 0);
  return cents;
}

function promised(db: Db, from: ReservedFrom) {
  return reserving(db, from)
    .where(isIn("run_lines.state", LINE.underWay))
    .where((eb) =>
      eb.or([
        eb("run_lines.state", "in", [...LINE.leased, ...LINE.recallable]),
        eb.and([eb("run_lines.state", "=", "planned"), eb("run_lines.funded", "=", 1)]),
        eb.and([eb("run_lines.state", "=", "retrying"), eb.not(isPaidAgain(eb, from.today))]),
      ]),
    );
}

/**
 * Returns a condition that is true of a failed bill if the money of its new payment has left its
 * account: the service shows the money as taken, or the date is over.
 *
 * @param today date in New York
 */
export function isPaidAgain(eb: ExpressionBuilder<Tables, "run_lines">, today: string) {
  const dateIsOver = payingAgain(eb).where("run_lines.execution_date", "<", today);
  return eb.or([eb.exists(moneyTakenAgain(eb)), eb.exists(dateIsOver)]);
}

function taken(db: Db, from: ReservedFrom, sinceMs: number) {
  return reserving(db, from)
    .where(isIn("run_lines.state", LINE.taken))
    .where("run_lines.updated_at_ms", ">=", sinceMs);
}

function takenAgain(db: Db, from: ReservedFrom, sinceMs: number) {
  return reserving(db, from)
    .where(isIn("run_lines.state", LINE.underWay))
    .where("run_lines.state", "=", "retrying")
    .where((eb) => eb.exists(moneyTakenAgain(eb).where("retries.updated_at_ms", ">=", sinceMs)));
}

/** Selects the retry that has paid a line again and follows that payment. */
function payingAgain(eb: ExpressionBuilder<Tables, "run_lines">) {
  return eb
    .selectFrom("retries")
    .select("retries.payable_id")
    .whereRef("retries.business_id", "=", "run_lines.business_id")
    .whereRef("retries.payable_id", "=", "run_lines.payable_id")
    .where("retries.phase", "=", "following");
}

/** Selects that retry only if the service shows the new payment's money as taken. */
export function moneyTakenAgain(eb: ExpressionBuilder<Tables, "run_lines">) {
  return payingAgain(eb).where("retries.money_taken", "=", 1);
}

function reserving(db: Db, from: ReservedFrom) {
  return db
    .selectFrom("run_lines")
    .select(sumOfCents("amount_cents").as("cents"))
    .where("run_lines.business_id", "=", from.businessId)
    .where("run_lines.source_id", "=", from.sourceId)
    .where(isCounted(from));
}

/** Returns a condition that is true of lines that are not left out. */
export function isCounted({ exceptRunId, exceptPayableIds }: ExceptLines): RawBuilder<SqlBool> {
  if (exceptRunId === undefined) return sql<SqlBool>`true`;
  const isOthers = sql<SqlBool>`run_lines.run_id <> ${exceptRunId}`;
  if (exceptPayableIds === undefined) return isOthers;
  return sql<SqlBool>`(${isOthers} or run_lines.payable_id not in ${idsIn(exceptPayableIds)})`;
}

/**
 * True if a payment's date has come and its status has not been read since: its money may be
 * counted twice, as promised and as gone.
 */
export async function mayBeCountedTwice(
  db: Db,
  from: Pick<ReservedFrom, "businessId" | "sourceId" | "today">,
): Promise<boolean> {
  const row = await db
    .selectFrom("run_lines")
    .select("payable_id")
    .where("business_id", "=", from.businessId)
    .where("source_id", "=", from.sourceId)
    .where("execution_date", "<=", from.today)
    .where(isIn("run_lines.state", LINE.underWay))
    .where("state", "in", LINE.perhapsTaken)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/**
 * Returns what a source has left beside all that is promised from it: below 0 if more is promised
 * than it holds, null if money may be counted twice, so that the figure can't be known.
 */
export async function unpromisedCents(
  db: Db,
  from: ReservedFrom,
  availableCents: number,
): Promise<number | null> {
  if (await mayBeCountedTwice(db, from)) return null;
  return availableCents - (await reservedCents(db, from));
}
