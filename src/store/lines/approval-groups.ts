import {
  type Expression,
  type ExpressionBuilder,
  expressionBuilder,
  type SqlBool,
  sql,
} from "kysely";
import { LINE, type LineState } from "../../contracts/line-states.ts";
import type { LineUnderApproval } from "../../domain/approvals/share.ts";
import { escalatedStage } from "../../domain/approvals/stages.ts";
import { newYorkDate } from "../../domain/clock/new-york.ts";
import type { BillSum } from "../../domain/counted.ts";
import { lacksApproval } from "../approvals/approval-waits.ts";
import { approvalsOf, type LineApproval } from "../approvals/line-approvals.ts";
import type { HoldScopeName } from "../../domain/holds.ts";
import type { Hold } from "../holds/holds.ts";
import type { Tables } from "../schema/tables.ts";
import { CENTS, COUNT, type Db } from "../sql/db.ts";
import { idsIn, rowsAs } from "../sql/rows-as.ts";
import { SCOPES_WITHIN_RUN } from "./open-lines.ts";
import { getPlanLines, type PlannedLine } from "./plan-lines.ts";
import { isPaidAgain } from "./reserved.ts";

/** A line as it stands, with what decides its approval. */
export interface LineAsApproved {
  readonly planned: PlannedLine;
  readonly approvals: readonly LineApproval[];
  readonly under: LineUnderApproval;
}

/**
 * Lines of a run that agree in everything that decides their approval: state, account, rule, who
 * has approved them, holds on them, a changed bank account of their vendor, whether their day has
 * passed, whether their money is gone. What is true of the first of them in plan order is true of
 * all.
 */
export interface LineGroup extends LineAsApproved {
  readonly bills: BillSum;
  /** Their earliest execution date. */
  readonly firstDate: string;
  /** True if they failed, and the money of their new payments has left their account. */
  readonly isPaidAgain: boolean;
}

interface Grouping {
  readonly states: readonly LineState[];
  /** Business-clock instant that expiries are compared with. */
  readonly businessMs: number;
  /** The holds in force for the run's business. */
  readonly holds: readonly Hold[];
  /** Lines with an execution date before this one get groups of their own. */
  readonly earliest?: string | undefined;
  /** Payables that get groups of their own. */
  readonly apart?: readonly string[];
  /** Payables that get groups of their own, by vendor. */
  readonly apartByVendor?: readonly string[];
  /** Payables that each get a group to themselves. */
  readonly alone?: readonly string[];
}

/**
 * Returns a grouping in which a change to a bill, or to its vendor, concerns a whole group or
 * nothing of it.
 */
export function apartBy(
  others: ReadonlyMap<string, { readonly payableId: string | null }>,
): Pick<Grouping, "apartByVendor" | "alone"> {
  const each = [...others];
  return {
    apartByVendor: each.flatMap(([id, other]) => (other.payableId === null ? [id] : [])),
    alone: each.flatMap(([id, other]) => (other.payableId === null ? [] : [id])),
  };
}

/** Columns in which the lines of a group are alike. */
const ALIKE = [
  ...(["state", "source_id", "rule_index", "quorum", "flagged", "record_changed"] as const),
  "over_limit" as const,
];

/**
 * Returns a run's lines in groups that the database makes: only a few rows are read, however many
 * lines there are.
 */
export async function approvalGroups(
  db: Db,
  runId: string,
  {
    states,
    businessMs,
    holds,
    earliest = "",
    apart = [],
    apartByVendor = [],
    alone = [],
  }: Grouping,
): Promise<readonly LineGroup[]> {
  const each = db
    .selectFrom("run_lines")
    .select(ALIKE)
    .select(["amount_cents", "execution_date", "line_no"])
    .select((eb) => paidAgain(eb, newYorkDate(businessMs)).as("paid_again"))
    .select([
      sql`case when escalated = 1 then stage end`.as("escalated_stage"),
      sql`case when days_late > 0 then 1 end`.as("late"),
      sql`case when record_asked is not null then 1 end`.as("asks_record"),
      sql`case when execution_date < ${earliest} then 1 end`.as("passed"),
      sql`case when bank_changed = 1 then contact_id end`.as("changed_contact"),
      sql`case when payable_id in ${idsIn(apart)} then 1 end`.as("is_apart"),
      sql`case when payable_id in ${idsIn(apartByVendor)} then contact_id end`.as("apart_vendor"),
      sql`case when payable_id in ${idsIn(alone)} then payable_id end`.as("alone"),
      // In the key's order; the approvals themselves are read for each group's first line.
      sql`(select string_agg(given.stage || ' ' || given.escalated || ' ' || given.hurried
            || ' ' || given.principal, ','
          order by given.principal)
        from line_approvals given
        where given.run_id = run_lines.run_id and given.payable_id = run_lines.payable_id
          and given.line_hash = run_lines.line_hash
          and given.expires_at_ms > ${Math.floor(businessMs)})`.as("given"),
    ])
    .select(thingsHeld(holds))
    .where("run_id", "=", runId)
    .where("state", "in", states)
    .as("each_line");
  const rows = await db
    .selectFrom(each)
    .select(["paid_again", COUNT, CENTS])
    .select((eb) => [
      eb.fn.min("line_no").as("first_no"),
      eb.fn.min("execution_date").as("first_date"),
    ])
    .groupBy(ALIKE)
    .groupBy(["escalated_stage", "late", "asks_record", "changed_contact"])
    .groupBy(SCOPES_WITHIN_RUN.map(({ scope }) => heldBy(scope)))
    .groupBy(["is_apart", "apart_vendor", "alone", "given", "passed", "paid_again"])
    .execute();
  if (rows.length === 0) return [];
  const firsts = rowsAs(
    "firsts",
    "run_lines",
    rows.map((row) => ({ lineNo: Number(row.first_no) })),
  );
  const where = sql<SqlBool>`run_lines.line_no in (select firsts.line_no from ${firsts})`;
  const lines = await linesAsApproved(db, runId, { where }, businessMs);
  const byNo = new Map(lines.map((line) => [line.planned.line.lineNo, line]));
  return rows
    .flatMap((row) => {
      const first = byNo.get(Number(row.first_no));
      const bills = { count: Number(row.count), cents: Number(row.cents) };
      const of = { bills, firstDate: row.first_date, isPaidAgain: row.paid_again !== null };
      return first === undefined ? [] : [{ ...first, ...of }];
    })
    .toSorted((one, other) => one.planned.line.lineNo - other.planned.line.lineNo);
}

