import type { ActionContext } from "../actions/context.ts";
import type { ClockReading } from "../business/clock.ts";
import { NEW_YORK } from "../domain/clock/new-york.ts";

type Clocked = Pick<ActionContext, "profiles" | "clocks">;

/** What time it is at a business, and in which zone its people are told times. */
export interface BusinessMoment {
  /** IANA name. */
  readonly zone: string;
  /** The business clock; null if it can't be read now. */
  readonly now: string | null;
}

export async function momentOf(context: Clocked, business: string): Promise<BusinessMoment> {
  return momentAt(context, business, await businessNowMs(context, business));
}

/** The same at an instant that was read before; 0 where it could not be read. */
export function momentAt(
  context: Pick<Clocked, "profiles">,
  business: string,
  ms: number,
): BusinessMoment {
  return { zone: zoneOf(context, business), now: ms === 0 ? null : new Date(ms).toISOString() };
}

/** The zone in which a business's people are told times. */
export function zoneOf({ profiles }: Pick<Clocked, "profiles">, business: string): string {
  return profiles.get(business)?.zone ?? NEW_YORK;
}

/** The business clock; 0 if it can't be read now: then approvals are shown that may have expired. */
export async function businessNowMs(context: Clocked, business: string): Promise<number> {
  return Math.floor((await readingOf(context, business))?.businessMs ?? 0);
}

/** The business's clocks; undefined if they can't be read now. */
export async function readingOf(
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

/** The zone for what is of no one business: that of all of them where they agree, else New York's. */
export function zoneOfAll({ profiles }: Pick<Clocked, "profiles">): string {
  const [zone = NEW_YORK, ...others] = new Set(profiles.all().map((each) => each.zone ?? NEW_YORK));
  return others.length === 0 ? zone : NEW_YORK;
}
