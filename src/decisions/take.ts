import { RUN_DECIDED, wakesOf } from "../domain/facts/decisions.ts";
import { wakeUp } from "../domain/facts/fact.ts";
import { record } from "../store/facts/record.ts";
import { approvedBy } from "../store/approvals/line-approvals.ts";
import type { Transaction } from "kysely";
import { LINE } from "../contracts/line-states.ts";
import {
  judgeDecision,
  refusalOfRequest,
  type CountedLine,
  type DecisionVerdict,
} from "../domain/approvals/policy.ts";
import { leavingOutText } from "../domain/approvals/share-texts.ts";
import { rolesOfRule } from "../domain/approvals/rules.ts";
import { principalOf } from "../contracts/principal.ts";
import { spokenTime } from "../domain/clock/spoken.ts";
import { sumCents } from "../domain/money.ts";
import { type EffectOfApproval, effectOf, notRecalledText } from "./effect.ts";
import { hurryIn, notifyOfHurry } from "./hurry.ts";
import { decidableLines, type LineToDecide } from "../store/lines/decidable-lines.ts";
import { getRunLines } from "../store/lines/lines.ts";
import { decisionsOfRun, recordDecision, type Decision } from "../store/approvals/decisions.ts";
import type { Tables } from "../store/index.ts";
import { openSubjects } from "../store/payables/open-subjects.ts";
import type { Run } from "../store/runs/runs.ts";
import {
  asJudged,
  askingFreshSignIn,
  askingHowVerified,
  type Decider,
  type Deciding,
  type DecisionRequest,
  judgedAs,
  judgedBy,
  recordRefused,
} from "./deciding.ts";

export interface DecisionAnswer extends EffectOfApproval {
  readonly accepted: true;
  readonly decision: "approve" | "reject";
  readonly countsFor: readonly string[];
  readonly dropped: readonly string[];
  /** What leaving bills out means for the next run; missing if the service has each of them. */
  readonly leftOut?: string;
  /** Bills that it doesn't count for yet, because an earlier stage is open; missing for none. */
  readonly tooEarly?: readonly string[];
  /** ISO instant at which the same person made the same decision; present if nothing is new. */
  readonly alreadySince?: string;
}

export type DecisionRefusal = Extract<DecisionVerdict, { accepted: false }>;

/**
 * Refusals that don't apply to a repeated decision: its work has been done meanwhile, or its lines
 * have been planned anew.
 */
const DONE_SINCE: readonly DecisionRefusal["code"][] = [
  "nothing_left",
  "run_ended",
  "counted_before",
  "stale_plan",
];

/**
 * Judges a decision on a run and stores it; a refused one is recorded in the trail alone.
 *
 * Deciding the same twice is one decision. The run is signaled to look.
 */