/** Returns what holds are on, of a line: its vendor, for example; null in each other column. */
function thingsHeld(holds: readonly Hold[]) {
  return SCOPES_WITHIN_RUN.map(({ scope, column }) => {
    const held = idsIn(holds.flatMap((hold) => (hold.scope === scope ? [hold.value] : [])));
    const thing = sql.ref(column);
    return sql`case when ${thing} in ${held} then ${thing} end`.as(heldBy(scope));
  });
}

/** Returns the column of a grouped line that names what a hold of a scope is on. */
function heldBy(scope: HoldScopeName): `held_${HoldScopeName}` {
  return `held_${scope}`;
}

/** Returns 1 for a failed bill if the money of its new payment has left its account. */
function paidAgain(eb: ExpressionBuilder<Tables, "run_lines">, today: string) {
  const isAgain = eb.and([eb("state", "=", "retrying"), isPaidAgain(eb, today)]);
  return eb.case().when(isAgain).then(sql.lit(1)).end();
}

/**
 * Lines that a person should look at, the largest first; cancelled lines need no look. Lines that
 * only have a changed record come last, since a sync may have changed all of them.
 */
export const FLAGGED = {
  where: sql<SqlBool>`(run_lines.flagged = 1 or run_lines.record_changed = 1)
    and run_lines.state <> 'cancelled'`,
  most: ["flagged", "amount_cents"],
} as const;

/**
 * Open lines that arrive after their due date, the latest first; a line that has ended is no longer
 * late.
 */
export const LATE = {
  where: sql<SqlBool>`run_lines.days_late > 0 and run_lines.state not in (${sql.join(LINE.ended)})`,
  most: ["days_late"],
} as const;

/**
 * Returns conditions for late lines once the day of some waiting lines has passed: `moved` are
 * lines that are paid on another day if they are approved now, and are late because of it; `others`
 * are the other late lines, as before.
 *
 * @param of.earliest the day to which an approval moves them, of.arrival when they arrive then
 */
export function lateOnceMoved(of: {
  readonly earliest: string;
  readonly arrival: string;
  readonly businessMs: number;
}) {
  const eb = expressionBuilder<Tables, "run_lines">();
  const isMoved = eb.and([
    lacksApproval(of.businessMs)(eb),
    eb("run_lines.execution_date", "<", of.earliest),
  ]);
  return {
    moved: eb.and([isMoved, eb("run_lines.due_date", "<", of.arrival)]),
    others: eb.and([eb.not(isMoved), LATE.where]),
  };
}

/** Counts the lines of a run that match. */
export async function countMatching(
  db: Db,
  runId: string,
  where: Expression<SqlBool>,
): Promise<number> {
  const { count } = await db
    .selectFrom("run_lines")
    .select(COUNT)
    .where("run_id", "=", runId)
    .where(where)
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** Returns lines of a run, each with its approvals. */
export async function linesAsApproved(
  db: Db,
  runId: string,
  filter: Parameters<typeof getPlanLines>[2],
  businessMs: number,
): Promise<readonly LineAsApproved[]> {
  const lines = await getPlanLines(db, runId, filter);
  const ids = lines.map(({ line }) => line.payableId);
  const approvals = await approvalsOf(db, runId, ids, Math.floor(businessMs));
  return lines.map((planned) => {
    const { approvers, quorum, stages } = planned.plan;
    const given = approvals.get(planned.line.payableId) ?? [];
    const escalated = escalatedStage(planned.line);
    const asksRecord = planned.line.recordAsked !== null;
    const under = { approvers, quorum, stages, approvals: given, escalated, asksRecord };
    return { planned, approvals: given, under };
  });
}
