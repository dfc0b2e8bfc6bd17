import { openSends, untilCoveredMs } from "./derive.ts";
import type { Now, Reading, RestReason, Shown, Step, SubjectFacts, Wish } from "./facts.ts";
import type { Operation } from "./operations.ts";

/** What everything is judged by once the subject has been read. */
export interface Asked {
  readonly operation: Operation;
  /** With the reading as their newest look. */
  readonly facts: SubjectFacts;
  readonly wish: Wish | null;
  readonly reading: Reading;
  readonly now: Now;
  /** What nobody has explained yet. */
  readonly unexplained: readonly Shown[];
}

/** Null where it has nothing to say. */
export type Rule = (asked: Asked) => Step | null;

const REST_MIN_MS = 1_000;
const REST_CLOCK_MS = 5_000;

/** Rule 6: rests until a look can be the last word on all that is open, then asks for it. */
export function lookDue({ facts, now }: Asked): Step {
  if (now.sandbox && now.serviceMs === null) return restForClock();
  const leftMs = openSends(facts).map((send) => untilCoveredMs(send, now, now));
  if (leftMs.includes(null)) return restForClock();
  const mostMs = Math.max(...leftMs.map((ms) => ms ?? 0), 0);
  if (mostMs > 0) return rest("look-due", mostMs);
  return { kind: "read", reason: "A look that begins now is the last word on what was sent." };
}

const REST_TEXTS: Readonly<Record<RestReason, string>> = {
  leaving: "Its request may be leaving at this moment.",
  "look-due":
    "A request of it had no answer that settles it. Payrun looks until nothing of it can still take effect.",
  "not-shown": "The service doesn't show yet what an earlier request of it made.",
  restored: "The store was restored: nothing is sent before a look that is late enough.",
  clock: "The service's clock can't be read.",
};

/** What a subject waits for, in words for people. */
export function restText(reason: RestReason): string {
  return REST_TEXTS[reason];
}

/** In a sandbox only the wire clock tells what has passed. */
export function restForClock(): Step {
  return rest("clock", REST_CLOCK_MS);
}

export function rest(reason: RestReason, restMs: number): Step {
  return { kind: "rest", reason, restMs: Math.max(restMs, REST_MIN_MS) };
}
