import type { CancelScheduledPlaybook } from "../../contracts/playbook.ts";

/** Refunds that take longer are told of, where no playbook says otherwise. */
const REFUND_BUSINESS_DAYS = 3;

/** What a playbook would say that cancels exactly these payments. */
export function cancelOfPayments(payments: readonly string[]): CancelScheduledPlaybook {
  return {
    kind: "cancel-scheduled",
    name: "",
    business: null,
    schedule: null,
    choose: { run: null, where: null, vendor: null, payments },
    how: "cancel-already-scheduled",
    releasedBy: [],
    until: null,
    refundBusinessDays: REFUND_BUSINESS_DAYS,
  };
}
