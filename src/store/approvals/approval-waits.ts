import { type ExpressionBuilder, sql, type Transaction } from "kysely";
import type { WaitingBills } from "../../domain/approvals/asks.ts";
import { principalOf } from "../../contracts/principal.ts";
import { readerOf } from "../sql/as-record.ts";
import { CENTS, COUNT, type Db } from "../sql/db.ts";
import { changeRecords } from "../sql/records.ts";
import { givenOf, hurriedOf, isApproved, openStage } from "./line-approvals.ts";
import type { Tables } from "../schema/tables.ts";
import type { Instant } from "../sql/clocks.ts";

/** Identifies the bills of a rule in one of its stages. */
export interface StageKey {
  readonly ruleIndex: number;
  /** From 0. */
  readonly stage: number;
}

export interface StageSum extends StageKey {
  readonly count: number;
  readonly cents: number;
}

interface AskedRun {
  readonly runId: string;
  /** Business-clock instant, whole milliseconds. */
  readonly businessMs: number;
}

const toRecord = readerOf("run_lines");

/**
 * True for a line that lacks an approval: one that waits for nothing else, and one that a hold
 * stops as well.
 *
 * @param businessMs business-clock instant that expiries are compared with
 */
export function lacksApproval(businessMs: Instant) {
  return (eb: ExpressionBuilder<Tables, "run_lines">) =>
    eb.or([
      eb("run_lines.state", "=", "awaiting-approval"),
      eb.and([eb("run_lines.state", "=", "on-hold"), eb.not(isApproved(businessMs))]),
    ]);
}

/**
 * Returns the first execution date of a run's bills that wait for an approval and nothing else;
 * null if none does. The dates of bills that a hold stops as well don't change before it is
 * released.
 */
export async function firstDateToDecide(db: Db, runId: string): Promise<string | null> {
  const row = await db
    .selectFrom("run_lines")
    .select((eb) => eb.fn.min("execution_date").as("first"))
    .where("run_id", "=", runId)
    .where("state", "=", "awaiting-approval")
    .executeTakeFirst();
  return row?.first ?? null;
}

/**
 * Sums what waits for approval in a run, by rule and stage, and by how many have approved it. Bills
 * that a hold stops as well have sums of their own.
 *
 * @param unlessBy a person whose own approvals are given: only bills that they have not approved
 */
export async function waitingBills(
  db: Db,
  { runId, businessMs }: AskedRun,
  unlessBy?: string,
): Promise<WaitingBills[]> {
  let lines = db
    .selectFrom("run_lines")
    .select(["rule_index", "escalated", "amount_cents", "stage_since_ms", "stage_real_ms"])
    .select([
      // No stage is opened for a bill on hold.
      sql<number>`case when run_lines.state = 'on-hold' then ${openStage(businessMs)}
        else run_lines.stage end`.as("stage"),
      // No one is reminded of a bill on hold, and it does not escalate.
      sql<number | null>`case when run_lines.state = 'on-hold' then null
        else remind_at_ms end`.as("remind_at_ms"),
      sql<number | null>`case when run_lines.state = 'on-hold' then null
        else escalate_at_ms end`.as("escalate_at_ms"),
      sql<number>`case when run_lines.state = 'on-hold' then 1 else 0 end`.as("held"),
      givenOf(businessMs).as("given"),
      hurriedOf(businessMs).as("hurried"),
      sql<number>`case when run_lines.record_asked is not null and ${isApproved(businessMs)}
        then 1 else 0 end`.as("asks_record"),
    ])
    .where("run_id", "=", runId)
    .where("rule_index", ">=", 0)
    .where(lacksApproval(businessMs));
  if (unlessBy !== undefined) lines = lines.where(mayStillSay(unlessBy, businessMs));
  const rows = await db
    .selectFrom(lines.as("line"))
    .select(["rule_index", "stage", "escalated", "given", "hurried", "held", "asks_record"])
    .select([COUNT, CENTS])
    .select((eb) => [
      eb.fn.min("stage_since_ms").as("since_ms"),
      eb.fn.min("stage_real_ms").as("since_real_ms"),
      eb.fn.min("remind_at_ms").as("remind_at_ms"),
      eb.fn.min("escalate_at_ms").as("escalate_at_ms"),
    ])
    .groupBy(["rule_index", "stage", "escalated", "given", "hurried", "held", "asks_record"])
    .orderBy("held")
    .orderBy("rule_index")
    .orderBy("stage")
    .orderBy("escalated")
    .orderBy("given")
    .orderBy("asks_record")
    .execute();
  return rows.map((row) => {
    const { held, hurried, asksRecord, ...bills } = toRecord(row);
    return {
      ...bills,
      count: Number(bills.count),
      cents: Number(bills.cents),
      given: Number(bills.given),
      isHeld: Number(held) === 1,
      isHurried: Number(hurried) === 1,
      asksRecord: Number(asksRecord) === 1,
    };
  });
}

