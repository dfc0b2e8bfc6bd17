import { sql, type Transaction } from "kysely";
import type { PayLimits } from "../contracts/playbook.ts";
import type { LineState, PlanLine } from "../contracts/pay-run.ts";
import { holdOn } from "../domain/holds.ts";
import { holdsOnLines } from "../store/holds/holds.ts";
import { isApproved } from "../store/approvals/line-approvals.ts";
import { type RunLine, toRunLine } from "../store/lines/lines.ts";
import { getRun } from "../store/runs/runs.ts";
import type { Tables } from "../store/schema/tables.ts";
import { chunks } from "../store/sql/db.ts";
import { idsIn } from "../store/sql/rows-as.ts";
import { type WeighedLine, WeekSums } from "../store/lines/week-sums.ts";
import { type Closed, closedFor, type GateRequest } from "./gate.ts";
import type { Wish } from "./facts.ts";
import { runStopped } from "./run-stopped.ts";

/** The workflow that wants lines of one run paid. */
export interface PayCaller {
  /** Workflow id that owns the claims: the run, or a retry. */
  readonly owner: string;
  readonly businessId: string;
  readonly runId: string;
  readonly playbook: string;
  readonly limits: PayLimits;
  /** The planned lines, by payable. */
  readonly plans: ReadonlyMap<string, PlanLine>;
  /** True if a person has accepted the ACH debit authorization. */
  readonly mayDebit: boolean;
}

/** States in which a claim's owner may pay the line. */
const OF_RUN: readonly LineState[] = ["paying"];
const OF_RETRY: readonly LineState[] = ["retrying", "parked"];

/**
 * Checks everything that must hold before lines are paid (rule 3), as this transaction reads it:
 * the line and its version, the run, the claim, holds, a quorum's approval of exactly this line,
 * the debit authorization, and the limits over all committed payments.
 */
export async function mayPay(
  trx: Transaction<Tables>,
  caller: PayCaller,
  requests: readonly (GateRequest & { readonly wish: Wish })[],
  businessMs: number,
): Promise<Map<string, Closed>> {
  const { owner, businessId, runId } = caller;
  const closed = new Map<string, Closed>();
  const ids = requests.map(({ subject }) => subject);
  const stopped = await runStopped(trx, await getRun(trx, runId), owner === runId);
  const lines = await linesAtGate(trx, runId, ids, businessMs);
  const holds = await holdsOnLines(trx, { businessId, payableIds: ids, businessMs });
  const weeks = new WeekSums(trx, { limits: caller.limits, businessMs });
  const states = owner === runId ? OF_RUN : OF_RETRY;
  for (const { subject, wish } of requests) {
    const line = lines.get(subject);
    const plan = caller.plans.get(subject);
    const isMoved =
      line === undefined ||
      plan === undefined ||
      !states.includes(line.state) ||
      line.lineHash !== wish.approvedHash ||
      line.amountCents !== wish.amountCents;
    if (isMoved) {
      closed.set(subject, { code: "moved", reason: "another process has changed the line" });
      continue;
    }
    const refusal =
      stopped ??
      (line.claimedBy === owner
        ? null
        : closedFor("not-claimed", "the payable belongs to another workflow")) ??
      onHold(holdOn(holds, { ...line, playbook: caller.playbook })) ??
      (line.approved
        ? null
        : closedFor("not-approved", "no valid approval of this line is stored")) ??
      (plan.funding.needsAchAuthorization && !caller.mayDebit
        ? closedFor("no-authorization", "no person has accepted the ACH debit authorization")
        : null) ??
      (await overLimit(weeks, line, plan, wish));
    if (refusal !== null) closed.set(subject, refusal);
  }
  return closed;
}

/** The facts that the gate checks of a line. */
interface LineAtGate extends WeighedLine, Pick<RunLine, "sourceId" | "state" | "lineHash"> {
  /** True if the quorum's approval of exactly this line is valid. */
  readonly approved: boolean;
  /** Workflow id that owns its payable's claim. */
  readonly claimedBy: string | null;
}

/** Reads these lines of a run as they are now, by payable. */
async function linesAtGate(
  trx: Transaction<Tables>,
  runId: string,
  payableIds: readonly string[],
  businessMs: number,
): Promise<Map<string, LineAtGate>> {
  const lines = new Map<string, LineAtGate>();
  for (const ids of chunks(payableIds)) {
    const rows = await trx
      .selectFrom("run_lines")
      .leftJoin("claims", (join) =>
        join
          .onRef("claims.business_id", "=", "run_lines.business_id")
          .onRef("claims.payable_id", "=", "run_lines.payable_id"),
      )
      .select(COLUMNS_AT_GATE)
      .select("claims.owner as claimed_by")
      .select(sql<number>`case when ${isApproved(businessMs)} then 1 else 0 end`.as("approved"))
      .where("run_lines.run_id", "=", runId)
      .where("run_lines.payable_id", "in", idsIn(ids))
      .execute();
    for (const { approved, claimed_by: claimedBy, ...row } of rows) {
      const line = { ...toRunLine(row), approved: approved === 1, claimedBy };
      lines.set(line.payableId, line);
    }
  }
  return lines;
}

const COLUMNS_AT_GATE = [
  ...(["run_lines.run_id", "run_lines.business_id", "run_lines.payable_id"] as const),
  ...(["run_lines.contact_id", "run_lines.source_id", "run_lines.amount_cents"] as const),
  ...(["run_lines.execution_date", "run_lines.state", "run_lines.line_hash"] as const),
] as const;

async function overLimit(
  weeks: WeekSums,
  line: LineAtGate,
  plan: PlanLine,
  { executionDate }: Wish,
): Promise<Closed | null> {
  const refusal = plan.overLimit ?? (await weeks.refusal({ ...line, executionDate }));
  return refusal === null
    ? null
    : { code: "over-limit", reason: refusal.text, limitCode: refusal.code };
}

function onHold(hold: { readonly reason: string } | undefined): Closed | null {
  return hold === undefined ? null : closedFor("on-hold", hold.reason);
}
