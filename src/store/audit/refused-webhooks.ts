import { webhookRefused } from "../../domain/facts/access.ts";
import type { Db } from "../sql/db.ts";

/** Returns the subject of entries about a business's webhooks. */
export const webhooksOf = (business: string): string => `webhooks/${business}`;

/** Returns when and why a webhook was last refused since then; null if none was. */
export async function lastRefusedWebhook(
  db: Db,
  {
    businessId,
    business,
    sinceMs,
  }: { readonly businessId: string; readonly business: string; readonly sinceMs: number },
): Promise<{ readonly atMs: number; readonly why: string } | null> {
  const row = await db
    .selectFrom("audit")
    .select(["at_ms", "details"])
    .where("business_id", "=", businessId)
    .where("subject", "=", webhooksOf(business))
    .where("action", "=", webhookRefused.action)
    .orderBy("audit_id", "desc")
    .limit(1)
    .executeTakeFirst();
  if (row === undefined || row.at_ms < sinceMs) return null;
  const { why } = JSON.parse(row.details) as { readonly why: string };
  return { atMs: row.at_ms, why };
}