/** True for a line that this person hasn't approved, or about whose vendor's record people are asked. */
function mayStillSay(name: string, businessMs: number) {
  return (eb: ExpressionBuilder<Tables, "run_lines">) =>
    eb.or([
      eb("run_lines.record_asked", "is not", null),
      eb.not(
        eb.exists(
          eb
            .selectFrom("line_approvals")
            .select("line_approvals.payable_id")
            .whereRef("line_approvals.run_id", "=", "run_lines.run_id")
            .whereRef("line_approvals.payable_id", "=", "run_lines.payable_id")
            .whereRef("line_approvals.line_hash", "=", "run_lines.line_hash")
            .where("line_approvals.principal", "=", principalOf(name))
            .where("line_approvals.expires_at_ms", ">", businessMs),
        ),
      ),
    ]);
}

/**
 * Returns the stages whose turn has come for lines that were in another one, or in none, before.
 */
export async function turnedStages(
  trx: Transaction<Tables>,
  { runId, businessMs }: AskedRun,
): Promise<StageSum[]> {
  const rows = await trx
    .selectFrom((eb) =>
      eb
        .selectFrom("run_lines")
        .select([
          "rule_index",
          "amount_cents",
          "run_lines.stage as was",
          "stage_since_ms",
          openStage(businessMs).as("open"),
        ])
        .where("run_id", "=", runId)
        .where("state", "=", "awaiting-approval")
        .where("rule_index", ">=", 0)
        .as("line"),
    )
    .select(["rule_index", "open as stage", COUNT, CENTS])
    .where((eb) => eb.or([eb("stage_since_ms", "is", null), eb("was", "!=", eb.ref("open"))]))
    .groupBy(["rule_index", "open"])
    .execute();
  return rows.map(toRecord);
}

/** Begins a stage for the lines whose turn it is: its approvers are asked from now on. */
export async function beginStage(
  trx: Transaction<Tables>,
  { runId, businessMs, realMs }: AskedRun & { readonly realMs: number },
  { ruleIndex, stage }: StageKey,
  next: { readonly remindAtMs: number | null; readonly escalateAtMs: number | null },
): Promise<void> {
  await trx
    .updateTable("run_lines")
    .set({
      stage,
      escalated: 0,
      stage_since_ms: businessMs,
      stage_real_ms: realMs,
      remind_at_ms: next.remindAtMs,
      escalate_at_ms: next.escalateAtMs,
    })
    .where("run_id", "=", runId)
    .where("state", "=", "awaiting-approval")
    .where("rule_index", "=", ruleIndex)
    .where((eb) => eb.or([eb("stage_since_ms", "is", null), eb("stage", "!=", stage)]))
    .where(openStage(businessMs), "=", stage)
    .execute();
}

/**
 * Escalates lines that have waited long enough in their stage.
 *
 * @param askedBeforeMs real instant: lines whose stage began later go on waiting
 */
export async function escalateDue(
  trx: Transaction<Tables>,
  { runId, businessMs }: AskedRun,
  askedBeforeMs: number,
): Promise<StageSum[]> {
  const due = (eb: ExpressionBuilder<Tables, "run_lines">) =>
    eb.and([
      eb("run_id", "=", runId),
      eb("state", "=", "awaiting-approval"),
      eb("escalated", "=", 0),
      eb("stage_since_ms", "is not", null),
      eb("escalate_at_ms", "<=", businessMs),
      eb("stage_real_ms", "<=", askedBeforeMs),
    ]);
  const rows = await trx
    .selectFrom("run_lines")
    .select(["rule_index", "stage", COUNT, CENTS])
    .where(due)
    .groupBy(["rule_index", "stage"])
    .execute();
  if (rows.length > 0) {
    await trx.updateTable("run_lines").set({ escalated: 1 }).where(due).execute();
  }
  return rows.map(toRecord);
}

/** Sets when approvers who were reminded now are reminded next. */
export async function postponeReminder(
  trx: Transaction<Tables>,
  runId: string,
  { ruleIndex, stage, escalated }: StageKey & { readonly escalated: boolean },
  remindAtMs: number,
): Promise<void> {
  const asked = { runId, state: "awaiting-approval", ruleIndex, stage, escalated } as const;
  await changeRecords(trx, "run_lines", asked, { remindAtMs });
}
