import type { z } from "@hono/zod-openapi";
import type { ConfirmedAccounts, CountedDecision, RefusedDecision } from "../../api/decisions.ts";
import { type Confirmation, confirmedRecords } from "../../ledger/confirmed-records.ts";
import { listAudit } from "../../store/audit/audit.ts";
import { decisionsOfRun } from "../../store/approvals/decisions.ts";
import type { Db } from "../../store/index.ts";
import { namesOf } from "../../store/names/names.ts";
import type { Run } from "../../store/runs/runs.ts";

type Counted = z.infer<typeof CountedDecision>;
type Confirmed = z.infer<typeof ConfirmedAccounts>;
type Refused = z.infer<typeof RefusedDecision>;

/** Returns the decisions on a run that count, first to last. */
export async function countedOf(
  db: Db,
  { runId, businessId }: { readonly runId: string; readonly businessId: string },
): Promise<Counted[]> {
  const decisions = await decisionsOfRun(db, runId);
  const vendors = decisions.flatMap(({ bankChanges }) => bankChanges.map((each) => each.contactId));
  const names = await namesOf(db, businessId, "vendor", vendors);
  const hurries = await hurriesOf(db, businessId, [runId]);
  return decisions
    .filter(({ outcome }) => outcome === "accepted")
    .map(
      ({ decisionId, principal, roles, decision, decidedAtMs, alone, comment, bankChanges }) => ({
        runId,
        by: principal,
        roles: [...roles],
        decision,
        alone,
        comment,
        hurry: hurries.get(decisionId) ?? null,
        verifiedBankChanges: bankChanges.map((each) => {
          return { ...each, contactName: names.get(each.contactId)?.name ?? null };
        }),
        at: new Date(decidedAtMs).toISOString(),
      }),
    );
}

/** Returns how approvals of runs were hurried, as their playbooks mean it, by decision. */
export async function hurriesOf(
  db: Db,
  businessId: string,
  runIds: readonly string[],
): Promise<Map<string, string>> {
  const trail = await listAudit(db, { businessId, subject: runIds, actions: ["run.approved"] });
  return new Map(
    trail.flatMap(({ details: { decisionId, hurry } }) =>
      typeof decisionId === "string" && typeof hurry === "string" ? [[decisionId, hurry]] : [],
    ),
  );
}

/**
 * Returns who has said, since then, that the accounts of these vendors are still right, as far as it
 * counts in a run, first to last.
 */
export async function confirmedOf(
  db: Db,
  run: Run,
  contactIds: readonly string[],
  sinceMs: number,
): Promise<Confirmed[]> {
  const { said } = await confirmedRecords(db, run, contactIds);
  const names = await namesOf(db, run.businessId, "vendor", contactIds);
  const confirmedJson = ({ runId, atMs, principal, roles, ...said }: Confirmation) => ({
    runId,
    by: principal,
    roles: [...roles],
    comment: said.comment ?? null,
    at: new Date(atMs).toISOString(),
    hurry: said.hurry ?? null,
    records: said.records.map(({ contactId, record }) => {
      return { contactId, contactName: names.get(contactId)?.name ?? null, updatedAt: record };
    }),
  });
  return said.filter(({ atMs }) => atMs >= sinceMs).map(confirmedJson);
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
      runId: subject,
      by: actor,
      at: new Date(atMs).toISOString(),
      code: textOf(details["code"]),
      reason: textOf(details["reason"]),
      times: typeof details["times"] === "number" ? details["times"] : 1,
    }));
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
