import { approvalGiven } from "../../domain/facts/decisions.ts";
import { record } from "../facts/record.ts";
import { recordMoves } from "../facts/record-moves.ts";
import type { LineReason } from "../../contracts/reason-codes.ts";
import { LINE } from "../../contracts/line-states.ts";
import { nextAfterLeavingOut } from "../../domain/approvals/share-texts.ts";
import { randomUUID } from "node:crypto";
import { sql, type Transaction } from "kysely";
import { releaseEndedClaims } from "../payables/claims.ts";
import { asColumns, type RecordOf } from "../sql/as-record.ts";
import { chunks, type Db } from "../sql/db.ts";
import { findAll, findOne } from "../sql/records.ts";
import { idsIn } from "../sql/rows-as.ts";
import { rowMayStillPay } from "../payables/open-subjects.ts";
import type { Tables } from "../schema/tables.ts";

export type Decision = RecordOf<"decisions">;

export interface NewDecision extends Omit<Decision, "decisionId" | "alone" | "bankChanges"> {
  /** How changed bank accounts were verified; empty by default. */
  readonly bankChanges?: Decision["bankChanges"];
  /**
   * True if it counts only because the business says that one person is enough; false by default.
   */
  readonly alone?: boolean;
  /** Lines that the decision counts for, as judged; ignored unless an approval was accepted. */
  readonly approves: readonly {
    readonly payableId: string;
    readonly lineHash: string;
    /** Stage that it counts in; by default the first. */
    readonly stage?: number;
    /** True if only an escalation let the approver decide. */
    readonly escalated?: boolean;
  }[];
  /** True if its lines need one more person because it was hurried; false by default. */
  readonly hurried?: boolean;
}

export interface RecordedDecision {
  readonly decisionId: string;
  /** Lines that are left out now; those that a request may still pay are not among them. */
  readonly dropped: readonly string[];
}

/**
 * Stores a decision as it was judged, and what follows from an accepted approval: its lines'
 * approvals, and the lines that it leaves out.
 *
 * Approving the same lines again is not a second approval; it renews the expiry.
 */
export async function recordDecision(
  trx: Transaction<Tables>,
  decision: NewDecision,
): Promise<RecordedDecision> {
  const { approves, alone = false, bankChanges = [], hurried = false, ...judged } = decision;
  const decisionId = `dec_${randomUUID()}`;
  await trx
    .insertInto("decisions")
    .values(asColumns({ ...judged, alone, bankChanges, decisionId }))
    .execute();
  if (decision.outcome !== "accepted" || decision.decision !== "approve") {
    return { decisionId, dropped: [] };
  }
  const { runId, principal, expiresAtMs } = decision;
  const leftOut = new Set(decision.dropped);
  const approved = approves.filter((line) => !leftOut.has(line.payableId));
  for (const lines of chunks(approved)) {
    await trx
      .insertInto("line_approvals")
      .values(
        lines.map(({ payableId, lineHash, stage = 0, escalated = false }) =>
          asColumns({
            runId,
            payableId,
            lineHash,
            principal,
            decisionId,
            expiresAtMs,
            stage,
            escalated,
            hurried,
          }),
        ),
      )
      .onConflict((conflict) =>
        conflict.columns(["run_id", "payable_id", "line_hash", "principal"]).doUpdateSet((eb) => ({
          decision_id: eb.ref("excluded.decision_id"),
          expires_at_ms: eb.ref("excluded.expires_at_ms"),
          stage: eb.ref("excluded.stage"),
          escalated: eb.ref("excluded.escalated"),
          // Giving it again later doesn't replace the other person.
          hurried: sql<number>`case when line_approvals.hurried = 1 then 1
            else excluded.hurried end`,
        })),
      )
      .execute();
  }
  await noteApprovals(trx, decision, decisionId, approved);
  const dropped = await dropLines(trx, decision, decisionId);
  if (dropped.length > 0) await releaseEndedClaims(trx, decision.runId);
  return { decisionId, dropped };
}

/**
 * Adds to the trail which lines an approval counts for, and how many each stage of their rules
 * needs: the gate lets no line go for an approval that the trail doesn't have. A deposit's approval
 * is in the entry of its decision.
 */
