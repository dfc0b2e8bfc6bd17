import { sql, type Transaction } from "kysely";
import { LINE } from "../../contracts/line-states.ts";
import type { PlanLine } from "../../contracts/pay-run.ts";
import { arrivalOn } from "../../domain/planning/dates.ts";
import { daysLate } from "../../domain/planning/flagged.ts";
import { databaseNowMs } from "../sql/database-clock.ts";
import { readerOf } from "../sql/as-record.ts";
import { isIn } from "../sql/is-in.ts";
import { chunks } from "../sql/db.ts";
import { assigned, isFreeAt, NO_BACK_OFF, NO_LEASE } from "./lease-columns.ts";
import { type RunLine, toRunLine } from "./lines.ts";
import { planLinesOf } from "./plan-lines.ts";
import { idsIn, rowsAs } from "../sql/rows-as.ts";
import type { Row, Tables } from "../schema/tables.ts";
import { listWaits, testWaits } from "../runs/waits.ts";

export interface LeaseRequest {
  readonly runId: string;
  readonly businessId: string;
  /** The holder, written into the lease for people to read. */
  readonly by: string;
  readonly limit: number;
  readonly leaseMs: number;
  readonly serviceMs: number;
}

/** A line that is leased for paying, with what is planned for it. */
export interface LeasedLine {
  readonly line: RunLine;
  readonly plan: PlanLine;
}

export interface Leased {
  readonly lines: readonly LeasedLine[];
  /** Service-clock instant until which the whole business waits; null if it doesn't. */
  readonly blockedUntilMs: number | null;
}

/**
 * Leases the next lines of a run, so that few lanes work on the same lines at the same time.
 *
 * A lease only spreads the load. The gate decides whether a line may be paid, and keys prevent two
 * lanes that work on one line from paying it twice.
 */
export async function leaseLines(trx: Transaction<Tables>, request: LeaseRequest): Promise<Leased> {
  const { businessId, serviceMs } = request;
  const waits = await listWaits(trx, businessId);
  const lasting = waits.filter(({ retryAtMs }) => retryAtMs > serviceMs);
  const ofAll = lasting.filter(({ sourceId }) => sourceId === "");
  if (ofAll.length > 0) {
    return { lines: [], blockedUntilMs: Math.max(...ofAll.map(({ retryAtMs }) => retryAtMs)) };
  }
  const blockedSources = lasting.map(({ sourceId }) => sourceId);
  const due = waits.filter(({ retryAtMs }) => retryAtMs <= serviceMs);
  const nowMs = await databaseNowMs(trx);
  const rows = testsOnly(
    await leasable(trx, request, { blockedSources, nowMs }),
    due.map(({ sourceId }) => sourceId),
  );
  if (rows.length === 0) return { lines: [], blockedUntilMs: null };
  if (due.length > 0) {
    const sourceIds = rows.map((row) => row.sourceId);
    await testWaits(trx, { businessId, sourceIds, nowMs: serviceMs });
  }
  return { lines: await lease(trx, request, rows, nowMs), blockedUntilMs: null };
}

/**
 * After a wait, lets one line go first, of the source or of everything: if the fault is still
 * there, a single request has found out.
 */
function testsOnly(rows: readonly RunLine[], dueSources: readonly string[]): readonly RunLine[] {
  if (dueSources.includes("")) return rows.slice(0, 1);
  const tested = new Set<string>();
  return rows.filter(({ sourceId }) => {
    if (!dueSources.includes(sourceId)) return true;
    const isFirst = !tested.has(sourceId);
    tested.add(sourceId);
    return isFirst;
  });
}

