import { definedOnly } from "../contracts/defined-only.ts";
import { LINE } from "../contracts/line-states.ts";
import {
  hasApproved,
  missingOf,
  type NewDates,
  type NotSent,
  NotSentSums,
  owesItTo,
  type WaitingLines,
  WaitingSums,
} from "../domain/approvals/share.ts";
import { effectText } from "../domain/approvals/share-texts.ts";
import { afterLossText, type SendsAfter } from "../domain/goes-out.ts";
import { type BillSum, counted, NOTHING, plus } from "../domain/counted.ts";
import { shellWord } from "../domain/shell-word.ts";
import { shortName } from "../contracts/workflow-kinds.ts";
import { earliestDate, newDateOf } from "../domain/planning/send-date.ts";
import { holdOn } from "../domain/holds.ts";
import { sendsAfter } from "../ledger/after-loss.ts";
import { activeHolds } from "../store/holds/holds.ts";
import type { Db } from "../store/index.ts";
import { countIn } from "../store/lines/line-counts.ts";
import { apartBy, approvalGroups } from "../store/lines/approval-groups.ts";
import type { Run } from "../store/runs/runs.ts";
import type { Deciding } from "./deciding.ts";

/** The effect of a decision. */
export interface EffectOfApproval {
  /** Bills that go out because of it. */
  readonly goesOut: BillSum;
  /** Bills whose day has passed: some of `goesOut`, or others if the new day must be approved. */
  readonly newDates?: NewDates | undefined;
  /** Bills that nothing but a hold keeps from going out. */
  readonly onHold: BillSum;
  /** Bills that are approved and not sent, because their vendor has changed; missing for none. */
  readonly notSent?: readonly NotSent[];
  /** The approvals that the remaining bills wait for. */
  readonly missing: readonly WaitingLines[];
  /** How a restored store sends; missing if nothing was lost since the plan. */
  readonly sends?: SendsAfter | undefined;
  /** How many of the bills that it rejects or leaves out the service has; missing for none. */
  readonly notRecalledCount?: number;
  /** The same in a sentence. */
  readonly summary: string;
}

/** Computes the effect of a decision that was just stored. */
export async function effectOf(db: Db, deciding: Deciding): Promise<EffectOfApproval> {
  const { run, request, principal, clock, others = new Map() } = deciding;
  const count = await countSent(db, deciding);
  const recalled = count === 0 ? {} : { notRecalledCount: count };
  if (request.decision === "reject") {
    const summary = `Nothing more of it is paid.${notRecalledText(run, count)}`;
    return { goesOut: NOTHING, onHold: NOTHING, missing: [], summary, ...recalled };
  }
  const { runId, playbook, businessId } = run;
  const holds = await activeHolds(db, businessId, Math.floor(clock.businessMs));
  const missing = new WaitingSums();
  const notSent = new NotSentSums();
  let [goesOut, onHold] = [NOTHING, NOTHING];
  let newDates: NewDates | undefined;
  const dates = { policy: run.policy, plannedAtMs: run.plannedAtMs ?? 0 };
  const grouping = {
    states: LINE.decidable,
    businessMs: clock.businessMs,
    holds,
    earliest: earliestDate(clock),
    ...apartBy(others),
  };
  for (const { planned, under, bills, firstDate } of await approvalGroups(db, runId, grouping)) {
    const { line } = planned;
    const lacks = missingOf(under);
    if (lacks !== null) {
      // A hold applies to it, and it still needs those approvals.
      if (line.state !== "planned") missing.add(lacks, bills);
    } else if (hasApproved(under, principal)) {
      const hold = holdOn(holds, { ...line, runId, playbook });
      if (line.state === "on-hold" || hold !== undefined) {
        onHold = plus(onHold, bills);
        continue;
      }
      // It would go out without this approval as well.
      if (!owesItTo(under, principal.name)) continue;
      const other = others.get(line.payableId);
      if (other !== undefined) {
        notSent.add(other, bills);
        continue;
      }
      const newDate = newDateOf(firstDate, dates, clock);
      if (newDate?.asksAgain !== true) goesOut = plus(goesOut, bills);
      if (newDate !== undefined) newDates = { ...newDate, ...plus(newDates ?? NOTHING, bills) };
    }
  }
  const sends = await sendsAfter(db, businessId, clock, run.plannedAtMs ?? 0);
  const effect = {
    goesOut,
    ...(afterLossText(sends) === "" ? {} : { sends }),
    ...definedOnly({ newDates }),
    onHold,
    ...notSent.shown(),
    missing: missing.all(),
  };
  return { ...effect, summary: `${effectText(effect)}${notRecalledText(run, count)}`, ...recalled };
}

/** Counts the bills that a decision rejects or leaves out, and that the service has already. */
async function countSent(db: Db, { run, request }: Deciding): Promise<number> {
  const { decision, drop } = request;
  if (decision === "approve" && drop.length === 0) return 0;
  return countIn(db, run.runId, LINE.sent, decision === "reject" ? undefined : drop);
}

/** Says what a rejection, or leaving bills out, can't recall; empty for nothing. */
export function notRecalledText(run: Pick<Run, "runId">, count = 0): string {
  if (count === 0) return "";
  const what = `${counted(count, "bill")} that the service has already ${count === 1 ? "is" : "are"} not sent again, and not recalled`;
  return ` ${what}: payrun stop --run ${shellWord(shortName(run.runId))} --cancel-scheduled --reason WHY cancels what can be cancelled of the run.`;
}
