import type { Db } from "../sql/db.ts";

/** A row that was written in one transaction with its audit entry, at the same instant. */
export interface RecordedFact {
  /** As the beginning of a sentence. */
  readonly what: string;
  /** Real time. */
  readonly atMs: number;
}

/**
 * Returns the newest run, decision or hold of a business. If its trail ends before that, the end of
 * the trail is gone, whatever end the store has recorded.
 */
export async function newestFact(db: Db, businessId: string): Promise<RecordedFact | undefined> {
  const run = await db
    .selectFrom("runs")
    .select(["run_id", "launched_at_ms"])
    .where("business_id", "=", businessId)
    .orderBy("launched_at_ms", "desc")
    .limit(1)
    .executeTakeFirst();
  const hold = await db
    .selectFrom("holds")
    .select(["hold_id", "created_at_ms"])
    .where("business_id", "=", businessId)
    .orderBy("created_at_ms", "desc")
    .limit(1)
    .executeTakeFirst();
  const decision = await db
    .selectFrom("decisions")
    .innerJoin("runs", "runs.run_id", "decisions.run_id")
    .select(["decisions.principal", "decisions.run_id", "decisions.decided_at_ms"])
    .where("runs.business_id", "=", businessId)
    .orderBy("decisions.decided_at_ms", "desc")
    .limit(1)
    .executeTakeFirst();
  const facts: RecordedFact[] = [
    ...(run ? [{ what: `The launch of ${run.run_id}`, atMs: run.launched_at_ms }] : []),
    ...(hold ? [{ what: `The hold ${hold.hold_id}`, atMs: hold.created_at_ms }] : []),
    ...(decision
      ? [
          {
            what: `The decision of ${decision.principal} about ${decision.run_id}`,
            atMs: decision.decided_at_ms,
          },
        ]
      : []),
  ];
  return facts.toSorted((one, other) => other.atMs - one.atMs)[0];
}

/** Returns the businesses for which something was launched or held. */
export async function businessesWithFacts(db: Db): Promise<string[]> {
  const runs = await db.selectFrom("runs").select("business_id").distinct().execute();
  const holds = await db.selectFrom("holds").select("business_id").distinct().execute();
  return [...runs, ...holds].map((row) => row.business_id);
}
