import {
  type CodeOf,
  ERROR_CODES,
  type ErrorCode,
  type ErrorStatus,
} from "../contracts/error-codes.ts";

/** A 4xx or 5xx answer for the caller: `{ error, message, details? }`. */
export class GatewayError extends Error {
  override readonly name = "GatewayError";
  readonly status: ErrorStatus;
  /** For programs. */
  readonly code: ErrorCode;
  readonly details: unknown;

  constructor(code: ErrorCode, message: string, details?: unknown) {
    super(message);
    this.status = ERROR_CODES[code].status;
    this.code = code;
    this.details = details;
  }
}

export function notFound(message: string): GatewayError {
  return new GatewayError("not_found", message);
}

/** 404 for what belongs to another business: it doesn't reveal whether it exists. */
export class NotTheirs extends GatewayError {
  constructor(what: string) {
    super("not_found", `This token covers no “${what}”.`);
  }
}

/** Creates a 409: the request is fine, the state of things is not. */
export function conflict(code: CodeOf<409>, message: string, details?: unknown): GatewayError {
  return new GatewayError(code, message, details);
}

/** Creates a 422: the request is well-formed, but can't be done. */
export function unprocessable(code: CodeOf<422>, message: string, details?: unknown): GatewayError {
  return new GatewayError(code, message, details);
}
