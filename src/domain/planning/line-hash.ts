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
    sourceId: line.funding.sourceId,
    pay: line.funding.pay,
    needsAchAuthorization: line.funding.needsAchAuthorization,
    clearing: line.clearing,
    dateRule: line.dateRule,
    approvers: line.approvers,
    quorum: line.quorum,
    ...definedOnly({
      newAccount: line.newAccount,
      stages: line.stages,
      sumRules: line.sumRules,
    }),
  });
}
