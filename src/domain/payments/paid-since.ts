import type { PayRunPlaybook } from "../../contracts/playbook.ts";

const DAY_MS = 86_400_000;

/**
 * ISO instant before the first payment of a run: a day before it was planned, however its clock
 * and the service's differ. A payment that a run has found and made its own may be older.
 */
export function beforeFirstPayment(run: {
  /** Null for a run that nobody has looked at since it was planned. */
  readonly approveByMs: number | null;
  readonly policy: Pick<PayRunPlaybook, "approvalValidDays">;
}): string {
  const plannedMs = (run.approveByMs ?? 0) - run.policy.approvalValidDays * DAY_MS;
  return new Date(Math.max(0, plannedMs - DAY_MS)).toISOString();
}
