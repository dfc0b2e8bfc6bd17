import type { LineReason } from "../../contracts/reason-codes.ts";
import type { LineState } from "../../contracts/pay-run.ts";
import { PLAN_ONLY } from "../plan-only.ts";

/** States of bills that don't simply go their way. */
export const EXCEPTION_STATES: readonly LineState[] = [
  "on-hold",
  "unknown",
  "held",
  "retrying",
  "parked",
  "cancelled",
  "refunded",
  "returned",
  "paid-elsewhere",
  "given-up",
];

/** States of bills that are no exceptions, whatever their reason code. */
export const REGULAR_STATES: readonly LineState[] = ["settled", "skipped"];

/**
 * Reason codes of a whole run that only planned, or was cancelled or rejected: the run says so
 * once, not with each bill.
 */
export const WHOLE_RUN_CODES: readonly string[] = [
  "run_cancelled",
  "rejected",
  PLAN_ONLY,
] satisfies LineReason[];

/** True if a bill is among the exceptions of its run, in every list of them. */
export function isException({
  state,
  reasonCode,
}: {
  readonly state: LineState;
  readonly reasonCode: string | null;
}): boolean {
  if (WHOLE_RUN_CODES.includes(reasonCode ?? "")) return false;
  if (EXCEPTION_STATES.includes(state)) return true;
  return !REGULAR_STATES.includes(state) && reasonCode !== null;
}
