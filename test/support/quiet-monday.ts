import { addDays, isoWeekday } from "../../src/domain/clock/dates.ts";

/**
 * Returns noon in New York on the next second Monday of an April. New York's clocks have changed by
 * then, and no bank holiday comes for seven weeks, so that days counted from it are the same
 * whenever tests run.
 */
export function nextQuietMonday(nowMs = Date.now()): string {
  const year = new Date(nowMs).getUTCFullYear();
  const [first, second] = [year, year + 1].map((each) => {
    let day = `${each}-04-08`;
    while (isoWeekday(day) !== 1) day = addDays(day, 1);
    return `${day}T16:00:00Z`;
  }) as [string, string];
  return Date.parse(first) > nowMs ? first : second;
}
