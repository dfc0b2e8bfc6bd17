import type { StoreFacts } from "./store-facts.ts";
import { Violation } from "./violation.ts";

/** Rule 3: a payment is cancelled only while its bill is on hold, so that nothing pays it again. */
export class CancelRules {
  readonly #facts: StoreFacts;
  /** Sends that were checked when they were written; their hold may be released afterwards. */
  readonly #asked = new Set<string>();

  constructor(facts: StoreFacts) {
    this.#facts = facts;
  }

  /** Called when sends are written. @throws Violation */
  check(businessMs: number): void {
    for (const { sendId, subject, payableId, isHeld } of this.#facts.cancels(businessMs)) {
      if (this.#asked.has(sendId)) continue;
      this.#asked.add(sendId);
      if (isHeld || payableId === null) continue;
      const what = `${subject} was let through, and ${payableId} was not on hold`;
      throw new Violation("cancels-under-a-hold", what, payableId);
    }
  }
}
