import { createHash } from "node:crypto";
import type { Json } from "./book.ts";
import type { OtherServiceOptions } from "./options.ts";

export interface Answer {
  readonly status: number;
  /** Undefined for an empty body; a text is sent as it is, as HTML. */
  readonly body: Json | string | undefined;
  readonly headers?: Record<string, string>;
}

const STATE_REFUSALS: readonly string[] = [
  "payment_in_progress",
  "insufficient_balance",
  "setup_required",
  "approval_required",
  "payments_locked",
  "setup_incomplete",
  "feature_unavailable",
  "contact_not_payable",
];

interface Entry {
  readonly fingerprint: string;
  /** Undefined while the request runs, and forever if it died. */
  answer?: Answer;
  unconfirmed?: boolean;
  /** True for a state refusal: the same request runs again. */
  refused?: boolean;
}

export function refusal(status: number, error: string, details?: Json): Answer {
  const message = `${error.replaceAll("_", " ")}, says the other service`;
  return { status, body: { error, message, ...(details === undefined ? {} : { details }) } };
}

/** Idempotency keys of money writes, by section 7 of the API specification. */
export class Keys {
  readonly #entries = new Map<string, Entry>();
  readonly #options: OtherServiceOptions;

  constructor(options: OtherServiceOptions) {
    this.#options = options;
  }

  /** Returns the answer to give without running the request; undefined if it must run. */
  begin(key: string | undefined, method: string, path: string, body: Json): Answer | undefined {
    if (key === undefined || key === "" || key.length > 64) {
      return refusal(400, "validation_error", { field: "Idempotency-Key" });
    }
    const fingerprint = fingerprintOf(method, path, body);
    const entry = this.#entries.get(key);
    if (entry === undefined) {
      this.#entries.set(key, { fingerprint });
      return undefined;
    }
    if (entry.refused === true) {
      if (entry.fingerprint !== fingerprint) {
        return refusal(409, "idempotency_conflict");
      }
      this.#entries.set(key, { fingerprint });
      return undefined;
    }
    if (entry.fingerprint !== fingerprint) return refusal(409, "idempotency_conflict");
    if (entry.unconfirmed === true) return refusal(409, "payment_unconfirmed");
    return entry.answer ?? refusal(409, "idempotency_conflict");
  }

  /** Stores what must be replayed and forgets what must not. */
  end(key: string, answer: Answer): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    const code = typeof answer.body === "object" ? answer.body["error"] : undefined;
    if (answer.status >= 500) entry.unconfirmed = true;
    else if (STATE_REFUSALS.some((known) => known === code)) entry.refused = true;
    else if ([409, 429].includes(answer.status)) this.#entries.delete(key);
    else if ([401, 403, 404].includes(answer.status) && !this.#options.storesAuthFailures) {
      this.#entries.delete(key);
    } else entry.answer = answer;
  }
}

function fingerprintOf(method: string, path: string, body: Json): string {
  const fields = Object.entries(body).sort(([a], [b]) => (a < b ? -1 : 1));
  return createHash("sha256")
    .update(JSON.stringify([method, path, fields]))
    .digest("hex");
}
