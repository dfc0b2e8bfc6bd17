import {
  type Expression,
  type ExpressionBuilder,
  sql,
  type SqlBool,
  type Transaction,
} from "kysely";
import { LINE, type LineState } from "../../contracts/line-states.ts";
import type { PayRunPlaybook } from "../../contracts/playbook.ts";
import { CHANGED_RECORD, rolesAskedOf } from "../../domain/approvals/changed-records.ts";
import type { AlarmCode } from "../../domain/payments/alarms.ts";
import type { Tables } from "../schema/tables.ts";
import { asColumns, type RecordOf } from "../sql/as-record.ts";
import { CENTS, COUNT, chunks, type Db } from "../sql/db.ts";
import { idsIn, rowsAs } from "../sql/rows-as.ts";
import { ESCALATED_STAGE, type RunLine, toRunLine } from "./lines.ts";

/** States of lines for which it matters whether their vendor's account is still right. */
const ASKED = [...LINE.waiting, ...LINE.recordWatched];

/** What people are asked, and by which rule. */
interface Question {
  readonly contactId: string;
  /** The record, as `recordKey` writes it. */
  readonly record: string;
  readonly ruleIndex: number;
  /** The escalated stage, from 0; null if none was. */
  readonly escalated: number | null;
}

/** Bills of one rule about whose vendor's changed record people are asked. */
export interface AskedRecord extends Question {
  /** What the bills' lines say about it. */
  readonly reason: string | null;
  readonly count: number;
  readonly cents: number;
}

/** Returns what a person with these roles may answer. */
export function answerableBy<Asked extends Question>(
  { approve }: PayRunPlaybook,
  asked: readonly Asked[],
  roles: readonly string[],
): Asked[] {
  return asked.filter(({ ruleIndex, escalated }) =>
    rolesAskedOf(approve[ruleIndex], escalated).some((role) => roles.includes(role)),
  );
}

const ESCALATED = ESCALATED_STAGE.as("escalated_stage");

function questionOf(row: {
  readonly contact_id: string;
  readonly record_asked: string | null;
  readonly rule_index: number;
  readonly escalated_stage: number | null;
}): Question {
  return {
    contactId: row.contact_id,
    record: row.record_asked ?? "",
    ruleIndex: row.rule_index,
    escalated: row.escalated_stage,
  };
}

/** True for a line about whose vendor's record people are asked. */
function asksRecord(eb: ExpressionBuilder<Tables, "run_lines">): Expression<SqlBool> {
  return eb.and([eb("run_lines.record_asked", "is not", null), eb("run_lines.state", "in", ASKED)]);
}

/** Returns what people are asked in a run about vendors' changed records. */
export async function askedRecords(db: Db, runId: string): Promise<AskedRecord[]> {
  const rows = await db
    .selectFrom("run_lines")
    .select(["contact_id", "record_asked", "rule_index", ESCALATED, COUNT, CENTS])
    .select((eb) => eb.fn.min("reason").as("reason"))
    .where("run_id", "=", runId)
    .where(asksRecord)
    .groupBy(["contact_id", "record_asked", "rule_index", "escalated_stage"])
    .orderBy("contact_id")
    .execute();
  return rows.map((row) => ({
    ...questionOf(row),
    reason: row.reason,
    count: Number(row.count),
    cents: Number(row.cents),
  }));
}

/** Returns the lines of a business about whose vendor's record, one of these, people were asked. */
export async function linesAskingAbout(
  db: Db,
  businessId: string,
  records: readonly Pick<AskedRecord, "contactId" | "record">[],
): Promise<(Question & { readonly runId: string; readonly payableId: string })[]> {
  const lines = [];
  for (const some of chunks(records)) {
    const rows = await db
      .selectFrom("run_lines")
      .select(["run_id", "payable_id", "contact_id", "record_asked", "rule_index", ESCALATED])
      .where("business_id", "=", businessId)
      .where("record_asked_at_ms", "is not", null)
      .where(areAmong(some))
      .execute();
    lines.push(...rows);
  }
  return lines.map((row) => ({
    runId: row.run_id,
    payableId: row.payable_id,
    ...questionOf(row),
  }));
}

/**
 * Ends the question for lines of a run. A line for which it doesn't matter now, such as a parked
 * one, doesn't ask again once it is retried.
 *
 * @returns the lines for which it matters now
 */
