import { NEW_YORK } from "../domain/clock/new-york.ts";
import { hurryOf } from "../domain/approvals/hurry.ts";
import { getPlan } from "../store/plans/plans.ts";
import type { Run } from "../store/runs/runs.ts";
import type { Db } from "../store/sql/db.ts";

/** When a person said something. */
interface Moment {
  /** Real instant. */
  readonly nowMs: number;
  /** Business-clock instant. */
  readonly businessMs: number;
  /** The business's time zone; New York unless given. */
  readonly zone?: string | undefined;
}

/** Says how a person's word was hurried, as this run's playbook means it; null if it wasn't. */
export async function hurryAt(
  db: Db,
  { runId, policy }: Pick<Run, "runId" | "policy">,
  { nowMs, businessMs, zone = NEW_YORK }: Moment,
): Promise<string | null> {
  if (policy.hurry === undefined) return null;
  const plannedAtMs = (await getPlan(db, runId))?.createdAtMs ?? nowMs;
  const at = { plannedAtMs, nowMs, businessMs, zone: policy.schedule?.zone ?? zone };
  return hurryOf(policy.hurry, at);
}
