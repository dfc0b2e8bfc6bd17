import { DEPOSIT_DECIDED, depositDecisionRefused } from "../domain/facts/decisions.ts";
import { record } from "../store/facts/record.ts";
import type { Transaction } from "kysely";
import { missingText } from "../domain/approvals/share-texts.ts";
import { judgeTopUpDecision } from "../domain/approvals/top-up.ts";
import { NOTHING } from "../domain/counted.ts";
import { afterText } from "../domain/goes-out.ts";
import { formatUsd } from "../domain/money.ts";
import { sendsAfter } from "../ledger/after-loss.ts";
import { recordDecision } from "../store/approvals/decisions.ts";
import type { Tables } from "../store/index.ts";
import { approversOfTopUp } from "../store/deposits/deposit-approvals.ts";
import { differenceOfTopUp } from "../store/deposits/deposit-in-trail.ts";
import { changeTopUp, openTopUpsOf, type TopUp } from "../store/deposits/deposits.ts";
import {
  asJudged,
  askingFreshSignIn,
  type Deciding,
  judgedAs,
  judgedBy,
  recordRefused,
} from "./deciding.ts";
import { takeRecords } from "./take-records.ts";
import { type DecisionAnswer, type DecisionRefusal, takeDecision } from "./take.ts";

/** Takes a decision about a run's bills, or about the deposit or the changed records that it names. */
export function takeAnyDecision(
  trx: Transaction<Tables>,
  deciding: Deciding,
): Promise<DecisionAnswer | DecisionRefusal> {
  const { topUpHash, confirmedRecords } = deciding.request;
  if (confirmedRecords !== undefined) return takeRecords(trx, deciding, confirmedRecords);
  if (topUpHash === undefined) return takeDecision(trx, deciding);
  return takeTopUpDecision(trx, deciding, { owner: deciding.run.runId, hash: topUpHash });
}

/**
 * Judges a decision about a deposit and stores it. It is stored under the deposit's own name, so
 * that it never counts for a bill, nor a bill's decision for the deposit.
 *
 * @param about `owner`: the run or incident that requests the deposit; `hash`: the deposit that was
 * looked at
 */
export async function takeTopUpDecision(
  trx: Transaction<Tables>,
  deciding: Deciding,
  about: { readonly owner: string; readonly hash: string },
): Promise<DecisionAnswer | DecisionRefusal> {
  const { run, request, principal, nowMs, proof } = deciding;
  const open = await openTopUpsOf(trx, about.owner);
  const topUp = open.find(({ hash }) => hash === about.hash) ?? open.at(-1);
  const by = await judgedBy(trx, deciding);
  const differs = by.run.differs ?? (topUp && (await differenceOfTopUp(trx, topUp))) ?? null;
  const judged = judgeTopUpDecision({
    decision: { kind: request.decision, hash: about.hash },
    ...by,
    run: { ...by.run, differs },
    topUp: topUp && {
      ...topUp,
      proposed: topUp.state === "proposed",
      unclear: topUp.reasonCode === "unclear",
    },
  });
  const verdict = askingFreshSignIn(deciding, judged, topUp?.amountCents ?? 0);
  const subject = topUp?.subject ?? about.owner;
  if (!verdict.accepted) {
    await recordRefused(trx, deciding, verdict, subject, depositDecisionRefused);
    return verdict;
  }
  const recorded = await recordDecision(trx, {
    runId: subject,
    planHash: about.hash,
    dropped: [],
    ...asJudged(deciding, verdict),
  });
  await record(
    trx,
    DEPOSIT_DECIDED[request.decision](
      { businessId: run.businessId, nowMs, by: principal.name, subject },
      {
        decisionId: recorded.decisionId,
        ...judgedAs(deciding),
        hash: about.hash,
        quorums: [topUp?.quorum],
        amountCents: topUp?.amountCents,
        fromLast4: topUp?.account.last4 ?? null,
        ...proof,
      },
      { owner: about.owner },
    ),
  );
  if (topUp === undefined) {
    return { accepted: false, code: "nothing_left", reason: "no deposit waits for a decision" };
  }
  await changeTopUp(trx, topUp, ["proposed"], { notBeforeMs: 0, reason: null }, nowMs);
  if (request.decision === "reject") await refuseTopUp(trx, topUp, principal.name, deciding);
  return answer(trx, topUp, deciding);
}

/**
 * Ends the request: the same run makes no further one. A deposit without an answer is left to the
 * person who looked.
 */
async function refuseTopUp(
  trx: Transaction<Tables>,
  topUp: TopUp,
  by: string,
  { clock, nowMs }: Deciding,
): Promise<void> {
  const reason = `Refused by ${by}.`;
  const change = { state: "refused", reason, reasonCode: null, sinceMs: clock.businessMs } as const;
  await changeTopUp(trx, topUp, ["proposed", "sending"], change, nowMs);
}

async function answer(
  trx: Transaction<Tables>,
  topUp: TopUp,
  { request, clock }: Deciding,
): Promise<DecisionAnswer> {
  const { approvers: by, quorum, amountCents: totalCents, subject } = topUp;
  const approvedBy = await approversOfTopUp(trx, topUp, Math.floor(clock.businessMs));
  const approvals = approvedBy.length;
  const isOpen = request.decision === "approve" && approvals < quorum;
  const missing = isOpen ? [{ by, quorum, approvals, lines: 1, totalCents }] : [];
  const deposit = `The deposit of ${formatUsd(totalCents)}`;
  const sends = await sendsAfter(trx, topUp.businessId, clock);
  const becomes = request.decision === "approve" ? `is made${afterText(sends)}` : "is not made";
  const [open] = missing;
  return {
    accepted: true,
    decision: request.decision,
    countsFor: request.decision === "approve" ? [subject] : [],
    dropped: [],
    goesOut: NOTHING,
    onHold: NOTHING,
    missing,
    summary: `${deposit} ${open === undefined ? becomes : `needs ${missingText(open)}`}.`,
  };
}
