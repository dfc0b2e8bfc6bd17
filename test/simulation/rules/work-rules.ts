import { newYorkDate } from "../../../src/domain/clock/new-york.ts";
import type { StoreFacts } from "./store-facts.ts";
import { Violation } from "./violation.ts";

const DAY_MS = 86_400_000;

/**
 * In the end every retry, incident, cancellation and deposit has come to its end, or waits for
 * somebody who has been told; and what went wrong with one of them is told too.
 */
export function checkWorkIsKnown(facts: StoreFacts, businessMs: number): void {
  // Read thrice a day, so that a day later it is known.
  const [untold] = facts.untoldWork(newYorkDate(businessMs - DAY_MS));
  if (untold === undefined) return;
  const { what, about } = untold;
  throw new Violation("work-ends-or-is-told", `${what} in the end, and nobody was told`, about);
}
