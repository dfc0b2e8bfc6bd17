import { decisionsUnread } from "../../src/domain/facts/runs.ts";
import { record } from "../../src/store/facts/record.ts";
import type { Transaction } from "kysely";
import { TEMPORAL } from "../../src/contracts/authors.ts";
import type { PayrunActivities, SentDecisionAnswer } from "../../src/contracts/activities.ts";
import { definedOnly } from "../../src/contracts/defined-only.ts";
import type { SentDecisionCode } from "../../src/contracts/reason-codes.ts";
import { counted } from "../../src/domain/counted.ts";
import { type SignedRefusal, takeSignedDecision } from "../../src/decisions/signed.ts";
import type { DecisionAnswer } from "../../src/decisions/take.ts";
import { DECISIONS_READ_MOST, TOO_MANY_DECISIONS } from "../../src/contracts/pay-run.ts";
import { countDecisionSent, getRun, type Run } from "../../src/store/runs/runs.ts";
import type { Tables } from "../../src/store/schema/tables.ts";
import type { ActivityContext } from "../shared/context.ts";

type Input = Parameters<PayrunActivities["verifyDecision"]>[0];

/**
 * Judges a decision that was sent straight to Temporal, and stores it if it counts.
 *
 * Access to Temporal makes nobody an approver: only a signature by a key of the business's settings
 * proves who decides. A message that proves nothing has no effect, and is recorded in the audit
 * trail.
 *
 * The same decision again, as in a second try of the activity, gets the first outcome.
 */
export async function verifyDecision(
  context: ActivityContext,
  input: Input,
): Promise<SentDecisionAnswer> {
  const answer = await judge(context, input);
  // Only after the commit: a transaction that is undone has decided nothing.
  context.countDecision(answer.code ?? "accepted");
  return answer;
}

async function judge(context: ActivityContext, input: Input): Promise<SentDecisionAnswer> {
  const known = await getRun(context.store.db, input.runId);
  if (known === undefined) return unread("not_found", "the run is not in the store");
  const { signers = [], singlePerson } = context.profileOf(known.business);
  const clock = await context.clockOf(known.business).now();
  return context.store.transactionOf(known.businessId, async (trx) => {
    if (!(await mayRead(trx, known))) return unread(TOO_MANY_DECISIONS, TOO_MANY);
    const outcome = await takeSignedDecision(trx, {
      run: (await getRun(trx, input.runId)) ?? known,
      envelope: textOf(input.claim),
      signers,
      singlePerson,
      clock,
      nowMs: Date.now(),
      via: "temporal",
    });
    return answerOf(outcome);
  });
}

const TOO_MANY = "too many decisions were sent to Temporal: send them to the gateway";

/**
 * Counts a decision. False if it is one too many, so that a sender can't fill the trail: the
 * workflow counts too, but whoever may write to Temporal can start another.
 */
async function mayRead(trx: Transaction<Tables>, { runId, businessId }: Run): Promise<boolean> {
  const sent = await countDecisionSent(trx, runId);
  if (sent === DECISIONS_READ_MOST) {
    const head = { businessId, nowMs: Date.now(), by: TEMPORAL, subject: runId };
    await record(trx, decisionsUnread(head, { code: TOO_MANY_DECISIONS, read: sent }));
  }
  return sent <= DECISIONS_READ_MOST;
}

/**
 * Returns the decision's text. A claim that is no text proves nothing, and is refused like any
 * other without a shape.
 */
function textOf(claim: unknown): string {
  return typeof claim === "string" ? claim : (JSON.stringify(claim) ?? "");
}

function unread(code: SentDecisionCode, message: string): SentDecisionAnswer {
  return { accepted: false, code, message };
}

function answerOf(outcome: DecisionAnswer | SignedRefusal): SentDecisionAnswer {
  if (!outcome.accepted) {
    const { code, reason: message, earlier } = outcome;
    return {
      accepted: false,
      code,
      ...definedOnly({ earlier: earlier && shown(earlier) }),
      message,
    };
  }
  const { decision, dropped, alreadySince } = outcome;
  const countsForCount = outcome.countsFor.length;
  const message =
    decision === "reject"
      ? "the run is rejected"
      : `it counts for ${counted(countsForCount, "bill")} and leaves out ${counted(dropped.length, "bill")}`;
  return {
    accepted: true,
    code: null,
    decision,
    countsForCount,
    dropped,
    ...definedOnly({ alreadySince }),
    message,
  };
}

function shown({ outcome, reason, decidedAtMs }: NonNullable<SignedRefusal["earlier"]>) {
  return { outcome, reason, decidedAt: new Date(decidedAtMs).toISOString() };
}
