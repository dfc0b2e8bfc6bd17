import { definedOnly } from "../contracts/defined-only.ts";
import { DECIDABLE, SENT } from "../contracts/pay-run.ts";
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
import type { Deciding } from "./deciding.ts";

/** The effect of a decision. */
export interface EffectOfApproval {
  /** Bills that go out because of it. */
  readonly goesOut: BillSum;
  /** Bills whose day has passed: some of `goesOut`, or others if the new day must be approved. */
  readonly newDates?: NewDates | undefined;
  /** Bills that nothing but a hold keeps from going out. */
  readonly held: BillSum;
  /** Bills that are approved and not sent, because their vendor has changed; missing for none. */
  readonly notSent?: readonly NotSent[];
  /** The approvals that the remaining bills wait for. */
  readonly missing: readonly WaitingLines[];
  /** How a restored store sends; missing if nothing was lost since the plan. */
  readonly sends?: SendsAfter | undefined;
  /** The same in a sentence. */
  readonly summary: string;
}

/** Computes the effect of a decision that was just stored. */
export async function effectOf(db: Db, deciding: Deciding): Promise<EffectOfApproval> {
  const { run, request, principal, clock, others = new Map() } = deciding;
  if (request.decision === "reject") {
    const summary = `Nothing more of it is paid.${await sentText(db, deciding)}`;
    return { goesOut: NOTHING, held: NOTHING, missing: [], summary };
  }
  const { runId, playbook, businessId } = run;
  const holds = await activeHolds(db, businessId, Math.floor(clock.businessMs));
  const missing = new WaitingSums();
  const notSent = new NotSentSums();
  let [goesOut, held] = [NOTHING, NOTHING];
  let newDates: NewDates | undefined;
  const dates = { policy: run.policy, plannedAtMs: run.plannedAtMs ?? 0 };
  const grouping = {
    ...{ states: DECIDABLE, businessMs: clock.businessMs, holds },
    earliest: earliestDate(clock),
    ...apartBy(others),
  };
  for (const { planned, under, bills, firstDate } of await approvalGroups(db, runId, grouping)) {
    const { line } = planned;
    const lacks = missingOf(under);
    if (lacks !== null) {
      // A hold keeps it back, and it still needs those approvals.
      if (line.state !== "planned") missing.add(lacks, bills);
    } else if (hasApproved(under, principal)) {
      const hold = holdOn(holds, { ...line, runId, playbook });
      if (line.state === "on-hold" || hold !== undefined) {
        held = plus(held, bills);
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
    held,
    ...notSent.shown(),
    missing: missing.all(),
  };
  const sent = request.drop.length === 0 ? "" : await sentText(db, deciding);
  return { ...effect, summary: `${effectText(effect)}${sent}` };
}

/** Says what a rejection, or leaving bills out, can't recall; empty for nothing. */
async function sentText(db: Db, { run, request }: Deciding): Promise<string> {
  const { decision, drop } = request;
  const about = decision === "reject" ? undefined : drop;
  const count = await countIn(db, run.runId, SENT, about);
  if (count === 0) return "";
  const what = `${counted(count, "bill")} that the service has already ${count === 1 ? "is" : "are"} not sent again, and not recalled`;
  return ` ${what}: payrun stop --run ${shellWord(shortName(run.runId))} --cancel-scheduled --reason WHY cancels what can be cancelled of the run.`;
}
