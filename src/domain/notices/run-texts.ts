import { emptyPlanText } from "../planning/left-out.ts";
import type { LineState } from "../../contracts/line-states.ts";
import type { RunPhase } from "../../contracts/pay-run.ts";
import { type ApprovalAsk, askedRoles } from "../approvals/asks.ts";
import { spokenDeadline } from "../clock/spoken.ts";
import { wordCommand } from "../approvals/changed-records.ts";
import { billsOf, type BillSum, counted, plus, waits, NOTHING } from "../counted.ts";
import { formatUsd, sumCents } from "../money.ts";
import { shownAmount, centsInState, type LineInParts } from "../payments/line-parts.ts";
import type { OffCycle } from "../off-cycle.ts";
import { waysOut } from "../planning/ways-out.ts";
import { wouldHavePaid } from "../plan-only.ts";

/** A notice's subject and text; other code decides who gets it and when. */
export interface NoticeText {
  readonly subject: string;
  readonly text: string;
}

/** The fields of a run that notices mention. */
export interface RunName {
  readonly runId: string;
  readonly playbook: string;
  readonly period: string;
}

/**
 * Sums by state as people see them: bills that the next run plans are separate from parked ones.
 */
export type ShownSums = ReadonlyMap<LineState | "given-back", BillSum>;

export interface DecideBy {
  /** ISO instant after which approving changes the dates, or null. */
  readonly decideBy: string | null;
  readonly zone?: string | undefined;
}

/** Says until when people should decide, in the words of every notice that requests a decision. */
export function deadlineLines({ decideBy, zone }: DecideBy): string[] {
  if (decideBy === null) return [];
  return [`Decide by ${spokenDeadline(decideBy, { zone })}: after that, payment dates change.`];
}

interface Asked extends DecideBy {
  /** What each approval covers. */
  readonly asks: readonly ApprovalAsk[];
}

/** Bills that a notice names: their number, and the first ones with what there is to say. */
export interface ListedBills {
  readonly count: number;
  readonly first: readonly NoticedBill[];
}

/**
 * Writes a line for each approval that is requested: `An approval by controller or owner counts for
 * 55 bills, $12,345.67.`
 */
function coverLines(asks: readonly ApprovalAsk[]): string[] {
  const approvals = asks.filter(({ asksRecord }) => !asksRecord);
  return approvals.map(
    (ask) =>
      `An approval by ${askedRoles(ask).join(" or ")} counts for ${bills(ask.count)}, ${formatUsd(ask.cents)}${ask.quorum > 1 ? `: ${ask.quorum} people are needed` : ""}${ask.stages === 1 ? "" : ` (stage ${ask.stage + 1} of ${ask.stages})`}.`,
  );
}

/** Sums the approved bills that wait only for a word about their vendors' accounts. */
export function waitForWord(asks: readonly ApprovalAsk[]): BillSum {
  return asks
    .filter(({ asksRecord }) => asksRecord)
    .reduce<BillSum>((sum, { count, cents }) => plus(sum, { count, cents }), NOTHING);
}

function wordLines({ runId }: RunName, asks: readonly ApprovalAsk[]): string[] {
  const words = waitForWord(asks);
  if (words.count === 0) return [];
  return [
    `${bills(words.count)} of ${formatUsd(words.cents)} ${waits(words.count)} only for one word, whether the vendor's account is still right: ${wordCommand(runId)}`,
  ];
}

/** @param waiting the bills that wait for an approval, without those that wait only for a word */
export function approvalNeeded(
  run: RunName,
  waiting: BillSum,
  {
    asks,
    again,
    refused,
    ...until
  }: Asked & { readonly again: ListedBills; readonly refused: ListedBills },
): NoticeText {
  const areAllAgain = again.count === waiting.count;
  return {
    subject: `${run.playbook} ${run.period}: ${bills(waiting.count)} of ${formatUsd(waiting.cents)} ${waits(waiting.count)} for approval${areAllAgain ? " again" : ""}`,
    text: [
      `Run ${run.runId} has a plan that waits for approval.`,
      ...deadlineLines(until),
      ...coverLines(asks),
      ...wordLines(run, asks),
      ...(again.count === 0 ? [] : ["Asked about again:", ...listed(again.first, again.count)]),
      ...(refused.count === 0
        ? []
        : ["Rejected or left out before:", ...listed(refused.first, refused.count)]),
      ...howTo(run),
    ].join("\n"),
  };
}

