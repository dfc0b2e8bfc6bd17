import { planLineOf } from "../../src/store/lines/lines.ts";
import { raiseNotice } from "../../src/store/notices/notices.ts";
import type { RetryCaseRule } from "../../src/store/lines/retry-cases.ts";
import { type RetryCase, setLine, setRow } from "./retry-case.ts";

/**
 * Tells the roles of the rule once the vendor has another bank account. Nothing is paid by itself:
 * a changed account deserves a second look, and the bill a new approval.
 */
export async function lookAtVendor(retry: RetryCase, { rule }: RetryCaseRule): Promise<void> {
  const { context, business, businessId, payableId, line, run, clock } = retry;
  const contact = await context.clientOf(business).contacts.get(line.contactId);
  const last4 = contact.bankAccount?.last4 ?? null;
  const { bankLast4 } = await planLineOf(context.store.db, line);
  if (last4 === null || last4 === bankLast4) return;
  const reason = `The vendor's bank account is ••${last4} now, it was ••${bankLast4 ?? "none"}. Ask the vendor by a channel you already know, then resolve with --retry: the next run asks for a new approval.`;
  if (line.reason !== reason) await setLine(retry, { reason });
  await raiseNotice(context.store.db, {
    businessId,
    kind: "bank-account-changed",
    factKey: `${payableId}/${last4}`,
    subject: `${contact.displayName ?? line.contactId} has another bank account after a failed payment`,
    text: reason,
    roles: rule.by,
    data: { payableId, contactId: line.contactId },
    runId: run.runId,
    nowMs: clock.realMs,
  });
  if (retry.row.reason !== reason) await setRow(retry, { reason });
}
