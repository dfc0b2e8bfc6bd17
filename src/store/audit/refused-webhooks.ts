import { UNKNOWN_SENDER } from "../../contracts/authors.ts";
import type { Db } from "../sql/db.ts";

const ACTION = "webhook.refused";

const subjectOf = (business: string): string => `webhooks/${business}`;

/** Returns the trail's entry about a webhook that was refused. */
export function refusedWebhook(
  { name, businessId }: { readonly name: string; readonly businessId: string },
  details: { readonly why: string; readonly times: number },
  nowMs: number,
) {
  const about = { action: ACTION, subject: subjectOf(name), details };
  return { businessId, nowMs, actor: UNKNOWN_SENDER, ...about };
}

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
    .where("subject", "=", subjectOf(business))
    .where("action", "=", ACTION)
    .orderBy("audit_id", "desc")
    .limit(1)
    .executeTakeFirst();
  if (row === undefined || row.at_ms < sinceMs) return null;
  const { why } = JSON.parse(row.details) as { readonly why: string };
  return { atMs: row.at_ms, why };
}
