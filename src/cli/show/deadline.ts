import { isPast, spokenDeadline } from "../../domain/clock/spoken.ts";

/** Returns the time by which to decide, or that this time has passed. */
export function deadlineText(decideBy: string, { now, zone }: BusinessMoment): string {
  return isPast(decideBy, { now })
    ? `It was to be decided by ${spokenDeadline(decideBy, { zone })}: approving now changes the dates.`
    : `Decide by ${spokenDeadline(decideBy, { zone, now })}: later changes the dates.`;
}

interface BusinessMoment {
  readonly now: string | null;
  readonly zone: string;
}
