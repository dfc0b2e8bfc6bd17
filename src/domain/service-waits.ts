/** Codes of waits in which payments can't be read. */
export const PAYMENT_READ_FAILURES = { away: "unreachable", unusable: "unreadable" } as const;

/** Codes of waits for a service that answers nobody; any read which succeeds ends them. */
export const SERVICE_WAITS = [
  "unauthorized",
  "rate_limited",
  ...Object.values(PAYMENT_READ_FAILURES),
] as const;

/** Code of a wait in which the token lacks a scope for something that runs read, and no cancel does. */
export const FORBIDDEN_READ = "forbidden_read";

/** Code of a wait in which the token may not pay and cancel, or not read payments. */
export const FORBIDDEN = "forbidden";

/**
 * Codes of waits in which something can't be read that runs read and no cancel does: other
 * operations of the service may answer.
 */
export const READ_FAILURES = { away: "unreachable_read", unusable: "unreadable_read" } as const;

/** Codes of waits that a read sets, and that the next read which succeeds ends. */
const READ_WAITS: readonly string[] = [
  ...SERVICE_WAITS,
  FORBIDDEN_READ,
  ...Object.values(READ_FAILURES),
];

/**
 * Codes of waits in which nothing can be cancelled either. Whatever else the service refuses
 * (`payments_locked`, `setup_required`, `feature_unavailable`) is about payments alone, and a scope
 * that a cancel doesn't need is no reason to let a payment go out.
 */
export const CANCEL_WAITS: readonly string[] = [...SERVICE_WAITS, FORBIDDEN];

/** Code of the wait of a funding source that the service says can't pay. */
export const SOURCE_UNAVAILABLE = "source_unavailable";

/**
 * Code of a wait in which the token may not read what paying reads of a bill or its vendor. No
 * cancel reads that.
 */
export const FORBIDDEN_FOR_PAYMENTS = "forbidden_for_payments";

interface Wait {
  /** Empty for the whole business. */
  readonly sourceId: string;
  readonly code: string;
}

/** True for a wait in which nothing of the business can be read either. */
export function stopsReads(wait: Wait): boolean {
  return wait.sourceId === "" && READ_WAITS.includes(wait.code);
}

/** True for a wait in which nothing of the business can be cancelled either. */
export function stopsCancels(wait: Wait): boolean {
  return wait.sourceId === "" && CANCEL_WAITS.includes(wait.code);
}
