import type { LineReason } from "../../contracts/reason-codes.ts";
import { LINE, type LineState } from "../../contracts/line-states.ts";
import { PLAN_ONLY } from "../plan-only.ts";

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
  if (LINE.exceptional.includes(state)) return true;
  return !LINE.regular.includes(state) && reasonCode !== null;
}
