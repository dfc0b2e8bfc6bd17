import { ENDED_PHASES } from "../../contracts/pay-run.ts";
import { showInRetry } from "../retries/retries.ts";
import { phaseAlone } from "../runs/few-columns.ts";
import { setRunPhase } from "../runs/runs.ts";
import type { Db } from "../sql/db.ts";

/**
 * Shows in a workflow's run, or retry, why it doesn't go on, until its next look, which says what it
 * waits for then.
 */
export async function showTrouble(db: Db, workflowId: string, trouble: string): Promise<void> {
  await showInRetry(db, workflowId, trouble);
  const phase = await phaseAlone(db, workflowId);
  if (phase === undefined || ENDED_PHASES.includes(phase)) return;
  await setRunPhase(db, workflowId, { phase, waitingFor: trouble });
}
