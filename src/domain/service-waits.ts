/** Codes of waits that a read sets, and that the next read which succeeds ends. */
export const READ_WAITS = [
  "unauthorized",
  "forbidden_read",
  "rate_limited",
  "unreachable",
  "unreadable",
] as const;

/**
 * Codes of waits in which nothing can be cancelled either. Whatever else the service refuses
 * (`payments_locked`, `setup_required`, `feature_unavailable`) is about payments alone.
 */
export const CANCEL_WAITS = [...READ_WAITS, "forbidden"] as const;

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
  return wait.sourceId === "" && READ_WAITS.some((code) => code === wait.code);
}

/** True for a wait in which nothing of the business can be cancelled either. */
export function stopsCancels(wait: Wait): boolean {
  return wait.sourceId === "" && CANCEL_WAITS.some((code) => code === wait.code);
}
