import { sql, type Transaction } from "kysely";
import type { LineState } from "../contracts/line-states.ts";
import type { PlanLine } from "../contracts/pay-run.ts";
import { isApproved } from "../store/approvals/line-approvals.ts";
import type { WeighedLine } from "../store/lines/committed-sums.ts";
import { ESCALATED_STAGE, type RunLine } from "../store/lines/lines.ts";
import { planIn } from "../store/lines/plan-lines.ts";
import { getRun, type Run } from "../store/runs/runs.ts";
import type { Tables } from "../store/schema/tables.ts";
import { chunks } from "../store/sql/db.ts";
import { idsIn } from "../store/sql/rows-as.ts";

/** What the gate checks of a line, as its transaction reads it. */
export interface LineAtGate
  extends WeighedLine, Pick<RunLine, "sourceId" | "state" | "lineHash" | "lineNo" | "droppedBy"> {
  /** As the store has it, which need not be what the line's hash names. */
  readonly plan: PlanLine;
  /** True if the quorum's approval of exactly this line is valid. */
  readonly approved: boolean;
  /** The escalated stage, from 0; null if none was. */
  readonly escalated: number | null;
  /** Workflow id that owns its payable's claim. */
  readonly claimedBy: string | null;
}

/**
 * Runs and their lines as one transaction reads them, each once for all checks of the gate: they
 * change only under the business's lock, which the gate holds.
 */
export class LinesAtGate {
  readonly #trx: Transaction<Tables>;
  readonly #businessMs: number;
  readonly #runs = new Map<string, Run | undefined>();
  readonly #lines = new Map<string, Map<string, LineAtGate>>();

  constructor(trx: Transaction<Tables>, businessMs: number) {
    this.#trx = trx;
    this.#businessMs = businessMs;
  }

  async run(runId: string): Promise<Run | undefined> {
    if (!this.#runs.has(runId)) this.#runs.set(runId, await getRun(this.#trx, runId));
    return this.#runs.get(runId);
  }

  /** Returns at least these lines of a run, as far as it has them, by payable. */
  async of(runId: string, payableIds: readonly string[]): Promise<ReadonlyMap<string, LineAtGate>> {
    const known = this.#lines.get(runId) ?? new Map<string, LineAtGate>();
    this.#lines.set(runId, known);
    const unread = payableIds.filter((id) => !known.has(id));
    for (const ids of chunks(unread)) {
      for (const line of await this.#read(runId, ids)) known.set(line.payableId, line);
    }
    return known;
  }

  async #read(runId: string, payableIds: readonly string[]): Promise<LineAtGate[]> {
    const rows = await this.#trx
      .selectFrom("run_lines")
      .innerJoin("plan_lines", (join) =>
        join
          .onRef("plan_lines.run_id", "=", "run_lines.run_id")
          .onRef("plan_lines.payable_id", "=", "run_lines.payable_id")
          .onRef("plan_lines.version", "=", "run_lines.version"),
      )
      .leftJoin("claims", (join) =>
        join
          .onRef("claims.business_id", "=", "run_lines.business_id")
          .onRef("claims.payable_id", "=", "run_lines.payable_id"),
      )
      .select(COLUMNS)
      .select(
        sql<number>`case when ${isApproved(this.#businessMs)} then 1 else 0 end`.as("approved"),
      )
      .select(ESCALATED_STAGE.as("escalated"))
      .where("run_lines.run_id", "=", runId)
      .where("run_lines.payable_id", "in", idsIn(payableIds))
      .execute();
    return rows.map(({ approved, line, state, ...row }) => ({
      ...row,
      plan: planIn(line),
      state: state as LineState,
      approved: approved === 1,
    }));
  }
}

/** Named as fields: each payment passes here. */
const COLUMNS = [
  ...(["run_lines.run_id as runId", "run_lines.business_id as businessId"] as const),
  ...(["run_lines.payable_id as payableId", "run_lines.contact_id as contactId"] as const),
  ...(["run_lines.source_id as sourceId", "run_lines.amount_cents as amountCents"] as const),
  ...(["run_lines.execution_date as executionDate", "run_lines.state as state"] as const),
  ...(["run_lines.line_hash as lineHash", "run_lines.line_no as lineNo"] as const),
  "run_lines.dropped_by as droppedBy",
  ...(["plan_lines.line as line", "claims.owner as claimedBy"] as const),
] as const;