export async function takeDecision(
  trx: Transaction<Tables>,
  deciding: Deciding,
): Promise<DecisionAnswer | DecisionRefusal> {
  const { run, request, principal, clock } = deciding;
  const { runId } = run;
  const earlier = await sameBefore(trx, run, request, principal, clock.businessMs);
  const alreadyOut = new Set(earlier?.dropped ?? []);
  const input = {
    decision: {
      kind: request.decision,
      planHash: request.planHash,
      drop: request.drop.filter((payableId) => !alreadyOut.has(payableId)),
    },
    ...(await judgedBy(trx, deciding)),
  };
  const early = refusalOfRequest(input, run.policy.approve.flatMap(rolesOfRule));
  if (early !== undefined && earlier === undefined) return take(trx, deciding, early);
  const lines = await decidableLines(trx, runId, LINE.decidable, Math.floor(clock.businessMs));
  const sent = await sentLines(trx, deciding, lines);
  const verdict = judgeDecision({
    ...input,
    lines,
    sent,
    paid: await paidLines(trx, deciding, [...lines, ...sent]),
    mayStillPay: await openSubjects(trx, run.businessId, request.drop),
  });
  if (earlier !== undefined && saysNothingNew(verdict, principal)) {
    await record(trx, wakeUp(run.businessId, ...wakesOf({ ...earlier, subject: runId })));
    const countsFor = await approvedBy(trx, earlier);
    const said = await answer(trx, deciding, { countsFor, dropped: earlier.dropped });
    const did = request.decision === "approve" ? "approved" : "rejected";
    return {
      ...said,
      alreadySince: new Date(earlier.decidedAtMs).toISOString(),
      summary: `You had ${did} this already, on ${spokenTime(earlier.decidedAtMs, clock.zone)}: nothing is new. ${isOpen(said) ? said.summary : `No bill of it waits for an approval.${notRecalledText(run, said.notRecalledCount)}`}`,
    };
  }
  const approved = linesOf(lines, verdict);
  const amountCents = sumCents(approved.map((line) => line.amountCents));
  const changes = approved.flatMap(({ bankChange }) => bankChange ?? []);
  const verified = askingHowVerified(deciding, verdict, changes);
  return take(trx, deciding, askingFreshSignIn(deciding, verified, amountCents));
}

/** Returns the lines that were sent, as far as a decision may be about them. */
async function sentLines(
  trx: Transaction<Tables>,
  { run, request, clock }: Deciding,
  open: readonly LineToDecide[],
): Promise<LineToDecide[]> {
  const known = new Set(open.map(({ payableId }) => payableId));
  const isAbout = request.decision === "reject" || request.drop.some((id) => !known.has(id));
  if (!isAbout) return [];
  return decidableLines(trx, run.runId, LINE.stoppable, Math.floor(clock.businessMs));
}

/** Returns the bills to leave out that were sent and whose payments have ended. */
async function paidLines(
  trx: Transaction<Tables>,
  { run, request }: Deciding,
  open: readonly LineToDecide[],
): Promise<ReadonlySet<string>> {
  const known = new Set(open.map(({ payableId }) => payableId));
  const others = request.drop.filter((id) => !known.has(id));
  const lines = others.length === 0 ? [] : await getRunLines(trx, run.runId, others);
  const paid = lines.filter(({ state }) => LINE.paymentEnded.includes(state));
  return new Set(paid.map(({ payableId }) => payableId));
}

/** Returns the lines that a decision counts for. */
function linesOf(lines: readonly LineToDecide[], verdict: DecisionVerdict) {
  if (!verdict.accepted) return [];
  const counted = new Set(verdict.countsFor.map(({ payableId }) => payableId));
  return lines.filter(({ payableId }) => counted.has(payableId));
}

/** True if a decision still has something to bring about. */
function isOpen({ goesOut, newDates, onHold, notSent = [], missing }: EffectOfApproval): boolean {
  return (
    goesOut.count + onHold.count + notSent.length + missing.length > 0 || newDates !== undefined
  );
}

/** True if repeating a decision changes nothing; it does if a stage has opened since. */
function saysNothingNew(verdict: DecisionVerdict, { name }: Decider): boolean {
  if (!verdict.accepted) return DONE_SINCE.includes(verdict.code);
  const me = principalOf(name);
  return verdict.countsFor.every(
    ({ staged }) =>
      staged === undefined || staged.approvals.some(({ principal }) => principal === me),
  );
}

