import type { RetryAssessment, RetryFailedPaymentInput } from "../../src/contracts/activities.ts";
import { retryFailedPaymentId } from "../../src/contracts/names.ts";
import { formatUsd } from "../../src/domain/money.ts";
import { owedCents } from "../../src/domain/payments/owed.ts";
import { isOnItsWay } from "../../src/domain/payments/payment-states.ts";
import { ruleFor } from "../../src/domain/retries/policy.ts";
import { whoseAccount } from "../../src/domain/retries/whose-account.ts";
import { forgottenOf, tellOfForgotten } from "../../src/ledger/forgotten-payments.ts";
import type { Payment } from "../../src/payments-api/index.ts";
import { appendAudit } from "../../src/store/audit/audit.ts";
import { raiseNotice } from "../../src/store/notices/notices.ts";
import {
  playbookForExternalPayments,
  EXTERNAL_PAYMENT_NOTICE,
} from "../../src/store/payables/external-payments.ts";
import type { ActivityContext } from "../shared/context.ts";
import { pauseAccount } from "../incident/pause-account.ts";
import { ended } from "./answers.ts";
import { holdVendor } from "./vendor-hold.ts";

const TOLD = "told of; the next run asks for an approval";

/**
 * Looks after a failed payment that Payrun did not make, where a playbook says so: tells of it, and
 * holds the account that it bounced from or the vendor. It pays nothing, because nobody has
 * approved anything of it here: the next run plans the bill and asks.
 */
export async function assessExternalPayment(
  context: ActivityContext,
  { business, payableId }: RetryFailedPaymentInput,
): Promise<RetryAssessment> {
  const { store } = context;
  const client = context.clientOf(business);
  const payments = await client.payments.listAll({ payableId });
  const { businessId } = context.profileOf(business);
  const forgotten = await forgottenOf(store.db, businessId, payments);
  const workflowId = retryFailedPaymentId(business, payableId);
  const failed = payments.find(({ status }) => status === "failed" || status === "returned");
  if (failed === undefined) return ended("none of its payments has failed");
  const how = failed.status === "failed" ? "failed" : "returned";
  const playbook = await playbookForExternalPayments(store.db, business, how);
  if (forgotten.length > 0) {
    // Told of first: whatever else is found, the money has come back.
    const { realMs: nowMs } = await context.clockOf(business).now();
    const by = { actor: workflowId, nowMs };
    await store.transactionOf(businessId, (trx) => tellOfForgotten(trx, businessId, forgotten, by));
  }
  if (playbook === undefined) {
    return ended(
      forgotten.length > 0
        ? "the store has no record of its payment; told of"
        : "Payrun has not paid it",
    );
  }
  if (payments.some(({ status }) => isOnItsWay(status))) {
    return ended("another payment of it is on its way");
  }
  const payable = await client.payables.get(payableId);
  const owed = owedCents({
    totalCents: payable.totalAmountCents,
    amountPaidCents: payable.amountPaidCents,
    payments,
  });
  if (owed === 0) return ended("paid elsewhere");
  const { rule, code } = ruleFor(playbook.rules, failed.failureReason);
  const told = failed.failureReason ?? "no reason given";
  const clock = await context.clockOf(business).now();
  const sourceId = sourceOf(failed);
  const whose = whoseAccount({
    code,
    failureReason: told,
    sourceKind: sourceId === "balance" ? "balance" : "bank",
    othersThrough: 0,
    otherVendorsFailed: 0,
  });
  if (whose === "payer" && rule.pause && sourceId !== null) {
    const account = { business, businessId, line: { sourceId }, clock, payments };
    const why = { code: code ?? "unknown-reason", reason: told, roles: rule.by };
    await pauseAccount(context, account, why);
  }
  if (whose !== "payer" && rule.action === "hold-vendor" && failed.contactId !== null) {
    const { contactId } = failed;
    const held = { businessId, workflowId, payableId, clock, line: { contactId } };
    await holdVendor(context, held, told, rule.by);
  }
  if (forgotten.some(({ id }) => id === failed.id)) return ended(TOLD);
  await store.transactionOf(businessId, async (trx) => {
    const isNews = await raiseNotice(trx, {
      businessId,
      kind: EXTERNAL_PAYMENT_NOTICE,
      factKey: failed.id,
      subject: `A payment of ${formatUsd(failed.amountCents)} that Payrun did not make has ${failed.status}`,
      text: `${payableId}: ${told}\n\nNothing is paid again by itself; the next run that selects the bill asks for an approval.`,
      roles: rule.by,
      data: { payableId, paymentId: failed.id, amountCents: failed.amountCents },
      nowMs: clock.realMs,
    });
    if (!isNews) return;
    await appendAudit(trx, {
      businessId,
      nowMs: clock.realMs,
      actor: workflowId,
      action: "payment.failed-elsewhere",
      subject: payableId,
      details: { paymentId: failed.id, reason: told, playbook: playbook.name },
    });
  });
  return ended(TOLD);
}

/** The funding source that a payment was made from, as far as the payment tells. */
function sourceOf({ paymentRail, bankAccountId }: Payment): string | null {
  return paymentRail === "SERVICE" ? "balance" : bankAccountId;
}
