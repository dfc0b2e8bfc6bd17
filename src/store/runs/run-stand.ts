import type { ExpressionBuilder } from "kysely";
import { LINE, LINE_STATES } from "../../contracts/line-states.ts";
import { ENDED_PHASES } from "../../contracts/pay-run.ts";
import { lacksApproval } from "../approvals/approval-waits.ts";
import { isAskingDeposit } from "../deposits/deposit-asks.ts";
import { isAskedRetry, waitsForPerson } from "../payables/waits-for-person.ts";
import type { Tables } from "../schema/tables.ts";
import { type ClockInSql, clockAt, type Instant } from "../sql/clocks.ts";
import { chunks, type Db } from "../sql/db.ts";

type OfRuns = ExpressionBuilder<Tables, "runs">;

/** Whether a workflow waits for a person, and whether anything more comes of it. */
export interface Stand {
  readonly needsAction: boolean;
  readonly isFinal: boolean;
}

const OPEN_LINE_STATES = LINE_STATES.filter((state) => !LINE.ended.includes(state));

/**
 * True for a run that waits for a person: for an approval, for a word about a vendor's record, about
 * a parked bill, or for a deposit.
 */
export function asksPerson(clock: ClockInSql) {
  return (eb: OfRuns) =>
    eb.or([
      isUndecided(clock.ms)(eb),
      eb.exists(linesOf(eb).where((of) => of.or([waitsForPerson(of), isAskedRetry(of)]))),
      eb.exists(
        eb
          .selectFrom("top_ups")
          .select("top_ups.subject")
          .whereRef("top_ups.owner", "=", "runs.run_id")
          .where(isAskingDeposit(clock)),
      ),
    ]);
}

/** True for an open run with a bill that lacks an approval. */
export function isUndecided(businessMs: Instant) {
  return (eb: OfRuns) =>
    eb.and([
      eb("runs.phase", "not in", ENDED_PHASES),
      eb.exists(linesOf(eb).where(lacksApproval(businessMs))),
    ]);
}

/** True for a run that goes on by itself: it is open, or one of its bills is paid again. */
function goesOn(eb: OfRuns) {
  return eb.or([
    eb("runs.phase", "not in", ENDED_PHASES),
    eb.exists(linesOf(eb).where("run_lines.state", "in", OPEN_LINE_STATES)),
  ]);
}

function linesOf(eb: OfRuns) {
  return eb
    .selectFrom("run_lines")
    .select("run_lines.payable_id")
    .whereRef("run_lines.run_id", "=", "runs.run_id");
}

/** Says where these runs stand now, by id. @param businessMs business-clock instant */
export async function runStands(
  db: Db,
  runIds: readonly string[],
  businessMs: number,
): Promise<ReadonlyMap<string, Stand>> {
  const stands = new Map<string, Stand>();
  for (const ids of chunks(runIds)) {
    const rows = await db
      .selectFrom("runs")
      .select("runs.run_id")
      .select((eb) => [asksPerson(clockAt(businessMs))(eb).as("asks"), goesOn(eb).as("goes_on")])
      .where("runs.run_id", "in", ids)
      .execute();
    for (const row of rows) {
      const needsAction = Boolean(row.asks);
      stands.set(row.run_id, { needsAction, isFinal: !needsAction && !row.goes_on });
    }
  }
  return stands;
}

/** Says where a run stands now. */
export async function runStand(db: Db, runId: string, businessMs: number): Promise<Stand> {
  const stands = await runStands(db, [runId], businessMs);
  return stands.get(runId) ?? { needsAction: false, isFinal: true };
}
