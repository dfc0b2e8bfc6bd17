import { newYorkDate } from "../../../src/domain/clock/new-york.ts";
import type { StoreFacts } from "./store-facts.ts";
import { Violation } from "./violation.ts";

const DAY_MS = 86_400_000;

/**
 * At the end every retry, incident, cancellation and deposit has ended, or waits for a person who
 * was notified; failures of them have caused a notice too.
 */
export function checkWorkIsKnown(facts: StoreFacts, businessMs: number): void {
  // The engine reads three times a day, so that it is known a day later.
  const [untold] = facts.untoldWork(newYorkDate(businessMs - DAY_MS));
  if (untold === undefined) return;
  const { what, about } = untold;
  throw new Violation("work-ends-or-is-told", `${what} in the end, and nobody was told`, about);
}
