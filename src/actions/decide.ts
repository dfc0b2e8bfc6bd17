import type { DecisionAnswer, DecisionRefusal } from "../decisions/take.ts";
import { noteRefusalOf } from "./refused-today.ts";
import { type Deciding, type DecisionRequest, judgedBy, rulesOf } from "../decisions/deciding.ts";
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

/** Bills that an answer names; all of them are counted. */
const NAMED_MOST = 1_000;

/** What a decision came to, as it is answered: large runs have more bills than anybody reads. */
export interface DecisionShown extends DecisionAnswer {
  readonly countsForCount: number;
}

/**
 * Judges and stores a decision on a run; the run is told to look.
 *
 * Deciding the same twice is one decision.
 *
 * @throws GatewayError with the reason of a refusal: 403 where the person may not, 409 where the
 * plan or run has moved on, 422 where the decision itself can't be meant
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
      ...rulesOf(profile),
      clock,
      ...shown,
      nowMs: context.nowMs(),
      noteRefusal: noteRefusalOf(context, principal, runId),
    }),
  );
  return answered(context, runId, outcome);
}

/**
 * The same for a decision that another system has signed: it counts for the signer, whoever
 * delivers it.
 *
 * @throws GatewayError as `decide`; 403 as well where the signature proves nothing, 409 for a replay
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
  // What nobody has signed costs the service nothing; it is judged, and refused, below.
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

/** Only its answer says what goes out, and so reads what the service shows of bills and vendors. */
function isApprovalOfBills({
  decision,
  topUpHash,
}: Pick<DecisionRequest, "decision" | "topUpHash">): boolean {
  return decision === "approve" && topUpHash === undefined;
}

async function shownNow(
  context: ActionContext,
  profile: BusinessProfile,
  run: Run,
): Promise<Pick<Deciding, "others">> {
  return { others: await othersNow(context, profile, run, { vendors: "all" }) };
}

/**
 * Why an approval by this person would count for none of a run's bills, whatever their roles are;
 * undefined where it may count.
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

/** Whether an approval of a run's deposit by this person would count, if they have given none. */
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
  // A refusal is in the trail, so it is thrown only after the transaction.
  if (!outcome.accepted) throw refusal(outcome);
  const { countsFor } = outcome;
  return {
    ...outcome,
    countsFor: countsFor.slice(0, NAMED_MOST),
    countsForCount: countsFor.length,
  };
}

const STATUS_OF: Readonly<Record<SignedRefusal["code"], 403 | 409 | 422>> = {
  "run-ended": 409,
  "plan-only": 409,
  "no-plan": 409,
  "stale-plan": 409,
  "unknown-payable": 422,
  "may-be-paid": 409,
  launcher: 403,
  "playbook-author": 403,
  "launchers-token": 403,
  "role-missing": 403,
  "stage-not-open": 409,
  "counted-before": 403,
  "sign-in-too-old": 403,
  "bank-change-unverified": 422,
  "nothing-left": 409,
  malformed: 422,
  "unknown-key": 403,
  "bad-signature": 403,
  "wrong-principal": 403,
  foreign: 403,
  expired: 403,
  "not-yet-valid": 403,
  "lives-too-long": 422,
  replayed: 409,
};

/** A refused decision as the API answers it. */
export function refusal(outcome: DecisionRefusal | SignedRefusal): GatewayError {
  const { code, reason } = outcome;
  const vendors = "contactIds" in outcome ? { contactIds: outcome.contactIds } : {};
  const details = { accepted: false, ...vendors };
  return new GatewayError(
    STATUS_OF[code],
    code.replaceAll("-", "_"),
    `Refused: ${reason}.`,
    details,
  );
}
