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

/** States of bills that nobody needs to look at, whatever is said of them. */
export const REGULAR_STATES: readonly LineState[] = ["settled", "skipped"];

/** A run that only planned, or was cancelled or rejected as a whole, says so once, not with each bill. */
export const WHOLE_RUN_CODES: readonly string[] = ["run-cancelled", "rejected", PLAN_ONLY];

/** Whether a bill is among the exceptions of its run, wherever they are listed. */
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
