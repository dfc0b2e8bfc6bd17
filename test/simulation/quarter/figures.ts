import { addDays, isBankingDay } from "./days.ts";
import type { Found, QuarterPlan, QuarterResult } from "./quarter.ts";
import { runQuarter } from "./run-quarter.ts";

const HOUR_MS = 3_600_000;

/** Thirteen Thursdays, with Thanksgiving, two more bank holidays and a change of the clocks. */
const FIRST_RUN = "2027-09-30";

/**
 * Returns as JSON what a quarter of weekly runs costs on real clocks, and how soon all is known.
 */
export async function quarterFigures(plan: Partial<QuarterPlan>): Promise<string> {
  const whole = { firstRun: FIRST_RUN, weeks: 13, bills: 50, hasWebhooks: true };
  const { events, billDays, settled, returned, states } = await runQuarter({ ...whole, ...plan });
  const free = daysOf(whole).filter((day) => isBankingDay(day) && !billDays.has(day));
  return JSON.stringify({
    events: [...events.values()].reduce((sum, count) => sum + count, 0),
    eventsOnARestDayAtMost: mostEvents(events, (day) => !isBankingDay(day)),
    bankingDaysWithoutBills: free.length,
    eventsOnOneOfThemAtMost: mostEvents(events, (day) => free.includes(day)),
    eventsOnADayWithBillsAtMost: mostEvents(events, (day) => billDays.has(day)),
    settled: settled.length,
    settledKnownAfterHours: slowestHours(settled),
    returned: returned.length,
    returnedKnownAfterHours: slowestHours(returned),
    lines: Object.fromEntries(states),
  });
}

/** Returns the days of the weeks with a run. */
function daysOf({ firstRun, weeks }: QuarterPlan): string[] {
  return Array.from({ length: 7 * weeks }, (_, index) => addDays(firstRun, index));
}

/** Returns the most events of one of these days. */
function mostEvents(events: QuarterResult["events"], isMeant: (day: string) => boolean): number {
  return Math.max(0, ...[...events].map(([day, count]) => (isMeant(day) ? count : 0)));
}

/** Returns how long the slowest was unknown to the engine; null if one still is. */
function slowestHours(found: readonly Found[]): number | null {
  const most = Math.max(0, ...found.map(({ atMs, foundMs }) => (foundMs ?? Infinity) - atMs));
  return Number.isFinite(most) ? Math.round((10 * most) / HOUR_MS) / 10 : null;
}
