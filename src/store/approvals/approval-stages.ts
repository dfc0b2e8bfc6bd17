import type { Transaction } from "kysely";
import type { PlanLine } from "../../contracts/pay-run.ts";
import type { Tables } from "../schema/tables.ts";
import { asColumns } from "../sql/as-record.ts";

/**
 * Stores the stages of the rules that these lines need, beside the plan that is stored with them.
 *
 * A run keeps its playbook's revision, so what a rule requires never changes.
 */
export async function keepStages(
  trx: Transaction<Tables>,
  runId: string,
  lines: readonly PlanLine[],
): Promise<void> {
  const rules = new Map(
    lines.flatMap(({ ruleIndex, stages = [] }) => (stages.length > 1 ? [[ruleIndex, stages]] : [])),
  );
  const rows = [...rules].flatMap(([ruleIndex, stages]) =>
    stages.map(({ quorum }, stage) =>
      asColumns({ runId, ruleIndex, stage, quorum: Math.max(1, quorum) }),
    ),
  );
  if (rows.length === 0) return;
  await trx
    .insertInto("approval_stages")
    .values(rows)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}
