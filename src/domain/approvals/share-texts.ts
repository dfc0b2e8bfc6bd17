import { type BillSum, counted, waits } from "../counted.ts";
import { spokenDate } from "../clock/spoken.ts";
import { afterLossText, afterText, type SendsAfter } from "../goes-out.ts";
import { inSentence } from "../../contracts/in-sentence.ts";
import { formatUsd } from "../money.ts";
import type { MoneyReach } from "./money-reach.ts";
import type { ApprovalShare, MissingApproval, NewDates, NotSent, WaitingLines } from "./share.ts";

/**
 * Says what a person's approval would do, before they give it: `Your approval lets 54 bills,
 * $80,397.13, go out; it is one of 2 for 4 bills, $9,120.00, and counts for none of 1 bill,
 * $30,000.00, which needs the owner.`
 *
 * @param money how far the money of their account reaches; missing if it covers all of them, or if
 * that is unknown
 */
export function shareText(
  share: ApprovalShare,
  {
    money,
    sends,
  }: { readonly money?: MoneyReach | undefined; readonly sends?: SendsAfter | undefined } = {},
): string {
  const { goesOut, newDates, onHold, notSent = [], oneOfSeveral, given, none } = share;
  const others = notSent.map((bills) => ` ${notSentText(bills)}`).join("");
  const does = [
    ...(goesOut.count === 0
      ? []
      : [
          `lets ${sumText(goesOut)}, go out${afterText(sends)}${reachText(money)}${movedText(goesOut, newDates)}`,
        ]),
    ...(newDates?.asksAgain === true
      ? [`only moves ${sumText(newDates)}, ${to(newDates)}, which asks for an approval again`]
      : []),
    ...(onHold.count === 0
      ? []
      : [`covers ${sumText(onHold)}, on hold${oneOfSeveral.length > 0 ? "," : ""}`]),
    ...oneOfSeveral.map((group) => `is one of ${group.quorum} for ${sumText(sumOf([group]))}`),
  ];
  const doesNot = [
    ...(given.length === 0 ? [] : [`you have approved ${othersText(given)}`]),
    ...(none.length === 0 ? [] : [`it counts for none of ${othersText(none)}`]),
  ];
  if (does.length > 0) {
    return `Your approval ${[inSentence(does), ...doesNot].join("; ")}.${whyAfter(goesOut, sends)}${others}`;
  }
  if (others !== "" && doesNot.length === 0) return `Your approval lets no bill go out.${others}`;
  if (doesNot.length === 0) return "No bill of it waits for an approval.";
  return `Your approval lets no bill go out: ${doesNot.join("; ")}.${others}`;
}

/** Says which bills wait, and for whom: `1 bill, $30,000.00, which needs the owner`. */
function othersText(groups: readonly WaitingLines[]): string {
  const [first] = groups;
  const sum = sumText(sumOf(groups));
  if (first !== undefined && groups.length === 1) return `${sum}, which ${needs(first)}`;
  return `${sum}: ${eachNeeds(groups)}`;
}

/**
 * Says what an approval did: `54 bills, $80,397.13, go out; 4 need a second person (controller or
 * owner), 1 needs the owner.`
 */
export function effectText(effect: {
  readonly goesOut: BillSum;
  readonly newDates?: NewDates | undefined;
  readonly onHold: BillSum;
  readonly notSent?: readonly NotSent[] | undefined;
  readonly missing: readonly WaitingLines[];
  /**
   * How far the money of their account reaches; missing if it covers all of them, or if that is
   * unknown.
   */
  readonly money?: MoneyReach | undefined;
  readonly sends?: SendsAfter | undefined;
}): string {
  const { goesOut, newDates, onHold, notSent = [], missing, money, sends } = effect;
  const isAll =
    newDates?.asksAgain !== true && onHold.count + notSent.length + missing.length === 0;
  const out =
    goesOut.count === 0
      ? `No bill goes out by it${isAll ? "" : " yet"}`
      : `${sumText(goesOut)}, ${goText(goesOut.count, money, sends)}${movedText(goesOut, newDates)}`;
  const moves =
    newDates?.asksAgain === true
      ? [
          `${sumText(newDates)}, ${newDates.count === 1 ? "moves" : "move"} ${to(newDates)}, and an approval is asked for again`,
        ]
      : [];
  const stays =
    onHold.count === 0
      ? []
      : [`${sumText(onHold)}, ${onHold.count === 1 ? "stays" : "stay"} on hold`];
  const rest = eachNeeds(missing);
  const why = money === "none" ? "" : whyAfter(goesOut, sends);
  const others = notSent.map((bills) => ` ${notSentText(bills)}`).join("");
  return `${[out, ...moves, ...stays, ...(rest === "" ? [] : [rest])].join("; ")}.${why}${others}`;
}

