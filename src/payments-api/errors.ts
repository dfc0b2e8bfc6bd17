/**
 * What is known about the effect of a request that did not succeed. `unknown`: the service may have
 * done it, now or later. Reads have no effect, so theirs is always `not_applied`.
 */
export type RequestOutcome = "not_applied" | "unknown";

interface PaymentsApiErrorFields {
  /** The service's code, or `unauthorized`, `forbidden`, `rate_limited`, `no_answer`, … */
  code: string;
  message: string;
  /** HTTP status; undefined if there was no response. */
  status: number | undefined;
  details?: unknown;
  outcome: RequestOutcome;
  retryAfterMs?: number | undefined;
  method: string;
  /** Without the query, which can contain what a person searched for. */
  path: string;
}

/**
 * A request to the Payments Service that did not succeed. Holds no headers and no `cause`: we can't
 * vouch for what undici attaches to its errors, and a token must never be in an error.
 */
export class PaymentsApiError extends Error {
  override readonly name: string = "PaymentsApiError";
  /** Machine-readable: the service's code (API specification, section 7) or one of ours. */
  readonly code: string;
  readonly status: number | undefined;
  /** The `details` object of the service's response, unchanged. */
  readonly details: unknown;
  readonly outcome: RequestOutcome;
  /** How long the service asked us to wait, in milliseconds. */
  readonly retryAfterMs: number | undefined;
  readonly method: string;
  readonly path: string;
  /**
   * The message without method and path: the service's own words, unless the response was unusable.
   */
  readonly words: string;

  constructor(fields: PaymentsApiErrorFields) {
    super(`${fields.method} ${fields.path}: ${fields.message}`);
    this.code = fields.code;
    this.status = fields.status;
    this.details = fields.details;
    this.outcome = fields.outcome;
    this.retryAfterMs = fields.retryAfterMs;
    this.method = fields.method;
    this.path = fields.path;
    this.words = fields.message;
  }
}

/**
 * The service can't say whether it moved the money (409 `payment_unconfirmed`). The key is dead;
 * look the payment up before using another one (API specification, section 7).
 */
export class PaymentUnconfirmedError extends PaymentsApiError {
  override readonly name = "PaymentUnconfirmedError";
}

/**
 * There was no complete response: a time-out, a refused or dropped connection, no token, or the
 * caller's own stop, a body that is too long. Code `no_answer`, `not_sent`, `too_long` or
 * `token_unavailable`.
 */
export class NoAnswerError extends PaymentsApiError {
  override readonly name = "NoAnswerError";
}

/**
 * A response without the documented shape; the message names the field. Code `unexpected_answer`.
 */
export class UnexpectedAnswerError extends PaymentsApiError {
  override readonly name = "UnexpectedAnswerError";
  /** True if the body was JSON: not an intermediary's page, which is a passing fault. */
  readonly isJson: boolean;

  constructor(fields: PaymentsApiErrorFields & { isJson: boolean }) {
    super(fields);
    this.isJson = fields.isJson;
  }
}

/** The answer to a read of one record shows another record. */
export class OtherRecordError extends UnexpectedAnswerError {}
