import { vendorPaid } from "../../src/domain/facts/runs.ts";
import { record } from "../../src/store/facts/record.ts";
import type { Transaction } from "kysely";
import type { Payment } from "../../src/payments-api/index.ts";
import { getPlanLine } from "../../src/store/lines/plan-lines.ts";
import type { Run } from "../../src/store/runs/runs.ts";
import type { Tables } from "../../src/store/schema/tables.ts";

/** A bill that has settled, and the payments that settled it. */
export interface SettledBill {
  readonly payableId: string;
  readonly payments: readonly Pick<Payment, "id" | "status" | "amountCents">[];
}

/**
 * Notifies vendors which bill each settled payment covers, once per payment, if the playbook says
 * so; in the transaction that records the settlement.
 */
export async function adviseVendors(
  trx: Transaction<Tables>,
  run: Run,
  bills: readonly SettledBill[],
  nowMs: number,
): Promise<void> {
  const { remittance } = run.policy;
  if (remittance === undefined) return;
  for (const { payableId, payments } of bills) {
    const line = await getPlanLine(trx, run.runId, payableId);
    const settled = payments.filter(({ status }) => status === "completed");
    if (line === undefined) continue;
    for (const { id, amountCents } of settled) {
      const advice = {
        payer: remittance.as ?? run.business,
        paymentId: id,
        amountCents,
        parts: settled.length,
        bill: {
          number: line.publicId ?? payableId,
          description: line.description,
          totalCents: line.totalCents,
          dueDate: line.dueDate,
        },
        sentOn: line.executionDate,
        isAnswered: remittance.replyTo !== null,
      };
      const { contactId } = line;
      const paid = { runId: run.runId, contactId, payableId, replyTo: remittance.replyTo, advice };
      await record(trx, vendorPaid({ businessId: run.businessId, nowMs }, paid));
    }
  }
}
