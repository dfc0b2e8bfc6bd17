import { appendAudit } from "../src/store/audit.ts";
import { getRun } from "../src/store/runs.ts";
import type { ActivityContext } from "./context.ts";

/**
 * Judges a decision that was sent straight to Temporal.
 *
 * Whoever can write to Temporal is not an approver by that: only the gateway, which checks a
 * bearer token, stores approvals. The claim moves nothing; that it came stands in the audit trail.
 */
export async function verifyDecision(
  context: ActivityContext,
  input: { readonly runId: string; readonly claim: string },
): Promise<{ readonly accepted: boolean; readonly reason: string }> {
  const reason =
    "A decision sent to Temporal carries no proof of who decided. Send it to the gateway: POST /v1/runs/{id}/decisions with an approver's token.";
  await context.store.transaction(async (trx) => {
    const run = await getRun(trx, input.runId);
    if (run === undefined) return;
    await appendAudit(trx, {
      businessId: run.businessId,
      nowMs: Date.now(),
      actor: "temporal-update",
      action: "decision-refused",
      subject: input.runId,
      details: { claimBytes: Buffer.byteLength(input.claim), reason: "unproven" },
    });
  });
  return { accepted: false, reason };
}
