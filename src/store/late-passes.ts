import type { Db } from "./db.ts";

/** How far the watch for late changes is with a business's payments. */
export interface LatePass {
  readonly businessId: string;
  /** When the last pass began. */
  readonly begunBusinessMs: number;
  readonly begunRealMs: number;
  /** ISO instant: the pass reads what was made before. Null while none is under way. */
  readonly madeBefore: string | null;
  /** Page of that list to go on with, from 1. */
  readonly nextPage: number;
}

export async function getLatePass(db: Db, businessId: string): Promise<LatePass | undefined> {
  const row = await db
    .selectFrom("late_passes")
    .selectAll()
    .where("business_id", "=", businessId)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  return {
    businessId,
    begunBusinessMs: row.begun_business_ms,
    begunRealMs: row.begun_real_ms,
    madeBefore: row.made_before,
    nextPage: row.next_page,
  };
}

/** Keeps how far the watch is, so that whoever goes on begins there. */
export async function keepLatePass(db: Db, pass: LatePass): Promise<void> {
  const values = {
    begun_business_ms: Math.floor(pass.begunBusinessMs),
    begun_real_ms: Math.floor(pass.begunRealMs),
    made_before: pass.madeBefore,
    next_page: pass.nextPage,
  };
  await db
    .insertInto("late_passes")
    .values({ business_id: pass.businessId, ...values })
    .onConflict((conflict) => conflict.column("business_id").doUpdateSet(values))
    .execute();
}
