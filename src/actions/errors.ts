import type { ContentfulStatusCode } from "hono/utils/http-status";

/** An answer of 4xx or 5xx that a caller should see: `{ error, message, details? }`. */
export class GatewayError extends Error {
  override readonly name = "GatewayError";
  readonly status: ContentfulStatusCode;
  /** Lower snake case, for programs. */
  readonly code: string;
  readonly details: unknown;

  constructor(status: ContentfulStatusCode, code: string, message: string, details?: unknown) {
    super(message);
    this.status = status;
    this.code = code;
    this.details = details;
  }
}

export function notFound(message: string): GatewayError {
  return new GatewayError(404, "not_found", message);
}

/** 404 for what another business has: it doesn't say whether it is there. */
export class NotTheirs extends GatewayError {
  constructor(what: string) {
    super(404, "not_found", `There is no “${what}” among what this token is for.`);
  }
}

/** 409: the request is fine, the state of things is not. */
export function conflict(code: string, message: string, details?: unknown): GatewayError {
  return new GatewayError(409, code, message, details);
}

/** 422: well-formed, but it can't be done as asked. */
export function unprocessable(code: string, message: string, details?: unknown): GatewayError {
  return new GatewayError(422, code, message, details);
}

/** Body of every error answer. */
export function errorBody(error: GatewayError): {
  error: string;
  message: string;
  details?: unknown;
} {
  return {
    error: error.code,
    message: error.message,
    ...(error.details === undefined ? {} : { details: error.details }),
  };
}