async function noteApprovals(
  trx: Transaction<Tables>,
  { runId, principal, expiresAtMs, decidedAtMs, hurried = false }: NewDecision,
  decisionId: string,
  approved: NewDecision["approves"],
): Promise<void> {
  const staged = await findAll(trx, "approval_stages", { runId }, ["rule_index", "stage"]);
  const given = new Map(approved.map((line) => [line.payableId, line]));
  for (const ids of chunks([...given.keys()])) {
    const rows = await trx
      .selectFrom("run_lines")
      .select(["business_id", "payable_id", "line_no", "quorum", "rule_index"])
      .where("run_id", "=", runId)
      .where("payable_id", "in", idsIn(ids))
      .orderBy("line_no")
      .execute();
    const alike = Map.groupBy(rows, ({ payable_id: payableId, quorum, rule_index: ruleIndex }) => {
      const { stage = 0, escalated = false } = given.get(payableId) ?? {};
      const stages = staged.filter((each) => each.ruleIndex === ruleIndex);
      const quorums = stages.length === 0 ? [quorum] : stages.map((each) => each.quorum);
      const about = { runId, decisionId, expiresAtMs, quorums, stage, escalated, hurried };
      return JSON.stringify(about);
    });
    for (const [details, lines] of alike) {
      const head = { businessId: lines[0]?.business_id ?? "", nowMs: decidedAtMs, by: principal };
      const same = JSON.parse(details) as Parameters<typeof approvalGiven.ofLines>[1];
      const of = lines.map(({ payable_id: payableId, line_no: lineNo }) => ({
        payableId,
        lineNo,
        details: { lineHash: given.get(payableId)?.lineHash },
      }));
      await record(trx, approvalGiven.ofLines(head, same, { runId, lines: of }));
    }
  }
}

/**
 * Leaves out lines, except those that a request may still pay. Those that were sent keep their
 * state, and are not sent again.
 */
async function dropLines(
  trx: Transaction<Tables>,
  decision: NewDecision,
  decisionId: string,
): Promise<string[]> {
  const dropped: string[] = [];
  for (const ids of chunks(decision.dropped)) {
    const rows = await trx
      .updateTable("run_lines")
      .set({
        state: "cancelled",
        reason_code: "dropped" satisfies LineReason,
        reason: droppedText(decision),
        dropped_by: decision.principal,
        updated_at_ms: decision.decidedAtMs,
      })
      .where("run_id", "=", decision.runId)
      .where("payable_id", "in", ids)
      .where("state", "in", LINE.decidable)
      .where((eb) => eb.not(rowMayStillPay("run_lines")))
      .returning(["payable_id", "line_no", "business_id"])
      .execute();
    dropped.push(...rows.map((row) => row.payable_id));
    const { runId, decidedAtMs: nowMs, principal } = decision;
    const run = { runId, nowMs, businessId: rows[0]?.business_id ?? "" };
    const why = { reasonCode: "dropped", decisionId };
    await recordMoves(trx, run, "cancelled", rows, why, principal);
    const sent = await trx
      .updateTable("run_lines")
      .set({ dropped_by: decision.principal, updated_at_ms: decision.decidedAtMs })
      .where("run_id", "=", decision.runId)
      .where("payable_id", "in", ids)
      .where("state", "in", LINE.stoppable)
      .where("dropped_by", "is", null)
      .where((eb) => eb.not(rowMayStillPay("run_lines")))
      .returning("payable_id")
      .execute();
    dropped.push(...sent.map((row) => row.payable_id));
  }
  return dropped;
}

/** Returns who left it out, why, as far as they said, and what that means for the next run. */
function droppedText({ principal, comment }: NewDecision): string {
  const why = comment === null ? "" : `: ${comment.replace(/\.$/, "")}`;
  return `Left out by ${principal}${why}. ${nextAfterLeavingOut("it", "BILL")}`;
}

/** True once someone who may has rejected the run: nothing more of it is leased. */
export async function isRejected(db: Db, runId: string): Promise<boolean> {
  return (await rejectionOf(db, runId)) !== undefined;
}

/** Returns the decision that rejected a run, with who and why; undefined if there is none. */
export async function rejectionOf(db: Db, runId: string): Promise<Decision | undefined> {
  const rejected = { runId, decision: "reject", outcome: "accepted" } as const;
  const [first] = await findAll(db, "decisions", rejected, ["decided_at_ms", "decision_id"]);
  return first;
}

/** True if bills of a run have been approved. */
export async function hasApproval(db: Db, runId: string): Promise<boolean> {
  const approved = { runId, decision: "approve", outcome: "accepted" } as const;
  return (await findOne(db, "decisions", approved)) !== undefined;
}

/**
 * Returns the decisions on a run, first to last; only those of one token or signature if it is
 * given.
 */
export function decisionsOfRun(db: Db, runId: string, tokenId?: string): Promise<Decision[]> {
  const having = tokenId === undefined ? { runId } : { runId, tokenId };
  return findAll(db, "decisions", having, ["decided_at_ms", "decision_id"]);
}