export async function endAsking(
  trx: Transaction<Tables>,
  runId: string,
  payableIds: readonly string[],
  nowMs: number,
): Promise<{ readonly payableId: string; readonly state: LineState; readonly cents: number }[]> {
  const ended = [];
  for (const some of chunks(payableIds)) {
    const rows = await trx
      .updateTable("run_lines")
      .set({
        record_asked: null,
        record_asked_at_ms: null,
        not_before_ms: 0,
        // A hold on the line, or an alarm about it, goes on.
        reason: sql`case when reason_code = ${CHANGED_RECORD} then null else reason end`,
        reason_code: sql`nullif(reason_code, ${CHANGED_RECORD})`,
        updated_at_ms: nowMs,
      })
      .where("run_id", "=", runId)
      .where("record_asked", "is not", null)
      .where("payable_id", "in", idsIn(some))
      .returning(["payable_id", "state", "amount_cents"])
      .execute();
    ended.push(...rows);
  }
  return ended
    .map((row) => ({
      payableId: row.payable_id,
      state: row.state as LineState,
      cents: row.amount_cents,
    }))
    .filter(({ state }) => ASKED.includes(state));
}

function areAmong(records: readonly Pick<AskedRecord, "contactId" | "record">[]) {
  const named = records.map(({ contactId, record }) => ({ contactId, recordAsked: record }));
  return sql<SqlBool>`exists (select 1 from ${rowsAs("named", "run_lines", named)}
    where named.contact_id = run_lines.contact_id
      and named.record_asked = run_lines.record_asked)`;
}

const CANCELLED_FOR_RECORD: AlarmCode = "record_changed_after_approval";

/** A line about whose vendor's record people are asked, for a notice. */
export type AskedLine = Pick<
  RunLine,
  | "runId"
  | "payableId"
  | "contactId"
  | "state"
  | "amountCents"
  | "executionDate"
  | "paymentIds"
  | "attempts"
  | "ruleIndex"
  | "stage"
  | "escalated"
  | "reasonCode"
  | "reason"
> & { readonly recordAsked: string; readonly recordAskedAtMs: number };

/**
 * Returns the lines of a business about whose vendors' records people are asked, oldest first; also
 * those whose payment was cancelled, if their records were found changed since then.
 */
export async function askedLines(
  db: Db,
  businessId: string,
  cancelledSinceMs: number,
): Promise<AskedLine[]> {
  const rows = await db
    .selectFrom("run_lines")
    .select(["run_id", "payable_id", "contact_id", "state", "amount_cents", "execution_date"])
    .select(["payment_ids", "attempts", "rule_index", "reason_code", "reason"])
    .select(["stage", "escalated", "record_asked", "record_asked_at_ms"])
    .where("business_id", "=", businessId)
    .where("record_asked_at_ms", "is not", null)
    .where((eb) =>
      eb.or([
        asksRecord(eb),
        eb.and([
          eb("state", "in", LINE.calledBack),
          eb("reason_code", "=", CANCELLED_FOR_RECORD),
          eb("record_asked_at_ms", ">", Math.floor(cancelledSinceMs)),
        ]),
      ]),
    )
    .orderBy("record_asked_at_ms")
    .execute();
  return rows.map((row) => {
    const { recordAsked, recordAskedAtMs, ...line } = toRunLine(row);
    return { ...line, recordAsked: recordAsked ?? "", recordAskedAtMs: recordAskedAtMs ?? 0 };
  });
}

/**
 * Returns the vendors of a run's lines whose records somebody has confirmed since its launch, in
 * whatever run.
 */
export async function vendorsConfirmedFor(
  db: Db,
  {
    runId,
    businessId,
    launchedAtMs,
  }: { readonly runId: string; readonly businessId: string; readonly launchedAtMs: number },
): Promise<string[]> {
  const rows = await db
    .selectFrom("confirmed_records")
    .select("contact_id")
    .distinct()
    .where("business_id", "=", businessId)
    .where("decided_at_ms", ">=", Math.floor(launchedAtMs))
    .where((eb) =>
      eb.exists(
        eb
          .selectFrom("run_lines")
          .select("run_lines.payable_id")
          .whereRef("run_lines.business_id", "=", "confirmed_records.business_id")
          .whereRef("run_lines.contact_id", "=", "confirmed_records.contact_id")
          .where("run_lines.run_id", "=", runId),
      ),
    )
    .orderBy("contact_id")
    .execute();
  return rows.map((row) => row.contact_id);
}

/** Stores a person's answer about these records of vendors. */
export async function keepAnswer(
  trx: Transaction<Tables>,
  answer: Omit<RecordOf<"confirmed_records">, "contactId" | "record">,
  records: readonly Pick<AskedRecord, "contactId" | "record">[],
): Promise<void> {
  for (const some of chunks(records)) {
    await trx
      .insertInto("confirmed_records")
      .values(some.map(({ contactId, record }) => asColumns({ ...answer, contactId, record })))
      .execute();
  }
}