/** @param waiting as for `approvalNeeded` */
export function decideByNear(
  run: RunName,
  waiting: BillSum,
  { decideBy, zone, asks }: Asked & { readonly decideBy: string },
): NoticeText {
  const still = waiting.count === 1 ? "still waits" : "still wait";
  return {
    subject: `${run.playbook} ${run.period}: decide by ${spokenDeadline(decideBy, { zone })}`,
    text: [
      ...(waiting.count === 0
        ? []
        : [`${bills(waiting.count)} of ${formatUsd(waiting.cents)} ${still} for approval.`]),
      `After ${spokenDeadline(decideBy, { zone })} payment dates change.`,
      ...coverLines(asks),
      ...wordLines(run, asks),
      `Decide with: payrun approve ${run.runId}, or payrun reject ${run.runId}`,
    ].join("\n"),
  };
}

export interface NoticedBill extends LineInParts {
  readonly payableId: string;
  readonly amountCents: number;
  readonly reasonCode?: string | null;
  readonly reason: string | null;
}

export interface ParkedBill extends NoticedBill {
  readonly reasonCode: string | null;
  /** True if the next run plans it anew, without any action by a person. */
  readonly isGivenBack: boolean;
}

/** How many bills, or runs, a notice lists of each sort; the rest are counted. */
export const LISTED = 10;

export function parked(run: RunName, lines: readonly ParkedBill[]): NoticeText {
  const needing = lines.filter(({ isGivenBack }) => !isGivenBack);
  const givenBack = lines.filter(({ isGivenBack }) => isGivenBack);
  const subject =
    needing.length > 0
      ? `${sumOf(needing)} ${needing.length === 1 ? "needs" : "need"} a person`
      : `${sumOf(givenBack)} ${waits(givenBack.length)} for the next run`;
  return {
    subject: `${run.playbook} ${run.period}: ${subject}`,
    text: [
      ...(needing.length > 0
        ? [
            `Run ${run.runId} goes on without:`,
            ...listed(needing),
            ...waysOut(needing, "PAYABLE_ID").map((way) => `Act with: ${way}`),
          ]
        : []),
      ...(givenBack.length > 0
        ? [`Run ${run.runId} has given back, and the next run plans anew:`, ...listed(givenBack)]
        : []),
    ].join("\n"),
  };
}

function sumOf(lines: readonly ParkedBill[]): string {
  const cents = sumCents(lines.map(centsInState));
  return `${bills(lines.length)} of ${formatUsd(cents)}`;
}

export function listed(lines: readonly NoticedBill[], count = lines.length): string[] {
  const more = count - LISTED;
  return [
    ...lines
      .slice(0, LISTED)
      .map(
        (line) =>
          `- ${line.payableId}, ${shownAmount(line)}: ${line.reason ?? line.reasonCode ?? "no reason known"}`,
      ),
    ...(more > 0 ? [`- and ${more} more`] : []),
  ];
}

const ENDINGS: Readonly<Partial<Record<RunPhase, string>>> = {
  completed: "is complete",
  "completed-with-exceptions": "ended with exceptions",
  rejected: "was rejected",
  expired: "expired: it was not approved in time",
  cancelled: "was cancelled",
  failed: "could not be planned",
};

/**
 * Notifies that a run has ended.
 *
 * @param unpaid describes the outcome of a run that did not pay some of its bills; undefined if it
 * paid all
 * @param leftOut the number of bills that its plan left out, by code
 */
