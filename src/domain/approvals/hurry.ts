import { counted } from "../counted.ts";
import type { HoursOfDay, HurryRule } from "../../contracts/playbook.ts";
import { zonedWallTime } from "../clock/new-york.ts";
import { spokenTime } from "../clock/spoken.ts";

interface Moment {
  /** Real instants of the plan and of the approval. */
  readonly plannedAtMs: number;
  readonly nowMs: number;
  /** Business-clock instant of the approval. */
  readonly businessMs: number;
  readonly zone: string;
}

/**
 * Says when an approval was given, if its playbook calls that hurried: `12 seconds after the plan,
 * at Mon, Nov 23, 3:00 AM New York`. Null if it doesn't.
 */
export function hurryOf(rule: HurryRule | undefined, moment: Moment): string | null {
  if (rule === undefined) return null;
  const { plannedAtMs, nowMs, businessMs, zone } = moment;
  const afterMs = nowMs - plannedAtMs;
  const isSoon = rule.underMs !== null && afterMs < rule.underMs;
  const isOdd = rule.outside !== null && !isWithin(rule.outside, zonedWallTime(businessMs, zone));
  const said = [
    ...(isSoon
      ? [`${counted(Math.max(0, Math.floor(afterMs / 1_000)), "second")} after the plan`]
      : []),
    ...(isOdd ? [`at ${spokenTime(businessMs, zone)}`] : []),
  ];
  return said.length === 0 ? null : said.join(", ");
}

function isWithin({ from, to }: HoursOfDay, time: string): boolean {
  return from < to ? time >= from && time < to : time >= from || time < to;
}
