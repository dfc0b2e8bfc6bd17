import { openSends, untilCoveredMs } from "./derive.ts";
import type { Now, Reading, WaitReason, ShownThing, Step, SubjectFacts, Wish } from "./facts.ts";
import type { Operation } from "./operations.ts";

/** The facts that every rule judges by, once the subject has been read. */
export interface Asked {
  readonly operation: Operation;
  /** The ledger's facts, with the reading as the newest lookup. */
  readonly facts: SubjectFacts;
  readonly wish: Wish | null;
  readonly reading: Reading;
  readonly now: Now;
  /** Shown things that nothing explains yet. */
  readonly unexplained: readonly ShownThing[];
}

/** A rule for the next step; it returns null if it doesn't apply. */
export type Rule = (asked: Asked) => Step | null;

const WAIT_MIN_MS = 1_000;
const WAIT_CLOCK_MS = 5_000;

/** Rule 6: waits until a lookup can be conclusive about all open sends, then requests one. */
export function lookupDue({ facts, now }: Asked): Step {
  if (now.sandbox && now.serviceMs === null) return waitForClock();
  const leftMs = openSends(facts).map((send) => untilCoveredMs(send, now, now));
  if (leftMs.includes(null)) return waitForClock();
  const mostMs = Math.max(...leftMs.map((ms) => ms ?? 0), 0);
  if (mostMs > 0) return wait("lookup-due", mostMs);
  return { kind: "read", reason: "A lookup that begins now is conclusive about every request." };
}

const WAIT_TEXTS: Readonly<Record<Exclude<WaitReason, "restored">, string>> = {
  leaving: "A request may be leaving right now.",
  "lookup-due":
    "A request got no conclusive response. Payrun checks with the service until the request can no longer take effect.",
  "not-shown": "The service doesn't show yet what an earlier request made.",
  unreadable:
    "The service shows a payment of it that can't be read, and that may be an earlier request's. Have the payment corrected in the service.",
  clock: "The service's clock can't be read.",
};

/**
 * Says what a subject waits for, in a text for people.
 *
 * @param until when a restored store sends again, as people read it
 */
export function waitReasonText(reason: WaitReason, until: string): string {
  if (reason !== "restored") return WAIT_TEXTS[reason];
  return `The store was restored. Payrun sends nothing until ${until}: a lookup then shows what the store may have lost.`;
}

/** Waits for the wire clock: in a sandbox only that measures the service's windows. */
export function waitForClock(): Step {
  return wait("clock", WAIT_CLOCK_MS);
}

export function wait(reason: WaitReason, waitMs: number): Step {
  return { kind: "wait", reason, waitMs: Math.max(waitMs, WAIT_MIN_MS) };
}