export function runEnded(
  run: RunName,
  phase: RunPhase,
  sums: ShownSums,
  unpaid?: string,
  leftOut: Readonly<Record<string, number>> = {},
): NoticeText {
  const settled = sums.get("settled");
  const paid = settled === undefined ? "" : `, ${formatUsd(settled.cents)} settled`;
  const lines = sumLines(sums);
  const isUnpaid = [...sums].every(([state, { count }]) => count === 0 || state === "cancelled");
  const held = leftOut["on_hold"] ?? 0;
  const nothing =
    lines.length > 0
      ? "has ended"
      : held === 0
        ? "had nothing to pay"
        : `paid nothing: ${counted(held, "bill")} on hold`;
  const ending =
    phase === "completed" && isUnpaid ? nothing : (ENDINGS[phase] ?? `ended: ${phase}`);
  return {
    subject: `${run.playbook} ${run.period} ${ending}${paid}${unpaid === undefined ? "" : `; ${unpaid}`}`,
    text: [
      lines.length === 0
        ? `Run ${run.runId} has no bills. ${emptyPlanText(leftOut)}`
        : `Run ${run.runId}:`,
      ...lines,
      `Full report: payrun report ${run.runId}`,
    ].join("\n"),
  };
}

/** Notifies of what a run that only plans would have paid. */
export function planMade(run: RunName, planned: BillSum = NOTHING): NoticeText {
  return {
    subject: `${run.playbook} ${run.period} ${wouldHavePaid(planned)}`,
    text: [
      `Run ${run.runId} has only planned: nobody is asked to approve it, and no money moves.`,
      `Look at its plan with: payrun show ${run.runId}`,
    ].join("\n"),
  };
}

/** @param offCycle the run's off-cycle request; null for a run of a period */
export function runFailedNotice(
  run: RunName,
  reason: string,
  offCycle: OffCycle | null,
): NoticeText {
  return {
    subject: `${run.playbook} ${run.period} ${ENDINGS.failed ?? ""}`,
    text: [
      `Run ${run.runId} paid nothing: ${reason}`,
      offCycle === null
        ? `Launch it again with: payrun launch ${run.playbook} --period ${run.period}`
        : `Request it again with: ${payCommand(run, offCycle)}`,
    ].join("\n"),
  };
}

/** Returns the command that repeats an off-cycle payment. */
function payCommand({ playbook }: RunName, { payableIds, amountCents }: OffCycle): string {
  const bills = payableIds.slice(0, LISTED).join(" ");
  const more = payableIds.length > LISTED ? " …" : "";
  const amount = amountCents === null ? "" : ` --amount ${(amountCents / 100).toFixed(2)}`;
  return `payrun pay ${bills}${more}${amount} --playbook ${playbook}`;
}

export function planWarned(run: RunName, warnings: readonly string[]): NoticeText {
  return {
    subject: `${run.playbook} ${run.period}: the plan has a warning`,
    text: [...warnings, `Run ${run.runId} was planned anyway.`].join("\n"),
  };
}

/** @param wait.sourceId the funding source that can't pay; empty for the whole business */
export function businessWaits(
  run: Pick<RunName, "runId">,
  wait: { readonly code: string; readonly message: string; readonly sourceId: string },
): NoticeText {
  const what = wait.sourceId === "" ? "the business" : `funding source ${wait.sourceId}`;
  return {
    subject: `Payments wait: the service refuses ${what} (${wait.code})`,
    text: [
      wait.message,
      `${run.runId} and everything else that needs it wait, and go on by themselves once it is fixed.`,
    ].join("\n"),
  };
}

/** Writes one line for each state with bills. */
export function sumLines(sums: ShownSums): string[] {
  return [...sums]
    .filter(([, { count, cents }]) => count + cents > 0)
    .map(([state, sum]) => `- ${state}: ${billsOf(sum)}, ${formatUsd(sum.cents)}`);
}

export function bills(count: number): string {
  return counted(count, "bill");
}

/** Says with which commands people look at a run and decide. */
export function howTo({ runId }: Pick<RunName, "runId">): string[] {
  return [
    `Look at it with: payrun show ${runId}`,
    `Decide with: payrun approve ${runId}, or payrun reject ${runId}`,
  ];
}
