import type { ActionContext } from "../actions/context.ts";
import type { ClockReading } from "../business/clock.ts";
import { NEW_YORK } from "../domain/clock/new-york.ts";

type Clocked = Pick<ActionContext, "profiles" | "clocks">;

/** The time at a business, and the time zone in which its people read times. */
export interface BusinessMoment {
  /** IANA name. */
  readonly zone: string;
  /** The business clock; null if it can't be read now. */
  readonly now: string | null;
}

export async function momentOf(context: Clocked, business: string): Promise<BusinessMoment> {
  return momentAt(context, business, await businessNowMs(context, business));
}

/** Returns the moment for an instant that was read before; 0 if it could not be read. */
export function momentAt(
  context: Pick<Clocked, "profiles">,
  business: string,
  ms: number,
): BusinessMoment {
  return { zone: zoneOf(context, business), now: ms === 0 ? null : new Date(ms).toISOString() };
}

/** Returns the time zone in which a business's people read times. */
export function zoneOf({ profiles }: Pick<Clocked, "profiles">, business: string): string {
  return profiles.get(business)?.zone ?? NEW_YORK;
}

/**
 * Returns the business clock; 0 if it can't be read now: then approvals that may have expired are
 * shown too.
 */
export async function businessNowMs(context: Clocked, business: string): Promise<number> {
  return Math.floor((await clocksOf(context, business))?.businessMs ?? 0);
}

/** Returns the business's clocks; undefined if they can't be read now. */
export async function clocksOf(
  context: Clocked,
  business: string,
): Promise<ClockReading | undefined> {
  const profile = context.profiles.get(business);
  if (profile === undefined) return undefined;
  try {
    return await context.clocks.read(profile);
  } catch {
    return undefined;
  }
}

/**
 * Returns the time zone for what concerns several businesses: theirs if all agree, else New York's.
 */
export function zoneOfAll({ profiles }: Pick<Clocked, "profiles">): string {
  const [zone = NEW_YORK, ...others] = new Set(profiles.all().map((each) => each.zone ?? NEW_YORK));
  return others.length === 0 ? zone : NEW_YORK;
}