/**
 * Says what leaving bills out means for the next run, and how to keep them out of it.
 *
 * @param payableIds those that were left out; not empty
 */
export function leavingOutText(payableIds: readonly string[]): string {
  const [only = "BILL", ...others] = payableIds;
  const isOne = others.length === 0;
  const are = isOne ? "is" : "are";
  const next = nextAfterLeavingOut(isOne ? "it" : "one", isOne ? only : "BILL");
  return `${counted(payableIds.length, "bill")} ${are} left out of this run only. ${next}`;
}

/**
 * Says how the next plan treats a bill that was left out.
 *
 * @param it what stands for the bill
 * @param bill how the command names it
 */
export function nextAfterLeavingOut(it: "it" | "one", bill: string): string {
  return `As long as ${it} isn't paid, the next plan has it again, flagged rejected-before; payrun hold ${bill} --reason WHY puts it on hold.`;
}

/**
 * Says which bills are not sent, and why:
 * `1 bill, $30.00, doesn't go out. Acme can't be paid by ACH now: …`
 */
export function notSentText({ text, ...bills }: NotSent): string {
  return `${sumText(bills)}, ${bills.count === 1 ? "doesn't" : "don't"} go out. ${text}`;
}

function goText(
  bills: number,
  money: MoneyReach | undefined,
  sends: SendsAfter | undefined,
): string {
  if (money === "none") return `${waits(bills)} for money`;
  return `${bills === 1 ? "goes" : "go"} out${afterText(sends)}${reachText(money)}`;
}

function reachText(money: MoneyReach | undefined): string {
  return money === undefined ? "" : " as far as the money reaches";
}

function whyAfter(goesOut: BillSum, sends: SendsAfter | undefined): string {
  const why = afterLossText(sends);
  return goesOut.count === 0 || why === "" ? "" : ` ${why}`;
}

/**
 * Says on which new date bills go out: ` (2 of them on Mon, Nov 30: their day has passed)`, or
 * without `2 of them` if all do. Empty if the new date needs an approval first.
 */
function movedText(goesOut: BillSum, newDates: NewDates | undefined): string {
  if (newDates === undefined || newDates.asksAgain) return "";
  const { count, executionDate } = newDates;
  const some = count < goesOut.count ? `${count.toLocaleString("en-US")} of them ` : "";
  return ` (${some}on ${spokenDate(executionDate)}: ${dayHasPassed(count)})`;
}

function dayHasPassed(count: number): string {
  return `${count === 1 ? "its" : "their"} day has passed`;
}

/** Says to which date bills move, and why: `to Mon, Nov 30, because their day has passed`. */
function to({ count, executionDate }: NewDates): string {
  return `to ${spokenDate(executionDate)}, because ${dayHasPassed(count)}`;
}

/** Formats a sum of bills: `54 bills, $80,397.13`. */
function sumText({ count, cents }: BillSum): string {
  return `${counted(count, "bill")}, ${formatUsd(cents)}`;
}

function sumOf(groups: readonly WaitingLines[]): BillSum {
  return {
    count: groups.reduce((sum, { lines }) => sum + lines, 0),
    cents: groups.reduce((sum, { totalCents }) => sum + totalCents, 0),
  };
}

/**
 * Says what each group needs: `4 need a second person (controller or owner), 1 needs the owner`.
 */
function eachNeeds(groups: readonly WaitingLines[]): string {
  return groups.map((group) => `${group.lines.toLocaleString("en-US")} ${needs(group)}`).join(", ");
}

function needs(group: WaitingLines): string {
  if (group.aboutRecord === true) {
    return `${group.lines === 1 ? "waits" : "wait"} until ${missingText(group)}`;
  }
  return `${group.lines === 1 ? "needs" : "need"} ${missingText(group)}`;
}

/**
 * Says whose approval a bill waits for: `the owner`, `a second person (controller or owner)`,
 * `2 people of owner`.
 */
export function missingText(missing: MissingApproval): string {
  const { by, quorum, approvals, stage, stages } = missing;
  const roles = by.join(" or ");
  if (missing.aboutRecord === true) return `the ${roles} says whether the account is still right`;
  const left = quorum - approvals;
  const of = stage === undefined ? "" : ` (stage ${stage} of ${stages})`;
  if (quorum === 1) return `the ${roles}${of}`;
  if (approvals === 0) return `${quorum} people of ${roles}${of}`;
  const ordinal = ORDINALS[approvals - 1];
  const who = left === 1 && ordinal !== undefined ? `a ${ordinal} person` : `${left} more people`;
  return `${who} (${roles})${of}`;
}

const ORDINALS = ["second", "third", "fourth", "fifth"];
