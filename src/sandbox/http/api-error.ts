/**
 * A refusal of the service, answered as `{ error, message, details? }` (API specification, section
 * 7).
 */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly status: number;
  readonly code: string;
  readonly details: Record<string, unknown> | undefined;

  constructor(status: number, code: string, message: string, details?: Record<string, unknown>) {
    super(message);
    this.status = status;
    this.code = code;
    this.details = details;
  }
}

/** Returns a 422: the value has the right type but breaks a rule. */
export function invalid(field: string, message: string): ApiError {
  return new ApiError(422, "validation_error", message, { field });
}

/** Returns a 400: the body lacks a field, or combines fields that exclude each other. */
export function malformed(field: string, message: string): ApiError {
  return new ApiError(400, "validation_error", message, { field });
}

/**
 * Returns a 404: the object doesn't exist, or belongs to another organization, which looks the same
 * from outside.
 */
export function objectNotFound(what: string): ApiError {
  return new ApiError(404, "not_found", `${what} not found`);
}

const stateRefusalStatus = {
  payment_in_progress: 409,
  insufficient_balance: 409,
  setup_required: 409,
  approval_required: 409,
  payments_locked: 409,
  setup_incomplete: 409,
  feature_unavailable: 403,
  contact_not_payable: 422,
} as const;

/** Every other code of the service, with the status that OpenAPI gives for it. */
const otherStatus = {
  validation_error: 422,
  not_found: 404,
  duplicate_contact: 409,
  duplicate_officer: 409,
  payment_not_cancellable: 409,
  bank_account_exists: 409,
  bank_account_not_verifiable: 409,
  accounting_already_connected: 409,
  accounting_not_connected: 409,
  sync_in_progress: 409,
  mapping_exists: 409,
} as const;

/** A code that an operation can declare as one of its refusals. */
export type ApiErrorCode = StateRefusal | keyof typeof otherStatus;

/** The status of the answer that carries each code. */
export const errorStatus: Readonly<Record<ApiErrorCode, number>> = {
  ...stateRefusalStatus,
  ...otherStatus,
};

/**
 * A refusal that comes from the state of things and passes with it, so it is never stored under a
 * key.
 */
export type StateRefusal = keyof typeof stateRefusalStatus;

export function stateRefusal(
  code: StateRefusal,
  message: string,
  details?: Record<string, unknown>,
): ApiError {
  return new ApiError(stateRefusalStatus[code], code, message, details);
}

export function isStateRefusal(code: string): boolean {
  return Object.hasOwn(stateRefusalStatus, code);
}
