import { differenceOf } from "../audit/audit-compare.ts";
import type { Db } from "../sql/db.ts";
import type { TopUp } from "./deposits.ts";

/**
 * Returns how a deposit is not what its entries say: its amount, its plan, or who approves it.
 * Nothing may be approved or sent of such a deposit.
 *
 * @returns null if they agree
 */
export function differenceOfTopUp(
  db: Db,
  { subject, businessId }: Pick<TopUp, "subject" | "businessId">,
): Promise<string | null> {
  const row = { table: "top_ups", key: [subject], subject } as const;
  return differenceOf(db, { businessId, business: null }, row);
}
