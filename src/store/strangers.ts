import type { RetryFailedPlaybook } from "../contracts/playbook.ts";
import { chunks, type Db } from "./db.ts";
import { listPlaybooks } from "./playbooks.ts";

/** Kind of the notice about a payment that failed and that Payrun did not make. */
export const STRANGER_NOTICE = "payment-failed-elsewhere";

/** The playbook that looks after payments which Payrun did not make, where one says so. */
export async function playbookForStrangers(
  db: Db,
  business: string,
): Promise<RetryFailedPlaybook | undefined> {
  for (const { compiled } of await listPlaybooks(db)) {
    if (compiled.kind !== "retry-failed" || compiled.payments !== "all") continue;
    if (compiled.business === null || compiled.business === business) return compiled;
  }
  return undefined;
}

/** Which of these failed payments are neither Payrun's own nor told of. */
export async function untoldStrangers<
  P extends { readonly id: string; readonly payableId: string },
>(db: Db, businessId: string, payments: readonly P[]): Promise<P[]> {
  const found: P[] = [];
  for (const some of chunks(payments)) {
    const own = await db
      .selectFrom("run_lines")
      .select("payable_id")
      .distinct()
      .where("business_id", "=", businessId)
      .where(
        "payable_id",
        "in",
        some.map(({ payableId }) => payableId),
      )
      .where("attempts", ">", 0)
      .execute();
    const told = await db
      .selectFrom("notices")
      .select("fact_key")
      .where("business_id", "=", businessId)
      .where("kind", "=", STRANGER_NOTICE)
      .where(
        "fact_key",
        "in",
        some.map(({ id }) => id),
      )
      .execute();
    const known = new Set([
      ...own.map((row) => row.payable_id),
      ...told.map((row) => row.fact_key),
    ]);
    found.push(...some.filter(({ id, payableId }) => !known.has(id) && !known.has(payableId)));
  }
  return found;
}
