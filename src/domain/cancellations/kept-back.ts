import type { HoldScope } from "../holds.ts";
import type { CancellationPolicy } from "./policy.ts";

/** A hold of these keeps a bill back whichever run or account would pay it next. */
const WHOLE: readonly string[] = ["contact", "all"];

interface InForce extends HoldScope {
  readonly holdId: string;
}

/** What keeps the bills of a cancellation back. */
export interface KeptBack {
  /** The one hold that does it for all of them; if missing, each bill needs a hold of its own. */
  readonly byOne?: string;
  /** True for a cancellation of a stop whose hold was lifted: it is not wanted any more. */
  readonly lifted: boolean;
  /** True while nothing pays this bill again; also if the service names no bill. */
  readonly has: (payableId: string | null) => boolean;
}

/**
 * Says what keeps the bills of a cancellation from being paid again behind it.
 *
 * A stop of a run or an account keeps back only what that run or account pays: each of its bills
 * gets a hold of its own as well, or the next run would pay it.
 *
 * @param holds in force now
 */
export function keptBack(policy: CancellationPolicy, holds: readonly InForce[]): KeptBack {
  const stopId = policy.kind === "hold" ? undefined : policy.holdId;
  const stop = holds.find(({ holdId }) => holdId === stopId);
  if (stopId !== undefined && stop === undefined) return { lifted: true, has: () => false };
  if (stop !== undefined && WHOLE.includes(stop.scope)) {
    return { byOne: stop.holdId, lifted: false, has: () => true };
  }
  const bills = new Set(holds.flatMap(({ scope, value }) => (scope === "payable" ? [value] : [])));
  return { lifted: false, has: (payableId) => payableId === null || bills.has(payableId) };
}
