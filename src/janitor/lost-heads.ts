import type { AuditHead } from "../contracts/activities.ts";
import { lostHead } from "../store/janitor/heads.ts";
import { headsInHistory } from "../temporal/audit-heads.ts";
import type { JanitorContext } from "./context.ts";

/** Returns an end of the business's trail that a run has seen and that the store has lost. */
export async function lostInHistory(
  { store, temporal }: JanitorContext,
  businessId: string,
  runId: string,
): Promise<AuditHead | undefined> {
  for (const head of await headsInHistory(temporal, runId)) {
    const lost = await lostHead(store.db, businessId, head);
    if (lost !== undefined) return lost;
  }
  return undefined;
}
