import { chunks, type Db } from "./db.ts";

interface ApprovableLine {
  readonly runId: string;
  readonly payableId: string;
  readonly lineHash: string;
  readonly quorum: number;
}

/**
 * The payables, out of these lines of one run, of which exactly this line has enough different
 * approvers whose approval has not expired.
 *
 * @param businessMs business-clock instant that expiries are compared with
 */
export async function approvedLines(
  db: Db,
  lines: readonly ApprovableLine[],
  businessMs: number,
): Promise<Set<string>> {
  const principals = new Map<string, number>();
  for (const some of chunks(lines)) {
    const [first] = some;
    if (first === undefined) continue;
    const rows = await db
      .selectFrom("line_approvals")
      .select((eb) => [
        "payable_id",
        "line_hash",
        eb.fn.count<number>("principal").distinct().as("principals"),
      ])
      .where("run_id", "=", first.runId)
      .where(
        "payable_id",
        "in",
        some.map((line) => line.payableId),
      )
      .where("expires_at_ms", ">", businessMs)
      .groupBy(["payable_id", "line_hash"])
      .execute();
    for (const row of rows) {
      principals.set(`${row.payable_id} ${row.line_hash}`, Number(row.principals));
    }
  }
  // Whatever a rule says, no line is payable without one approval.
  const enough = ({ payableId, lineHash, quorum }: ApprovableLine): boolean =>
    (principals.get(`${payableId} ${lineHash}`) ?? 0) >= Math.max(1, quorum);
  return new Set(lines.filter(enough).map((line) => line.payableId));
}

/**
 * Who has approved each of these lines as it stands now, by payable id; approvals of an earlier
 * version of a line don't count, expired ones neither.
 */
export async function approversOf(
  db: Db,
  runId: string,
  payableIds: readonly string[],
  businessMs: number,
): Promise<Map<string, string[]>> {
  const principals = new Map<string, string[]>();
  for (const ids of chunks(payableIds)) {
    const rows = await db
      .selectFrom("line_approvals")
      .innerJoin("run_lines", (join) =>
        join
          .onRef("run_lines.run_id", "=", "line_approvals.run_id")
          .onRef("run_lines.payable_id", "=", "line_approvals.payable_id")
          .onRef("run_lines.line_hash", "=", "line_approvals.line_hash"),
      )
      .select(["line_approvals.payable_id", "line_approvals.principal"])
      .where("line_approvals.run_id", "=", runId)
      .where("line_approvals.payable_id", "in", ids)
      .where("line_approvals.expires_at_ms", ">", businessMs)
      .orderBy("line_approvals.principal")
      .execute();
    for (const row of rows) {
      const known = principals.get(row.payable_id);
      if (known === undefined) principals.set(row.payable_id, [row.principal]);
      else known.push(row.principal);
    }
  }
  return principals;
}
