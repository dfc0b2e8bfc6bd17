import { definedOnly } from "../../contracts/defined-only.ts";
import type { PlanLine } from "../../contracts/pay-run.ts";
import { lineHash } from "../approvals/hashes.ts";

/**
 * Returns the hash of a plan line. Planning and replanning both use it, so that an approval always
 * covers the same fields.
 */
export function hashOfLine(businessId: string, line: Omit<PlanLine, "lineHash">): string {
  return lineHash({
    businessId,
    payableId: line.payableId,
    contactId: line.contactId,
    amountCents: line.amountCents,
    bankLast4: line.bankLast4,
    contactUpdatedAt: line.contactUpdatedAt,
    sourceId: line.funding.sourceId,
    clearing: line.clearing,
    dateRule: line.dateRule,
    approvers: line.approvers,
    quorum: line.quorum,
    ...definedOnly({ stages: line.stages }),
  });
}
