import { asColumns, type RecordOf } from "../sql/as-record.ts";
import type { Db } from "../sql/db.ts";
import { findOne } from "../sql/records.ts";

/** The progress of the watch for late changes through a business's payments. */
export type LatePass = RecordOf<"late_passes">;

export function getLatePass(db: Db, businessId: string): Promise<LatePass | undefined> {
  return findOne(db, "late_passes", { businessId });
}

/** Stores the progress of the watch, so that the process that goes on begins there. */
export async function keepLatePass(db: Db, pass: LatePass): Promise<void> {
  const values = asColumns(pass);
  await db
    .insertInto("late_passes")
    .values(values)
    .onConflict((conflict) => conflict.column("business_id").doUpdateSet(values))
    .execute();
}
