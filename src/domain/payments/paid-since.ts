import { DAY_MS } from "../../contracts/durations.ts";
import type { PayRunPlaybook } from "../../contracts/playbook.ts";

/**
 * Returns an ISO instant before the first payment of a run: a day before it was planned, to allow
 * for different clocks. A payment that the run adopted may be older.
 */
export function beforeFirstPayment(run: {
  /** Null if the run's time to approve has not begun since it was planned. */
  readonly approveByMs: number | null;
  readonly policy: Pick<PayRunPlaybook, "approvalValidDays">;
}): string {
  const plannedMs = (run.approveByMs ?? 0) - run.policy.approvalValidDays * DAY_MS;
  return new Date(Math.max(0, plannedMs - DAY_MS)).toISOString();
}
