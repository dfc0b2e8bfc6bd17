import type { PayrunActivities } from "../../src/contracts/activities.ts";
import { type SignedRefusal, takeSignedDecision } from "../../src/decisions/signed.ts";
import type { DecisionAnswer } from "../../src/decisions/take.ts";
import { appendAudit, listAudit } from "../../src/store/audit/audit.ts";
import { getRun } from "../../src/store/runs/runs.ts";
import type { ActivityContext } from "../shared/context.ts";

type Input = Parameters<PayrunActivities["verifyDecision"]>[0];
type Verdict = Awaited<ReturnType<PayrunActivities["verifyDecision"]>>;

/**
 * Judges a decision that was sent straight to Temporal, and stores it if it counts.
 *
 * Access to Temporal makes nobody an approver: only a signature by a key of the business's settings
 * proves who decides. A message that proves nothing has no effect, and is recorded in the audit
 * trail.
 *
 * @param tries from 1: a later try may find that an earlier one has stored the decision
 */
export async function verifyDecision(
  context: ActivityContext,
  input: Input,
  tries: number,
): Promise<Verdict> {
  const known = await getRun(context.store.db, input.runId);
  if (known === undefined) return { accepted: false, reason: "the run is not in the store" };
  const { signers = [], singlePerson } = context.profileOf(known.business);
  const clock = await context.clockOf(known.business).now();
  const outcome = await context.store.transactionOf(known.businessId, async (trx) =>
    takeSignedDecision(trx, {
      run: (await getRun(trx, input.runId)) ?? known,
      envelope: textOf(input.claim),
      signers,
      singlePerson,
      clock,
      nowMs: Date.now(),
      via: `temporal ${input.via ?? "update"}`,
    }),
  );
  return verdictOf(outcome, tries > 1);
}

/**
 * Records that a run reads no more decisions from Temporal, and how many signals it has left unread
 * so far: their contents and senders are unknown.
 */
export async function recordUnread(
  context: ActivityContext,
  { runId, read, unread }: Parameters<PayrunActivities["countUnreadDecisions"]>[0],
  tries: number,
): Promise<void> {
  const { store } = context;
  const run = await getRun(store.db, runId);
  if (run === undefined) return;
  const { businessId } = run;
  const action = "run.decisions-unread";
  await store.transactionOf(businessId, async (trx) => {
    // An earlier try may have written it, with its answer lost.
    const before = tries > 1 ? await listAudit(trx, { businessId, subject: runId }) : [];
    const isThere = before.some(
      ({ action: each, details }) => each === action && details["unread"] === unread,
    );
    if (isThere) return;
    await appendAudit(trx, {
      businessId,
      nowMs: Date.now(),
      actor: "temporal",
      action,
      subject: runId,
      details: { code: "too-many", read, unread },
    });
  });
}

/**
 * Returns the decision's text. A claim that is no text proves nothing, and is refused like any
 * other without a shape.
 */
function textOf(claim: unknown): string {
  return typeof claim === "string" ? claim : (JSON.stringify(claim) ?? "");
}

function verdictOf(outcome: DecisionAnswer | SignedRefusal, again: boolean): Verdict {
  if (outcome.accepted) {
    const { countsFor, dropped } = outcome;
    const reason =
      outcome.decision === "reject"
        ? "the run is rejected"
        : `it counts for ${countsFor.length} and leaves out ${dropped.length} bills`;
    return { accepted: true, reason };
  }
  // An earlier try of this activity has stored it, and its answer was lost.
  const { earlier } = outcome;
  if (!again || earlier === undefined) return { accepted: false, reason: outcome.reason };
  return { accepted: earlier.outcome === "accepted", reason: earlier.reason ?? "it was taken" };
}
