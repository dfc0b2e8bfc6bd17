import type { AuditEntry } from "../../store/audit/audit.ts";
import { listAudit } from "../../store/audit/audit.ts";
import type { Db } from "../../store/index.ts";

/**
 * What was found and decided about the funding account of a bill while its retry was at work: a
 * decision about the account decides about every bill that waits for it.
 */
export async function incidentEntries(
  db: Db,
  account: { readonly businessId: string; readonly sourceId: string },
  retry: { readonly startedAtMs: number; readonly endedAtMs: number | null },
): Promise<AuditEntry[]> {
  const { businessId, sourceId } = account;
  const entries = await listAudit(db, { businessId, subject: sourceId });
  return entries.filter(
    ({ action, atMs }) =>
      action.startsWith("incident.") &&
      atMs >= retry.startedAtMs &&
      atMs <= (retry.endedAtMs ?? Number.POSITIVE_INFINITY),
  );
}
