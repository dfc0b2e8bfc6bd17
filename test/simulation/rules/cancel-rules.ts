import type { StoreFacts } from "./store-facts.ts";
import { Violation } from "./violation.ts";

/** Rule 3: a payment is taken back only while its bill is on hold, so that nothing pays it again. */
export class CancelRules {
  readonly #facts: StoreFacts;
  /** Sends that were asked about as they were written; a hold may be lifted afterwards. */
  readonly #asked = new Set<string>();

  constructor(facts: StoreFacts) {
    this.#facts = facts;
  }

  /** Asked as sends are written. @throws Violation */
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
