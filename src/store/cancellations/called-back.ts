import type { CancellationPolicy } from "../../domain/cancellations/policy.ts";
import { chunks, type Db } from "../sql/db.ts";
import { idsIn } from "../sql/rows-as.ts";

/**
 * Returns those of these payments that were called back because of their funding account: their
 * bills wait with its incident.
 *
 * A payment counts from its choice on, because the service may show it as cancelled before the
 * cancel's answer is recorded.
 */
export async function calledBack(
  db: Db,
  businessId: string,
  paymentIds: readonly string[],
): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  for (const ids of chunks(paymentIds)) {
    const rows = await db
      .selectFrom("cancellation_items")
      .innerJoin("cancellations", "cancellations.workflow_id", "cancellation_items.workflow_id")
      .select(["cancellation_items.payment_id", "cancellations.policy"])
      .where("cancellation_items.business_id", "=", businessId)
      .where("cancellation_items.payment_id", "in", idsIn(ids))
      .execute();
    for (const { payment_id: id, policy } of rows) {
      const of = JSON.parse(policy) as CancellationPolicy;
      if (id !== null && of.kind === "cancel-scheduled" && of.forIncident === true) found.add(id);
    }
  }
  return found;
}
