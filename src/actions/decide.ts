import type { DecisionAnswer, DecisionRefusal } from "../decisions/take.ts";
import { noteRefusalOf } from "./refused-today.ts";
import {
  type Deciding,
  type DecisionRequest,
  judgedBy,
  decisionRules,
} from "../decisions/deciding.ts";
import { readSignedDecision } from "../domain/approvals/signed-decision.ts";
import type { BusinessProfile } from "../config/business-profile.ts";
import { refusalOfPerson, refusalOfRun } from "../domain/approvals/policy.ts";
import { judgeTopUpDecision } from "../domain/approvals/top-up.ts";
import { takeAnyDecision } from "../decisions/take-top-up.ts";
import { type SignedRefusal, takeSignedDecision } from "../decisions/signed.ts";
import type { TopUp } from "../store/deposits/deposits.ts";
import { getRun, type Run } from "../store/runs/runs.ts";
import { othersNow } from "./others-now.ts";
import type { ActionContext } from "./context.ts";
import type { Principal } from "./principal.ts";
import { GatewayError, notFound } from "./errors.ts";
import { businessNamed } from "./businesses.ts";

/** Most bills that an answer names; all of them are counted. */
const NAMED_MOST = 1_000;

/**
 * The result of a decision, as the API answers it: large runs have more bills than a person reads.
 */
export interface DecisionShown extends DecisionAnswer {
  readonly countsForCount: number;
}

/**
 * Judges and stores a decision on a run, and signals the run to look.
 *
 * Repeating a decision adds no second one.
 *
 * @throws GatewayError with the reason of a refusal: 403 if the person may not decide, 409 if the
 * plan or run has moved on, 422 if the decision itself can't be meant
 */
export async function decide(
  context: ActionContext,
  runId: string,
  request: DecisionRequest,
  principal: Principal,
): Promise<DecisionShown> {
  const known = await knownRun(context, runId);
  const profile = businessNamed(context, known.business, "");
  const clock = await context.clocks.read(profile);
  const shown = isApprovalOfBills(request) ? await shownNow(context, profile, known) : {};
  const outcome = await context.store.transactionOf(known.businessId, async (trx) =>
    takeAnyDecision(trx, {
      run: (await getRun(trx, runId)) ?? known,
      request,
      principal,
      ...decisionRules(profile),
      clock,
      ...shown,
      nowMs: context.nowMs(),
      noteRefusal: noteRefusalOf(context, principal, runId),
    }),
  );
  return answered(context, runId, outcome);
}

/**
 * Judges and stores a decision that another system has signed. It counts for the signer, regardless
 * of who delivers it.
 *
 * @throws GatewayError as `decide`; also 403 if the signature proves nothing, 409 for a replay
 */
export async function decideSigned(
  context: ActionContext,
  runId: string,
  envelope: string,
  courier: Principal,
): Promise<DecisionShown> {
  const known = await knownRun(context, runId);
  const profile = businessNamed(context, known.business, "");
  const clock = await context.clocks.read(profile);
  const signers = profile.signers ?? [];
  // A decision without a valid signature must cost the service no request; it is judged, and
  // refused, below.
  const reading = readSignedDecision(envelope, { runId, signers, nowMs: context.nowMs() });
  const isOfBills = reading.ok && isApprovalOfBills(reading.signed);
  const shown = isOfBills ? await shownNow(context, profile, known) : {};
  const outcome = await context.store.transactionOf(known.businessId, async (trx) =>
    takeSignedDecision(trx, {
      run: (await getRun(trx, runId)) ?? known,
      envelope,
      signers,
      singlePerson: profile.singlePerson,
      clock,
      ...shown,
      nowMs: context.nowMs(),
      via: `gateway, sent by ${courier.name}`,
      noteRefusal: noteRefusalOf(context, courier, runId),
    }),
  );
  return answered(context, runId, outcome);
}

/**
 * Returns true if the decision approves bills. Only then the answer says what goes out, which
 * requires reading what the service shows about bills and vendors.
 */
function isApprovalOfBills({
  decision,
  topUpHash,
  confirmedRecords,
}: Pick<DecisionRequest, "decision" | "topUpHash" | "confirmedRecords">): boolean {
  return decision === "approve" && topUpHash === undefined && confirmedRecords === undefined;
}

async function shownNow(
  context: ActionContext,
  profile: BusinessProfile,
  run: Run,
): Promise<Pick<Deciding, "others">> {
  return { others: await othersNow(context, profile, run, { vendors: "all" }) };
}

/**
 * Returns why an approval by this person would count for none of a run's bills, regardless of their
 * roles; undefined if it may count.
 */
export async function whyNotCounted(
  { store, profiles }: Pick<ActionContext, "store" | "profiles">,
  run: Run,
  principal: Principal,
): Promise<DecisionRefusal | undefined> {
  const singlePerson = profiles.get(run.business)?.singlePerson === true;
  const judged = await judgedBy(store.db, { run, principal, singlePerson });
  const verdict = refusalOfRun(judged.run) ?? refusalOfPerson({ ...judged, decision: APPROVE });
  return verdict?.accepted === false ? verdict : undefined;
}

/**
 * Returns true if an approval of a run's deposit by this person would count, provided that they
 * haven't given one.
 */
export async function mayApproveTopUp(
  { store, profiles }: Pick<ActionContext, "store" | "profiles">,
  run: Run,
  topUp: TopUp,
  principal: Principal,
): Promise<boolean> {
  const singlePerson = profiles.get(run.business)?.singlePerson === true;
  const { accepted } = judgeTopUpDecision({
    ...(await judgedBy(store.db, { run, principal, singlePerson })),
    decision: { kind: "approve", hash: topUp.hash },
    topUp: { ...topUp, proposed: topUp.state === "proposed", unclear: false },
  });
  return accepted;
}

const APPROVE = { kind: "approve" } as const;

async function knownRun(context: ActionContext, runId: string): Promise<Run> {
  const run = await getRun(context.store.db, runId);
  if (run === undefined) throw notFound(`There is no run “${runId}”; “payrun status” lists them.`);
  return run;
}

function answered(
  context: ActionContext,
  runId: string,
  outcome: DecisionAnswer | DecisionRefusal | SignedRefusal,
): DecisionShown {
  context.metrics.decisions.inc({ outcome: outcome.accepted ? "accepted" : outcome.code });
  // The transaction wrote the refusal to the trail, so it is thrown only after the commit.
  if (!outcome.accepted) throw refusal(outcome);
  const { countsFor } = outcome;
  return {
    ...outcome,
    countsFor: countsFor.slice(0, NAMED_MOST),
    countsForCount: countsFor.length,
  };
}

/** Returns a refused decision as the API answers it. */
export function refusal(outcome: DecisionRefusal | SignedRefusal): GatewayError {
  const { code, reason } = outcome;
  const vendors = "contactIds" in outcome ? { contactIds: outcome.contactIds } : {};
  const earlier = "earlier" in outcome ? earlierOf(outcome) : {};
  const details = { accepted: false, ...vendors, ...earlier };
  return new GatewayError(code, `Refused: ${reason}.`, details);
}

/** Returns how a decision with the same id was judged. */
function earlierOf({ earlier }: SignedRefusal) {
  if (earlier === undefined) return {};
  const { outcome, reason, decidedAtMs } = earlier;
  return { earlier: { outcome, reason, decidedAt: new Date(decidedAtMs).toISOString() } };
}
