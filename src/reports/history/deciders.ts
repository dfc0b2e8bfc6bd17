import type { z } from "@hono/zod-openapi";
import type { CountedDecision, RefusedDecision } from "../../api/decisions.ts";
import { listAudit } from "../../store/audit/audit.ts";
import { decisionsOfRun } from "../../store/approvals/decisions.ts";
import type { Db } from "../../store/index.ts";
import { namesOf } from "../../store/names/names.ts";

type Counted = z.infer<typeof CountedDecision>;
type Refused = z.infer<typeof RefusedDecision>;

/** Returns the decisions on a run that count, first to last. */
export async function countedOf(
  db: Db,
  { runId, businessId }: { readonly runId: string; readonly businessId: string },
): Promise<Counted[]> {
  const decisions = await decisionsOfRun(db, runId);
  const vendors = decisions.flatMap(({ bankChanges }) => bankChanges.map((each) => each.contactId));
  const names = await namesOf(db, businessId, "vendor", vendors);
  return decisions
    .filter(({ outcome }) => outcome === "accepted")
    .map(({ principal, roles, decision, decidedAtMs, alone, comment, bankChanges }) => ({
      ...{ runId, by: principal, roles: [...roles], decision, alone, comment },
      verifiedBankChanges: bankChanges.map((each) => {
        return { ...each, contactName: names.get(each.contactId)?.name ?? null };
      }),
      at: new Date(decidedAtMs).toISOString(),
    }));
}

/**
 * Returns the decisions on runs that didn't count, and why, first to last, as the trail has kept
 * them.
 */
export async function refusedOf(
  db: Db,
  businessId: string,
  runIds: readonly string[],
): Promise<Refused[]> {
  const trail = await listAudit(db, { businessId, subject: runIds });
  return trail
    .filter(({ action }) => action === "run.decision-refused")
    .map(({ subject, actor, atMs, details }) => ({
      ...{ runId: subject, by: actor, at: new Date(atMs).toISOString() },
      code: textOf(details["code"]),
      reason: textOf(details["reason"]),
      times: typeof details["times"] === "number" ? details["times"] : 1,
    }));
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
