import { createHash } from "node:crypto";
import { canonicalJson } from "./canonical-json.ts";

/** Bills that somebody has named to be paid now, outside a playbook's schedule. */
export interface OffCycle {
  readonly payableIds: readonly string[];
  /** Pays this much of the one bill that is named, or null for all that is owed. */
  readonly amountCents: number | null;
}

/** Where a run keeps among its inputs what it was asked for off-cycle. */
const INPUT = "offCycle";

export function offCycleInputs(request: OffCycle): Readonly<Record<string, unknown>> {
  return { [INPUT]: request };
}

/** What a run was asked for off-cycle, or null for a run by its playbook's own selection. */
export function offCycleOf(inputs: Readonly<Record<string, unknown>>): OffCycle | null {
  const request = inputs[INPUT];
  // Inputs of a launch are texts: nobody makes this by launching.
  return typeof request === "object" && request !== null ? (request as OffCycle) : null;
}

/** True for the period of a run that somebody asked for off-cycle. */
export function isOffCyclePeriod(period: string): boolean {
  return period.slice(DATE_LENGTH).startsWith(MARK);
}

const DATE_LENGTH = "YYYY-MM-DD".length;
const MARK = "-pay-";

/**
 * The period of an off-cycle run: its day, and a mark of what was asked, so that asking the same
 * twice in a day is one run.
 *
 * @param date `YYYY-MM-DD`
 * @param ref tells two requests apart that are alike
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
