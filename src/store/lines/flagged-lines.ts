import { sql } from "kysely";
import type { LineFlag, PlanLine } from "../../contracts/pay-run.ts";
import { COUNT, type Db } from "../sql/db.ts";

/**
 * Returns the bills of a run that wait for approval and have a flag of this kind: how many, and the
 * first ones in plan order, each with what the flag says.
 */
export async function linesFlagged(
  db: Db,
  runId: string,
  { kind, limit }: { readonly kind: LineFlag["kind"]; readonly limit: number },
) {
  const lines = db
    .selectFrom("run_lines")
    .innerJoin("plan_lines", (join) =>
      join
        .onRef("plan_lines.run_id", "=", "run_lines.run_id")
        .onRef("plan_lines.payable_id", "=", "run_lines.payable_id")
        .onRef("plan_lines.version", "=", "run_lines.version"),
    )
    .where("run_lines.run_id", "=", runId)
    .where("run_lines.state", "=", "awaiting-approval")
    .where("run_lines.flagged", "=", 1)
    // No text in the line can look like this: a quotation mark in it is escaped.
    .where(sql<boolean>`plan_lines.line like ${`%{"kind":"${kind}"%`}`);
  const { count } = await lines.select(COUNT).executeTakeFirstOrThrow();
  const rows =
    Number(count) === 0
      ? []
      : await lines.select("plan_lines.line").orderBy("run_lines.line_no").limit(limit).execute();
  const first = rows.map((row) => {
    const { payableId, amountCents, flags } = JSON.parse(row.line) as PlanLine;
    const reason = flags.find((flag) => flag.kind === kind)?.text ?? "";
    return { payableId, amountCents, state: "awaiting-approval" as const, reason };
  });
  return { count: Number(count), first };
}
