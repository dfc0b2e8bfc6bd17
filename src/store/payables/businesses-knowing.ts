import type { Db } from "../sql/db.ts";

/** Returns which of these businesses have rows about a payable. */
export async function businessesKnowing(
  db: Db,
  payableId: string,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  const about = (table: "run_lines" | "retries" | "cancellation_items" | "claims") =>
    db
      .selectFrom(table)
      .select("business_id")
      .where("business_id", "in", ids)
      .where("payable_id", "=", payableId);
  const leftOut = db
    .selectFrom("plan_skipped")
    .innerJoin("runs", "runs.run_id", "plan_skipped.run_id")
    .select("runs.business_id")
    .where("runs.business_id", "in", ids)
    .where("plan_skipped.payable_id", "=", payableId);
  const tried = db
    .selectFrom("attempts")
    .select("business_id")
    .where("business_id", "in", ids)
    .where("subject", "=", payableId);
  const held = db
    .selectFrom("holds")
    .select("business_id")
    .where("business_id", "in", ids)
    .where("scope", "=", "payable")
    .where("value", "=", payableId);
  const rows = await about("run_lines")
    .union(about("retries"))
    .union(about("cancellation_items"))
    .union(about("claims"))
    .union(leftOut)
    .union(tried)
    .union(held)
    .execute();
  return new Set(rows.map((row) => row.business_id));
}