async function take(
  trx: Transaction<Tables>,
  deciding: Deciding,
  verdict: DecisionVerdict,
): Promise<DecisionAnswer | DecisionRefusal> {
  const { run, request, principal, nowMs, proof } = deciding;
  const { runId } = run;
  if (!verdict.accepted) {
    await recordRefused(trx, deciding, verdict, runId);
    return verdict;
  }
  const hurry = verdict.countsFor.length === 0 ? null : await hurryIn(trx, deciding);
  const recorded = await recordDecision(trx, {
    runId,
    planHash: request.planHash,
    dropped: verdict.dropped,
    ...asJudged(deciding, verdict),
    hurried: hurry !== null && run.policy.hurry?.needsAnother === true,
  });
  if (hurry !== null) await notifyOfHurry(trx, deciding, { ...recorded, hurry });
  await record(
    trx,
    RUN_DECIDED[request.decision](
      { businessId: run.businessId, nowMs, by: principal.name, subject: runId },
      {
        decisionId: recorded.decisionId,
        ...judgedAs(deciding),
        planHash: request.planHash,
        lines: verdict.countsFor.length,
        dropped: recorded.dropped,
        ...stagesOf(verdict.countsFor),
        ...(hurry === null ? {} : { hurry }),
        ...verifiedBy(request),
        ...proof,
      },
    ),
  );
  const countsFor = verdict.countsFor.map((line) => line.payableId);
  const { tooEarly } = verdict;
  const effect = { countsFor, dropped: recorded.dropped, ...(tooEarly && { tooEarly }) };
  return answer(trx, deciding, effect);
}

/**
 * Returns, for the audit trail, how changed bank accounts were verified, if the decision says so.
 */
function verifiedBy({ verifiedBankChanges = [] }: DecisionRequest) {
  return verifiedBankChanges.length === 0 ? {} : { verifiedBankChanges };
}

/**
 * Returns, for the audit trail, the stages in which an approval counts, from 1, with the number of
 * bills.
 */
function stagesOf(lines: readonly CountedLine[]) {
  const stages: Record<string, { lines: number; escalated: number }> = {};
  for (const { stage, escalated, staged } of lines) {
    if (stage === undefined || staged === undefined) continue;
    const of = (stages[`${stage + 1} of ${staged.stages.length}`] ??= { lines: 0, escalated: 0 });
    of.lines += 1;
    if (escalated === true) of.escalated += 1;
  }
  return Object.keys(stages).length === 0 ? {} : { stages };
}

/**
 * Returns the decision by which the principal has said exactly this before, if it is still valid.
 */
async function sameBefore(
  trx: Transaction<Tables>,
  run: Run,
  request: DecisionRequest,
  principal: Decider,
  businessNowMs: number,
): Promise<Decision | undefined> {
  const wanted = [...new Set(request.drop)].sort().join("\n");
  const verified = JSON.stringify(request.verifiedBankChanges ?? []);
  const decisions = await decisionsOfRun(trx, run.runId, principal.tokenId);
  return decisions.find(
    (decision) =>
      decision.outcome === "accepted" &&
      decision.decision === request.decision &&
      decision.planHash === request.planHash &&
      decision.principal === principalOf(principal.name) &&
      decision.expiresAtMs > businessNowMs &&
      JSON.stringify(decision.bankChanges) === verified &&
      decision.dropped.toSorted().join("\n") === wanted,
  );
}

async function answer(
  trx: Transaction<Tables>,
  deciding: Deciding,
  said: Pick<DecisionAnswer, "countsFor" | "dropped" | "tooEarly">,
): Promise<DecisionAnswer> {
  const { decision } = deciding.request;
  const unsent = await unsentOf(trx, deciding.run, said.dropped);
  const leftOut = unsent.length === 0 ? {} : { leftOut: leavingOutText(unsent) };
  return { accepted: true, decision, ...said, ...leftOut, ...(await effectOf(trx, deciding)) };
}

/** Returns the bills that leaving out keeps out of the run: the service has none of them yet. */
async function unsentOf(
  trx: Transaction<Tables>,
  { runId }: Run,
  dropped: readonly string[],
): Promise<string[]> {
  if (dropped.length === 0) return [];
  const lines = await getRunLines(trx, runId, dropped);
  const sent = new Set(
    lines.filter(({ state }) => LINE.sent.includes(state)).map(({ payableId }) => payableId),
  );
  return dropped.filter((payableId) => !sent.has(payableId));
}
