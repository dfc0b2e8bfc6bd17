import type { PayRunPlaybook } from "../../src/contracts/playbook.ts";

/**
 * Returns a compiled pay run, as a playbook without settings of its own gives it, with these
 * changes.
 */
export function payRunPlaybook(changes: Partial<PayRunPlaybook> = {}): PayRunPlaybook {
  return {
    kind: "pay-run",
    name: "weekly",
    business: null,
    schedule: null,
    select: { due: "all" },
    where: null,
    pay: {
      on: "arrives-by-due-date",
      from: "default",
      whenShort: "most-urgent-first",
      clearing: "STANDARD",
      arrivalBusinessDays: 3,
    },
    limits: { billCents: null, vendorPerWeekCents: null, businessPerWeekCents: null },
    review: [],
    approve: [{ review: false, overCents: null, where: null, by: ["controller"], quorum: 1 }],
    approvalValidDays: 30,
    late: "ask",
    onFailure: "retry-failed",
    notify: { people: "by-role", digest: "none" },
    ...changes,
  };
}