async function leasable(
  trx: Transaction<Tables>,
  request: LeaseRequest,
  now: { readonly blockedSources: readonly string[]; readonly nowMs: number },
): Promise<RunLine[]> {
  let query = trx
    .selectFrom("run_lines")
    .selectAll()
    .where("run_id", "=", request.runId)
    .where(isIn("state", LINE.leasable))
    .where("not_before_ms", "<=", Math.floor(request.serviceMs))
    .where((eb) =>
      eb.or([
        eb.and([eb("state", "=", "planned"), eb("funded", "=", 1)]),
        eb.and([eb("state", "in", LINE.leased), isFreeAt(now.nowMs)]),
      ]),
    );
  if (now.blockedSources.length > 0) query = query.where("source_id", "not in", now.blockedSources);
  const rows = await query
    .orderBy("execution_date")
    .orderBy("line_no")
    .limit(request.limit)
    .execute();
  return rows.map(toRunLine);
}

async function lease(
  trx: Transaction<Tables>,
  request: LeaseRequest,
  rows: readonly RunLine[],
  nowMs: number,
): Promise<LeasedLine[]> {
  const plans = new Map<string, PlanLine>();
  for (const some of chunks(rows)) {
    const ids = some.map(({ payableId }) => payableId);
    await trx
      .updateTable("run_lines")
      .set((eb) => ({
        state: "paying",
        lease_epoch: eb("lease_epoch", "+", 1),
        lease_owner: request.by,
        lease_until_ms: nowMs + request.leaseMs,
        updated_at_ms: nowMs,
      }))
      .where("run_id", "=", request.runId)
      .where("payable_id", "in", idsIn(ids))
      .execute();
    for (const line of await planLinesOf(trx, request.runId, ids)) plans.set(line.payableId, line);
  }
  return rows.map((row) => {
    const plan = plans.get(row.payableId);
    if (plan === undefined) throw new Error(`${row.runId} has no plan line for ${row.payableId}`);
    return { line: { ...row, state: "paying", leaseEpoch: row.leaseEpoch + 1 }, plan };
  });
}

/** A line with a request that is about to leave. */
export interface SentLine {
  readonly runId: string;
  readonly payableId: string;
  readonly seq: number;
  readonly executionDate: string;
}

/**
 * Records on lines that their requests are about to leave, and keeps the lines leased meanwhile.
 * Weekly limits count a line in the week in which it is paid.
 */
export async function noteSends(
  trx: Transaction<Tables>,
  lines: readonly SentLine[],
  leaseMs: number,
): Promise<void> {
  if (lines.length === 0) return;
  for (const some of chunks(lines)) {
    const sent = rowsAs(
      "sent",
      "run_lines",
      some.map(({ seq, ...line }) => ({ ...line, attempts: seq })),
    );
    const ofSent = sql`from ${sent}
      where run_lines.run_id = sent.run_id and run_lines.payable_id = sent.payable_id`;
    await sql`update run_lines set attempts = sent.attempts,
        lease_until_ms = payrun_now_ms() + cast(${leaseMs} as bigint)
      ${ofSent}`.execute(trx);
    // A statement of its own, as few dates change: otherwise SQLite would rewrite a line's entry in
    // every index by date.
    const { rows } = await sql<Pick<Row<"run_lines">, "run_id" | "payable_id" | "execution_date">>`
      update run_lines set execution_date = sent.execution_date
      ${ofSent} and run_lines.execution_date <> sent.execution_date
      returning run_lines.run_id, run_lines.payable_id, run_lines.execution_date`.execute(trx);
    await noteHowLate(trx, rows.map(readerOf("run_lines")));
  }
}

