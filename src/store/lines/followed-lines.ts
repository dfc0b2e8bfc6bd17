import { sql, type Transaction } from "kysely";
import { LINE, type LineState, stateIs } from "../../contracts/line-states.ts";
import type { LineReason } from "../../contracts/reason-codes.ts";
import { chunks, type Db } from "../sql/db.ts";
import { getRunLines, type RunLine, toRunLine } from "./lines.ts";
import { idsIn, rowsAs } from "../sql/rows-as.ts";
import type { Tables } from "../schema/tables.ts";

/** A line whose payments are to be read now; `look` is true if an event concerned it. */
export type LineToLookAt = Pick<RunLine, "payableId" | "paymentIds" | "look">;

/**
 * Returns the lines whose payments are to be read now: lines that an event concerned, and lines
 * whose poll is due. Settled lines are read only after an event, and again if that read was not
 * finished.
 */
export async function linesToLookAt(
  db: Db,
  runId: string,
  businessMs: number,
): Promise<LineToLookAt[]> {
  const rows = await db
    .selectFrom("run_lines")
    .select(["payable_id", "payment_ids", "look"])
    .where("run_id", "=", runId)
    .where((eb) =>
      eb.or([
        eb.and([
          eb("state", "in", LINE.sent),
          eb.or([eb("look", "=", 1), eb("poll_at_ms", "<=", Math.floor(businessMs))]),
        ]),
        eb.and([
          eb("state", "=", "settled"),
          eb.or([eb("look", "=", 1), eb("poll_at_ms", "=", 0)]),
        ]),
      ]),
    )
    .orderBy("line_no")
    .execute();
  return rows.map(toRunLine);
}

/**
 * Clears the flags of lines that are being read: an event that comes meanwhile flags them again.
 */
export async function clearLooks(
  trx: Transaction<Tables>,
  runId: string,
  payableIds: readonly string[],
  nowMs: number,
): Promise<void> {
  for (const ids of chunks(payableIds)) {
    await trx
      .updateTable("run_lines")
      .set({ look: 0, poll_at_ms: 0, updated_at_ms: nowMs })
      .where("run_id", "=", runId)
      .where("payable_id", "in", idsIn(ids))
      .execute();
  }
}

/** Returns these lines of a run, except those that are neither followed nor settled any more. */
export async function followedLines(
  db: Db,
  runId: string,
  payableIds: readonly string[],
): Promise<RunLine[]> {
  const lines = await getRunLines(db, runId, payableIds);
  // Filtered here: with the state as a condition, SQLite would walk through all lines of that
  // state.
  return lines.filter(({ state }) => LINE.followed.includes(state));
}

/** A followed line's change of state. */
export interface LineMove {
  readonly payableId: string;
  readonly from: LineState;
  readonly to: LineState;
  readonly reasonCode: LineReason | null;
  readonly reason: string | null;
  /** Business-clock instant of the next poll. */
  readonly pollAtMs: number;
}

/**
 * Moves lines of a run to new states, many in one statement. A line that is no longer in its `from`
 * state stays as it is.
 *
 * @returns payables of the lines that were moved
 */
export async function moveFollowed(
  trx: Transaction<Tables>,
  runId: string,
  moves: readonly LineMove[],
  nowMs: number,
): Promise<Set<string>> {
  const moved = new Set<string>();
  for (const some of chunks(moves)) {
    const rows = rowsAs(
      "moves",
      "run_lines",
      some.map(({ payableId, from, to, reasonCode, reason, pollAtMs }) => ({
        runId,
        payableId,
        fromState: from,
        state: to,
        reasonCode,
        reason,
        pollAtMs: Math.round(pollAtMs),
      })),
    );
    const { rows: found } = await sql<{ payable_id: string }>`
      update run_lines set
        state = moves.state, reason_code = moves.reason_code, reason = moves.reason,
        poll_at_ms = moves.poll_at_ms, updated_at_ms = ${nowMs}
      from ${rows}
      where run_lines.run_id = moves.run_id and run_lines.payable_id = moves.payable_id
        and run_lines.state = moves.from_state
      returning run_lines.payable_id`.execute(trx);
    for (const row of found) moved.add(row.payable_id);
  }
  return moved;
}

/** Sets the next poll of lines whose state has not changed. */
export async function pollLater(
  trx: Transaction<Tables>,
  runId: string,
  lines: readonly {
    readonly payableId: string;
    readonly from: LineState;
    readonly pollAtMs: number;
  }[],
  nowMs: number,
): Promise<void> {
  const groups = Map.groupBy(lines, ({ from, pollAtMs }) => `${from} ${pollAtMs}`);
  for (const group of groups.values()) {
    const [first] = group;
    if (first === undefined) continue;
    for (const some of chunks(group)) {
      await trx
        .updateTable("run_lines")
        .set({ poll_at_ms: Math.round(first.pollAtMs), updated_at_ms: nowMs })
        .where("run_id", "=", runId)
        .where("payable_id", "in", idsIn(some.map(({ payableId }) => payableId)))
        // An expression, so that no database uses the state to find the lines.
        .where(sql<boolean>`(state || '') = ${first.from}`)
        .execute();
    }
  }
}

/**
 * Returns the contacts of these lines, as far as their payments still wait for their day, and run
 * by `untilDate` or are among `signaled`.
 */
export async function contactsOfScheduled(
  db: Db,
  runId: string,
  lines: {
    readonly payableIds: readonly string[];
    readonly signaled: ReadonlySet<string>;
    readonly untilDate: string;
  },
): Promise<Set<string>> {
  const contacts = new Set<string>();
  for (const ids of chunks(lines.payableIds)) {
    const rows = await db
      .selectFrom("run_lines")
      .select(["payable_id", "contact_id", "execution_date", "state"])
      .where("run_id", "=", runId)
      .where("payable_id", "in", idsIn(ids))
      .execute();
    for (const row of rows) {
      if (!stateIs("recallable", row.state)) continue;
      const isSoon = row.execution_date <= lines.untilDate;
      if (isSoon || lines.signaled.has(row.payable_id)) contacts.add(row.contact_id);
    }
  }
  return contacts;
}
