import { type Author, kindOfAuthor, nameOfAuthor } from "../../contracts/authors.ts";
import { ENDED_PHASES } from "../../contracts/pay-run.ts";
import { readerOf, type RecordOf } from "../sql/as-record.ts";
import type { Db } from "../sql/db.ts";

type Run = RecordOf<"runs">;

/** A playbook of a business, of which a period has one run. */
type Period = Pick<Run, "businessId" | "playbook" | "period">;

/** Returns the newest revision of a period's run. */
export async function findRunOfPeriod(db: Db, launch: Period): Promise<Run | undefined> {
  const row = await db
    .selectFrom("runs")
    .selectAll()
    .where("business_id", "=", launch.businessId)
    .where("playbook", "=", launch.playbook)
    .where("period", "=", launch.period)
    .orderBy("revision", "desc")
    .limit(1)
    .executeTakeFirst();
  return row === undefined ? undefined : readerOf("runs")(row);
}

/**
 * True if a run has ended by itself without a single line, so that nothing of its period is used
 * up. One that a person has cancelled was ended by them, lines or not.
 */
export async function wasEmpty(
  db: Db,
  { runId, phase }: Pick<Run, "runId" | "phase">,
): Promise<boolean> {
  if (!ENDED_PHASES.includes(phase) || phase === "cancelled") return false;
  const line = await db
    .selectFrom("run_lines")
    .select("payable_id")
    .where("run_id", "=", runId)
    .limit(1)
    .executeTakeFirst();
  return line === undefined;
}

/**
 * Returns the newest run of a period, unless it ended by itself without a single line: then the
 * period is not used up.
 *
 * @param onceBy who launches it once: their own run counts also if it was empty
 */
export async function runThatCounts(db: Db, of: Period, onceBy?: Author): Promise<Run | undefined> {
  const latest = await findRunOfPeriod(db, of);
  if (latest === undefined || !(await wasEmpty(db, latest))) return latest;
  if (onceBy === undefined) return undefined;
  const own = await launchesOf(db, { ...of, launchedBy: onceBy })
    .where("period", "=", of.period)
    .executeTakeFirst();
  return own === undefined ? undefined : latest;
}

/** True if an author has launched a playbook's run since an instant. */
export async function launchedSince(db: Db, of: Launches, sinceMs: number): Promise<boolean> {
  const row = await launchesOf(db, of).where("launched_at_ms", ">=", sinceMs).executeTakeFirst();
  return row !== undefined;
}

interface Launches extends Pick<Run, "businessId" | "playbook"> {
  readonly launchedBy: Author;
}

function launchesOf(db: Db, of: Launches) {
  return db
    .selectFrom("runs")
    .select("run_id")
    .where("business_id", "=", of.businessId)
    .where("playbook", "=", of.playbook)
    .where("launched_by", "=", nameOfAuthor(of.launchedBy))
    .where("launched_by_kind", "=", kindOfAuthor(of.launchedBy))
    .limit(1);
}
