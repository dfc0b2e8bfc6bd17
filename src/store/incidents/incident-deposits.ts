import type { PayRunPlaybook } from "../../contracts/playbook.ts";
import type { Db } from "../sql/db.ts";
import { casesOfIncident } from "../lines/retry-cases.ts";

/**
 * Returns the run whose playbook governs a deposit for an incident: among the runs of the waiting
 * bills, the one that allows the least; undefined if none allows any.
 */
export async function topUpRunOfIncident(
  db: Db,
  account: { readonly businessId: string; readonly sourceId: string },
): Promise<string | undefined> {
  const waiting = casesOfIncident(db, account).select("retries.run_id");
  const rows = await db
    .selectFrom("runs")
    .select(["run_id", "policy"])
    .where("run_id", "in", waiting)
    .orderBy("run_id")
    .execute();
  const allowed = rows.flatMap(({ run_id: runId, policy }) => {
    const rule = (JSON.parse(policy) as PayRunPlaybook).pay.topUp;
    return rule === undefined ? [] : [{ runId, atMostCents: rule.atMostCents }];
  });
  return allowed.toSorted((one, other) => one.atMostCents - other.atMostCents)[0]?.runId;
}
