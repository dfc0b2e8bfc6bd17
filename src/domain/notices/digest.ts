import type { LineState } from "../../contracts/line-states.ts";
import type { RunPhase } from "../../contracts/pay-run.ts";
import { bankingDayOnOrBefore, isBankingDay, nextBankingDay } from "../clock/bank-calendar.ts";
import { addDays } from "../clock/dates.ts";
import { newYorkDate, newYorkInstantMs, weekOf } from "../clock/new-york.ts";
import { formatUsd } from "../money.ts";
import { bills, type NoticeText, sumLines, type ShownSums } from "./run-texts.ts";

/** Start of the working day, in New York. */
const DIGEST_AT = "08:00";

export type DigestRhythm = "daily" | "weekly";

/**
 * Returns the date of the digest that is due by now: each banking day at 8:00 in New York, or the
 * first banking day of each week.
 */
export function digestDate(rhythm: DigestRhythm, businessMs: number): string {
  const today = newYorkDate(businessMs);
  const began = businessMs >= newYorkInstantMs(today, DIGEST_AT) ? today : addDays(today, -1);
  if (rhythm === "daily") return bankingDayOnOrBefore(began);
  const first = firstBankingDay(weekOf(began).monday);
  return began >= first ? first : firstBankingDay(addDays(weekOf(began).monday, -7));
}

function firstBankingDay(monday: string): string {
  return isBankingDay(monday) ? monday : nextBankingDay(monday);
}

export interface DigestedRun {
  readonly runId: string;
  readonly period: string;
  readonly phase: RunPhase;
  readonly waitingFor: string | null;
  readonly totalCents: number;
  readonly sums: ShownSums;
}

/**
 * Writes a playbook's digest.
 *
 * @param date the day whose state it describes
 * @param runs open runs, and those that ended since the last digest
 * @param end of the business's audit trail, which the notice's readers keep
 */
export function digest(
  playbook: string,
  date: string,
  runs: readonly DigestedRun[],
  end?: { readonly entries: number; readonly hash: string },
): NoticeText {
  const waiting = countOf(runs, "awaiting-approval");
  const parked = countOf(runs, "parked");
  const held = countOf(runs, "on-hold");
  const open = [
    ...(waiting > 0 ? [`${bills(waiting)} to approve`] : []),
    ...(parked > 0 ? [`${bills(parked)} to look at`] : []),
    ...(held > 0 ? [`${bills(held)} on hold`] : []),
  ];
  return {
    subject: `${playbook}, ${date}: ${open.length === 0 ? "nothing to do" : open.join(", ")}`,
    text: [
      ...runs.map(runText),
      ...(end === undefined
        ? []
        : [
            `The audit trail has ${end.entries} entries, to ${end.hash}. Later, payrun audit verify --head ${end.hash} shows whether it still has them.`,
          ]),
    ].join("\n\n"),
  };
}

function countOf(runs: readonly DigestedRun[], state: LineState): number {
  return runs.reduce((sum, { sums }) => sum + (sums.get(state)?.count ?? 0), 0);
}

function runText(run: DigestedRun): string {
  const waits = run.waitingFor === null ? [] : [`  waits for: ${run.waitingFor}`];
  return [
    `${run.period}, ${run.phase}, ${formatUsd(run.totalCents)} (${run.runId})`,
    ...waits,
    ...sumLines(run.sums).map((line) => `  ${line}`),
  ].join("\n");
}
