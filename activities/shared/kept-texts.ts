import { PaymentsApiError } from "../../src/payments-api/index.ts";

/** Texts up to this length need no bound of their own: the number of records is bounded. */
const SHORT = 100;

/** The most characters that a plan keeps of longer texts, beyond that length. */
const KEPT_BEYOND_MAX = 200_000_000;

/** Fields whose texts many records have in common. */
const SHARED: readonly string[] = ["contactId", "contactName", "status", "paymentStatus"];

/**
 * The texts of one reading. Those that many records share are kept once, and what all of them take
 * is bounded, however long a service makes them.
 */
export class KeptTexts {
  readonly #shared = new Map<string, string>();
  #beyond = 0;

  /** Returns the facts, with the shared texts that were kept before. */
  in<Facts extends object>(facts: Facts): Facts {
    for (const [name, text] of Object.entries(facts)) {
      if (typeof text !== "string") continue;
      const known = SHARED.includes(name) ? this.#shared.get(text) : undefined;
      if (known !== undefined) Object.assign(facts, { [name]: known });
      else this.#keep(name, text);
    }
    return facts;
  }

  #keep(name: string, text: string): void {
    this.#beyond += Math.max(0, text.length - SHORT);
    if (this.#beyond > KEPT_BEYOND_MAX) throw tooLong();
    if (SHARED.includes(name)) this.#shared.set(text, text);
  }
}

function tooLong(): PaymentsApiError {
  const message = `the long texts of its lists have more than ${KEPT_BEYOND_MAX} characters altogether`;
  return new PaymentsApiError({
    code: "unexpected_answer",
    status: 200,
    outcome: "not_applied",
    method: "GET",
    path: "/v1/payables",
    message,
  });
}
