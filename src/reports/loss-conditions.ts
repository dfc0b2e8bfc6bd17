import type { Condition } from "../api/conditions.ts";
import type { BusinessProfile } from "../config/business-profile.ts";
import type { Db } from "../store/index.ts";
import { listHolds } from "../store/holds/holds.ts";
import { lossNoticed } from "../store/janitor/behind.ts";

/** Businesses whose store has lost something, until a person has compared and released the hold. */
export async function lossConditions({
  db,
  profiles,
  nowMs,
}: {
  readonly db: Db;
  readonly profiles: readonly BusinessProfile[];
  readonly nowMs: number;
}): Promise<Condition[]> {
  const found = profiles.map(async ({ businessId, name: business }): Promise<Condition[]> => {
    const loss = await lossNoticed(db, businessId);
    if (loss === null) return [];
    const holds = await listHolds(db, { businessId, scope: "all", active: true, nowMs });
    if (!holds.some(({ holdId }) => holdId === loss.holdId)) return [];
    const text = `everything of ${business} is on hold: the store is older than what was done with it, or may be. A token that was revoked or got a new secret after the backup counts again as it did then`;
    const remedy = `payrun holds says how it shows. Compare (payrun payments --since BACKUP_DAY, payrun token list), revoke such tokens again, then: payrun release ${loss.holdId}`;
    return [{ code: "store-behind", severity: "failed", business, text, remedy }];
  });
  return (await Promise.all(found)).flat();
}
