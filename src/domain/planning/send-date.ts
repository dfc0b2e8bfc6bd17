import type { PayRunPlaybook } from "../../contracts/playbook.ts";
import { addBankingDays, nextBankingDay } from "../clock/bank-calendar.ts";
import { newYorkDate, newYorkInstantMs } from "../clock/new-york.ts";

/** Real time that a request may take to arrive, for picking a date that is still in the future. */
const ARRIVAL_MARGIN_MS = 5_000;

/** Real time in which a decision is never late, however fast the sandbox's bank clock runs. */
const DECISION_GRACE_MS = 60_000;

interface SendClock {
  readonly businessMs: number;
  readonly realMs: number;
  /** Business seconds in a real second. */
  readonly scale: number;
}

type SendInstant = Omit<SendClock, "realMs">;

/** The day in New York on which a request that is sent now arrives. */
export function arrivalDate({ businessMs, scale }: SendInstant): string {
  return newYorkDate(businessMs + marginMs(scale));
}

/** The earliest execution date that a request sent now may name: the next banking day. */
export function earliestDate(clock: SendInstant): string {
  return nextBankingDay(arrivalDate(clock));
}

/**
 * Business-clock instant from which on a banking day is the earliest that a request may name: the
 * beginning of the banking day before it.
 */
export function requestFromMs(executionDate: string, { scale }: Pick<SendClock, "scale">): number {
  return newYorkInstantMs(addBankingDays(executionDate, -1), "00:00") - marginMs(scale);
}

function marginMs(scale: number): number {
  return ARRIVAL_MARGIN_MS * (scale - 1);
}

/** Whether a line whose execution date has passed needs a person's word for another one. */
export function asksForNewDate(
  plan: { readonly policy: Pick<PayRunPlaybook, "late">; readonly plannedAtMs: number },
  clock: Omit<SendClock, "businessMs">,
): boolean {
  if (plan.policy.late === "next-business-day") return false;
  const inGrace = clock.scale > 1 && clock.realMs - plan.plannedAtMs < DECISION_GRACE_MS;
  return !inGrace;
}
