import type { HoldScope } from "../holds.ts";
import type { CancellationPolicy } from "./policy.ts";

/** Scopes of holds that apply to a bill, regardless of which run or account would pay it next. */
const WHOLE: readonly string[] = ["contact", "all"];

interface InForce extends HoldScope {
  readonly holdId: string;
}

/** What keeps the bills of a cancellation back. */
export interface HoldsOfCancellation {
  /**
   * Id of the one hold that is on all of them; if missing, each bill needs a hold of its own.
   */
  readonly byOne?: string;
  /** True if the cancellation belongs to a stop whose hold was lifted: it is no longer wanted. */
  readonly lifted: boolean;
  /** True while a hold keeps this bill from being paid again; also if the service names no bill. */
  readonly has: (payableId: string | null) => boolean;
}

/**
 * Says which holds keep the bills of a cancellation from being paid again.
 *
 * A stop of a run or an account holds only what that run or account pays. Each of its bills
 * therefore gets a hold of its own as well; without it, the next run would pay the bill. Bills that
 * wait for the incident of their account stay with their runs, so that its hold is enough.
 *
 * @param holds in force now
 */
export function holdsOfCancellation(
  policy: CancellationPolicy,
  holds: readonly InForce[],
): HoldsOfCancellation {
  const stopId = policy.kind === "hold" ? undefined : policy.holdId;
  const forIncident = policy.kind !== "hold" && policy.forIncident === true;
  const stop = holds.find(({ holdId }) => holdId === stopId);
  if (stopId !== undefined && stop === undefined) return { lifted: true, has: () => false };
  if (stop !== undefined && (forIncident || WHOLE.includes(stop.scope))) {
    return { byOne: stop.holdId, lifted: false, has: () => true };
  }
  const bills = new Set(holds.flatMap(({ scope, value }) => (scope === "payable" ? [value] : [])));
  return { lifted: false, has: (payableId) => payableId === null || bills.has(payableId) };
}
