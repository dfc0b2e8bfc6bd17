import { createHash } from "node:crypto";
import { canonicalJson } from "./canonical-json.ts";
import { dateIn } from "./clock/dates.ts";

/** Bills that a person named for payment now, outside a playbook's schedule. */
export interface OffCycle {
  readonly payableIds: readonly string[];
  /** The amount to pay of the only named bill; null for all that is owed. */
  readonly amountCents: number | null;
}

/** The run's input that holds its off-cycle request. */
const INPUT = "offCycle";

export function offCycleInputs(request: OffCycle): Readonly<Record<string, unknown>> {
  return { [INPUT]: request };
}

/** Returns a run's off-cycle request; null if the run follows its playbook's selection. */
export function offCycleOf(inputs: Readonly<Record<string, unknown>>): OffCycle | null {
  const request = inputs[INPUT];
  // A launch's inputs are texts, so a launch can't forge this object.
  return typeof request === "object" && request !== null ? (request as OffCycle) : null;
}

/** True for the period of an off-cycle run. */
export function isOffCyclePeriod(period: string): boolean {
  return period.slice(dateIn(period).length).startsWith(MARK);
}

const MARK = "-pay-";

/**
 * Returns the period of an off-cycle run: its date and a hash of the request, so that the same
 * request twice on a day is one run.
 *
 * @param date `YYYY-MM-DD`
 * @param ref distinguishes two otherwise equal requests
 */
export function offCyclePeriod(date: string, request: OffCycle, ref: string): string {
  const facts = {
    v: "off-cycle-1",
    payableIds: [...new Set(request.payableIds)].sort(),
    amountCents: request.amountCents,
    ref,
  };
  const mark = createHash("sha256").update(canonicalJson(facts)).digest("hex").slice(0, 12);
  return `${date}${MARK}${mark}`;
}
