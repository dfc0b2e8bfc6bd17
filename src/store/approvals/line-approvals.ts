import { type RawBuilder, sql } from "kysely";
import type { Instant } from "../sql/clocks.ts";
import type { StageApproval } from "../../domain/approvals/stages.ts";
import { readerOf } from "../sql/as-record.ts";
import { chunks, type Db } from "../sql/db.ts";
import { idsIn } from "../sql/rows-as.ts";

interface ApprovableLine {
  readonly runId: string;
  readonly payableId: string;
  readonly lineHash: string;
}

/**
 * Counts the people who have given a valid approval of exactly the line of `run_lines`; in one
 * stage only, if it is given. Where an approval was hurried, one of them doesn't count, so that
 * another person is needed.
 */
function approvers(businessMs: Instant, stage?: RawBuilder<unknown>): RawBuilder<number> {
  const counted = sql`count(distinct approval.principal) - coalesce(max(approval.hurried), 0)`;
  return ofApprovals(counted, businessMs, stage);
}

function ofApprovals(
  found: RawBuilder<unknown>,
  businessMs: Instant,
  stage?: RawBuilder<unknown>,
): RawBuilder<number> {
  const ofStage = stage === undefined ? sql`` : sql`and approval.stage = ${stage}`;
  return sql<number>`(select ${found} from line_approvals approval
    where approval.run_id = run_lines.run_id
      and approval.payable_id = run_lines.payable_id
      and approval.line_hash = run_lines.line_hash
      and approval.expires_at_ms > ${businessMs} ${ofStage})`;
}

/**
 * Selects the stages of the line's rule whose quorum is not reached; a rule of one stage has none.
 */
function unmetStages(businessMs: Instant): RawBuilder<unknown> {
  return sql`from approval_stages rule_stage
    where rule_stage.run_id = run_lines.run_id
      and rule_stage.rule_index = run_lines.rule_index
      and rule_stage.quorum > ${approvers(businessMs, sql`rule_stage.stage`)}`;
}

/**
 * True if a line of `run_lines` may be paid: each stage of its rule has its quorum of different
 * people, whose approval of exactly this line has not expired.
 *
 * Everything that needs to know whether a line is approved uses this.
 *
 * @param businessMs business-clock instant that expiries are compared with
 */
export function isApproved(businessMs: Instant): RawBuilder<boolean> {
  // Whatever a rule says, no line is payable without one approval.
  return sql<boolean>`(${approvers(businessMs)} >=
      case when run_lines.quorum < 1 then 1 else run_lines.quorum end
    and not exists (select 1 ${unmetStages(businessMs)}))`;
}

/** Counts the people who have approved a line of `run_lines` in the stage whose turn it is. */
export function givenOf(businessMs: number): RawBuilder<number> {
  return ofApprovals(sql`count(distinct approval.principal)`, businessMs, openStage(businessMs));
}

/** 1 if the stage of a line of `run_lines` whose turn it is needs one more person; 0 if not. */
export function hurriedOf(businessMs: number): RawBuilder<number> {
  return ofApprovals(sql`coalesce(max(approval.hurried), 0)`, businessMs, openStage(businessMs));
}

/** Returns the stage of a line of `run_lines` whose turn it is, from 0. */
export function openStage(businessMs: number): RawBuilder<number> {
  return sql<number>`coalesce((select min(rule_stage.stage) ${unmetStages(businessMs)}), 0)`;
}

/**
 * Returns the payables of these lines of one run, as far as exactly this version of the line is
 * approved.
 */
export async function approvedLines(
  db: Db,
  lines: readonly ApprovableLine[],
  businessMs: number,
): Promise<Set<string>> {
  const approved = new Map<string, string>();
  for (const some of chunks(lines)) {
    const [first] = some;
    if (first === undefined) continue;
    const rows = await db
      .selectFrom("run_lines")
      .select(["payable_id", "line_hash"])
      .where("run_id", "=", first.runId)
      // Named one by one: given as one value, PostgreSQL would count the approvals of all lines
      // first.
      .where(
        "payable_id",
        "in",
        some.map((line) => line.payableId),
      )
      .where(isApproved(businessMs))
      .execute();
    for (const row of rows) approved.set(row.payable_id, row.line_hash);
  }
  const isStill = ({ payableId, lineHash }: ApprovableLine): boolean =>
    approved.get(payableId) === lineHash;
  return new Set(lines.filter(isStill).map((line) => line.payableId));
}

/** True if exactly this line is approved now. */
export async function lineApproved(
  db: Db,
  line: ApprovableLine,
  businessMs: number,
): Promise<boolean> {
  return (await approvedLines(db, [line], businessMs)).has(line.payableId);
}

/** An approval of a line, as it is shown. */
export interface LineApproval extends Required<StageApproval> {
  /** True if only an escalation let the approver decide. */
  readonly escalated: boolean;
}

/**
 * Returns who has approved each of these lines as it stands now, by payable id. Approvals of an
 * earlier version of a line don't count, nor do expired ones.
 */
export async function approvalsOf(
  db: Db,
  runId: string,
  payableIds: readonly string[],
  businessMs: number,
): Promise<Map<string, LineApproval[]>> {
  const approvals = new Map<string, LineApproval[]>();
  for (const ids of chunks(payableIds)) {
    const rows = await db
      .selectFrom("line_approvals")
      .innerJoin("run_lines", (join) =>
        join
          .onRef("run_lines.run_id", "=", "line_approvals.run_id")
          .onRef("run_lines.payable_id", "=", "line_approvals.payable_id")
          .onRef("run_lines.line_hash", "=", "line_approvals.line_hash"),
      )
      .select([
        "line_approvals.payable_id",
        "line_approvals.principal",
        "line_approvals.stage",
        "line_approvals.escalated",
        "line_approvals.hurried",
      ])
      .where("line_approvals.run_id", "=", runId)
      .where("line_approvals.payable_id", "in", idsIn(ids))
      .where("line_approvals.expires_at_ms", ">", businessMs)
      .orderBy("line_approvals.principal")
      .execute();
    for (const { payableId, ...approval } of rows.map(readerOf("line_approvals"))) {
      const known = approvals.get(payableId);
      if (known === undefined) approvals.set(payableId, [approval]);
      else known.push(approval);
    }
  }
  return approvals;
}

/** Returns the payables of a run that one decision has approved. */
export async function approvedBy(
  db: Db,
  { runId, decisionId }: { readonly runId: string; readonly decisionId: string },
): Promise<string[]> {
  const rows = await db
    .selectFrom("line_approvals")
    .select("payable_id")
    .where("run_id", "=", runId)
    .where("decision_id", "=", decisionId)
    .orderBy("payable_id")
    .execute();
  return rows.map((row) => row.payable_id);
}
