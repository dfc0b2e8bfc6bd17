import type { ContentfulStatusCode } from "hono/utils/http-status";

/** A 4xx or 5xx answer for the caller: `{ error, message, details? }`. */
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

/** 404 for what belongs to another business: it doesn't reveal whether it exists. */
export class NotTheirs extends GatewayError {
  constructor(what: string) {
    super(404, "not_found", `This token covers no “${what}”.`);
  }
}

/** Creates a 409: the request is fine, the state of things is not. */
export function conflict(code: string, message: string, details?: unknown): GatewayError {
  return new GatewayError(409, code, message, details);
}

/** Creates a 422: the request is well-formed, but can't be done. */
export function unprocessable(code: string, message: string, details?: unknown): GatewayError {
  return new GatewayError(422, code, message, details);
}
