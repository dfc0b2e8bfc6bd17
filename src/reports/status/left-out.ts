import type { SkippedLine } from "../../contracts/pay-run.ts";
import type { RunPaymentStatus } from "../../api/runs.ts";

/** Returns a bill that a plan leaves out in the shape of a line: skipped, with its reason. */
export function leftOutLine(line: SkippedLine): RunPaymentStatus {
  return {
    payableId: line.payableId,
    publicId: line.publicId,
    contactId: line.contactId,
    contactName: line.contactName,
    amountCents: line.amountCents,
    state: "skipped",
    paymentIds: [],
    attempts: 0,
    reasonCode: line.code,
    reason: line.text,
    dueDate: line.dueDate,
    executionDate: null,
    arrivalDate: null,
    flags: [],
    approvers: [],
    quorum: 0,
    approvedBy: [],
  };
}