/** Updates how late lines are if they are paid on another day than planned. */
async function noteHowLate(
  trx: Transaction<Tables>,
  lines: readonly Omit<SentLine, "seq">[],
): Promise<void> {
  for (const [runId, theirs] of Map.groupBy(lines, (line) => line.runId)) {
    const ids = theirs.map(({ payableId }) => payableId);
    const plans = new Map(
      (await planLinesOf(trx, runId, ids)).map((plan) => [plan.payableId, plan]),
    );
    const moved = theirs.flatMap(({ payableId, executionDate }) => {
      const plan = plans.get(payableId);
      if (plan === undefined) return [];
      const arrivalDate = arrivalOn(executionDate, plan);
      return { runId, payableId, daysLate: daysLate({ ...plan, arrivalDate }) };
    });
    if (moved.length === 0) continue;
    const sent = rowsAs("sent", "run_lines", moved);
    await sql`update run_lines set days_late = sent.days_late from ${sent}
      where run_lines.run_id = sent.run_id and run_lines.payable_id = sent.payable_id`.execute(trx);
  }
}

/** Gives back lines for which nothing was sent, unless they have been leased again since. */
export async function giveBack(
  trx: Transaction<Tables>,
  lines: readonly RunLine[],
  nowMs: number,
): Promise<void> {
  for (const some of chunks(lines)) {
    const held = rowsAs(
      "held",
      "run_lines",
      some.map(({ runId, payableId, leaseEpoch }) => ({ runId, payableId, leaseEpoch })),
    );
    await sql`update run_lines
      set state = 'planned', ${assigned(NO_LEASE)}, updated_at_ms = ${nowMs}
      from ${held}
      where run_lines.run_id = held.run_id and run_lines.payable_id = held.payable_id
        and run_lines.lease_epoch = held.lease_epoch
        and run_lines.state = 'paying'`.execute(trx);
  }
}

/** A line whose payment was answered with success, as it is to be recorded. */
export type PaidLine = Pick<RunLine, "runId" | "payableId" | "state" | "paymentIds">;

/**
 * Records the payments of lines of one run and ends their leases, many in one statement. A payment
 * counts even if another lane has leased the line since. Nothing is recorded of a line whose payments
 * are followed: it moves as they do, and a late record must not set it back. Nor is anything that is
 * recorded already: that payment may have failed since, and the bill been paid again.
 *
 * @param times `pollAtMs`: business-clock instant of the next read of their payments
 */
export async function recordPaidLines(
  trx: Transaction<Tables>,
  lines: readonly PaidLine[],
  times: { readonly pollAtMs: number; readonly nowMs: number },
): Promise<void> {
  for (const some of chunks(lines)) {
    const paid = some.map((line) => ({
      ...line,
      newest: JSON.stringify(line.paymentIds.at(-1) ?? ""),
    }));
    await sql`
      update run_lines set
        state = paid.state, reason_code = null, reason = null,
        payment_ids = paid.payment_ids, poll_at_ms = ${times.pollAtMs},
        ${assigned({ ...NO_BACK_OFF, ...NO_LEASE })}, updated_at_ms = ${times.nowMs}
      from ${rowsAs("paid", "run_lines", paid)}
      where run_lines.run_id = paid.run_id and run_lines.payable_id = paid.payable_id
        and ${isIn("run_lines.state", LINE.unfollowed)}
        and replace(run_lines.payment_ids, paid.newest, '') = run_lines.payment_ids`.execute(trx);
  }
}

/**
 * Leases one line as it was read; undefined if another process has leased it since, or still does.
 */
export async function leaseLine(
  trx: Transaction<Tables>,
  line: RunLine,
  { by, leaseMs }: Pick<LeaseRequest, "by" | "leaseMs">,
): Promise<RunLine | undefined> {
  const nowMs = await databaseNowMs(trx);
  const leaseEpoch = line.leaseEpoch + 1;
  const result = await trx
    .updateTable("run_lines")
    .set({ lease_epoch: leaseEpoch, lease_owner: by, lease_until_ms: nowMs + leaseMs })
    .where("run_id", "=", line.runId)
    .where("payable_id", "=", line.payableId)
    .where("lease_epoch", "=", line.leaseEpoch)
    .where(isFreeAt(nowMs))
    .executeTakeFirst();
  return result.numUpdatedRows === 0n ? undefined : { ...line, leaseEpoch };
}
