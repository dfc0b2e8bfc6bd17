import type { PayRunPlaybook } from "../../contracts/playbook.ts";
import type { NewDate } from "../approvals/share.ts";
import { addBankingDays, nextBankingDay } from "../clock/bank-calendar.ts";
import type { Clock } from "../clock/clock.ts";
import { newYorkDate, newYorkInstantMs } from "../clock/new-york.ts";

/** Real time allowed for a request to arrive, so that its date is still in the future. */
const ARRIVAL_MARGIN_MS = 5_000;

/** Returns the New York date on which a request sent now arrives. */
export function arrivalDate(clock: Clock): string {
  return newYorkDate(clock.businessMs + marginMs(clock));
}

/** Returns the earliest execution date that a request sent now may name: the next banking day. */
export function earliestDate(clock: Clock): string {
  return nextBankingDay(arrivalDate(clock));
}

/**
 * Returns the business-clock instant from which a request may name this execution date as the
 * earliest: the beginning of the banking day before it.
 */
export function requestFromMs(executionDate: string, clock: Clock): number {
  return newYorkInstantMs(addBankingDays(executionDate, -1), "00:00") - marginMs(clock);
}

/** By how much the business clock runs ahead of real time while a request arrives. */
function marginMs(clock: Clock): number {
  return clock.afterRealMs(ARRIVAL_MARGIN_MS) - clock.businessMs - ARRIVAL_MARGIN_MS;
}

/** True if a line whose execution date has passed needs a person's approval of a new one. */
export function asksForNewDate(
  plan: { readonly policy: Pick<PayRunPlaybook, "late">; readonly plannedAtMs: number },
  clock: Clock,
): boolean {
  if (plan.policy.late === "next-business-day") return false;
  // In the real time that people get, a decision is never late.
  return clock.realMs - plan.plannedAtMs >= clock.peopleMinMs;
}

/** Returns the date that replaces a line's own; undefined if its own can still be met. */
export function newDateOf(
  executionDate: string,
  plan: Parameters<typeof asksForNewDate>[0],
  clock: Clock,
): NewDate | undefined {
  const earliest = earliestDate(clock);
  if (executionDate >= earliest) return undefined;
  return { executionDate: earliest, asksAgain: asksForNewDate(plan, clock) };
}

/** Returns the only date that a request for a line may name now; null if people are asked first. */
export function lineDate(
  executionDate: string,
  run: {
    readonly policy: Pick<PayRunPlaybook, "late">;
    /** Null counts as long ago. */
    readonly plannedAtMs: number | null;
  },
  clock: Clock,
): string | null {
  const plan = { policy: run.policy, plannedAtMs: run.plannedAtMs ?? 0 };
  const anew = newDateOf(executionDate, plan, clock);
  if (anew === undefined) return executionDate;
  return anew.asksAgain ? null : anew.executionDate;
}

/**
 * Returns the only day on which a retry may run now: the one that was announced, or else the
 * earliest. Null if the announced day can't be reached any more.
 */
export function retryDate(
  retry: { readonly requested: string | null; readonly retryOn: string | null },
  clock: Clock,
): string | null {
  const earliest = earliestDate(clock);
  if (retry.requested === "retry" || retry.retryOn === null) return earliest;
  return retry.retryOn < earliest ? null : retry.retryOn;
}
