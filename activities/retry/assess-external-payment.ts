import { paymentFailedElsewhere } from "../../src/domain/facts/retries.ts";
import { record } from "../../src/store/facts/record.ts";
import { byWorkflow } from "../../src/contracts/authors.ts";
import type { RetryAssessment, RetryFailedPaymentInput } from "../../src/contracts/activities.ts";
import { retryFailedPaymentId } from "../../src/contracts/workflow-kinds.ts";
import { owedCents } from "../../src/domain/payments/owed.ts";
import { isOnItsWay } from "../../src/domain/payments/payment-states.ts";
import { failureRuleFor } from "../../src/domain/retries/policy.ts";
import { heldAfter } from "../../src/domain/retries/step.ts";
import { whoseAccount } from "../../src/domain/retries/whose-account.ts";
import { forgottenOf, notifyOfForgotten } from "../../src/ledger/forgotten-payments.ts";
import { paymentsOfBill } from "../../src/ledger/made-payments.ts";
import type { Payment } from "../../src/payments-api/index.ts";
import { playbookForExternalPayments } from "../../src/store/payables/external-payments.ts";
import type { ActivityContext } from "../shared/context.ts";
import { incidentOfBounce } from "../shared/incident-of-bounce.ts";
import { endedLook } from "../shared/ended-look.ts";
import { holdForFailure } from "./failure-holds.ts";

const NOTIFIED = "people were notified; the next run asks for an approval";

/**
 * Looks after a failed payment that Payrun did not make, if a playbook says so: notifies people,
 * and holds the account that it bounced from, or the vendor. Pays nothing, because nobody has
 * approved anything of it here: the next run plans the bill and asks.
 */
export async function assessExternalPayment(
  context: ActivityContext,
  { business, payableId }: RetryFailedPaymentInput,
): Promise<RetryAssessment> {
  const { store } = context;
  const client = context.clientOf(business);
  const { businessId } = context.profileOf(business);
  const listed = await client.payments.listAll({ payableId });
  const payments = await paymentsOfBill(store.db, businessId, payableId, listed);
  const forgotten = await notifyOfAnyForgotten(context, { business, payableId }, payments);
  const workflowId = retryFailedPaymentId(business, payableId);
  const failed = payments.find(({ status }) => status === "failed" || status === "returned");
  if (failed === undefined) return endedLook("none of its payments has failed");
  const how = failed.status === "failed" ? "failed" : "returned";
  const playbook = await playbookForExternalPayments(store.db, business, how);
  if (playbook === undefined) {
    return endedLook(
      forgotten.size > 0
        ? "the store has no record of its payment; people were notified"
        : "Payrun has not paid it",
    );
  }
  if (payments.some(({ status }) => isOnItsWay(status))) {
    return endedLook("another payment of it is on its way");
  }
  const payable = await client.payables.get(payableId);
  const owed = owedCents({
    totalCents: payable.totalAmountCents,
    amountPaidCents: payable.amountPaidCents,
    payments,
  });
  if (owed === 0) return endedLook("paid elsewhere");
  const { rule, code } = failureRuleFor(playbook.rules, failed.failureReason);
  const reason = failed.failureReason ?? "no reason given";
  const clock = await context.clockOf(business).now();
  const sourceId = sourceOf(failed);
  const whose = whoseAccount({
    code,
    failureReason: reason,
    sourceKind: sourceId === "balance" ? "balance" : "bank",
    othersThrough: 0,
    otherVendorsFailed: 0,
  });
  const held = heldAfter({ failed: { code, rule }, whose, returnsOfDay: 1 });
  if (held === "account" && sourceId !== null) {
    const account = { business, businessId, line: { sourceId }, clock, payments };
    const { by: roles, onIncident } = rule;
    const callsBack = onIncident !== undefined;
    const why = { code: code ?? ("unknown_reason" as const), reason, roles, callsBack };
    await incidentOfBounce(context, account, why);
  }
  const { contactId } = failed;
  if (held === "bill" || (held === "vendor" && contactId !== null)) {
    const bill = { businessId, workflowId, payableId, clock, line: { contactId: contactId ?? "" } };
    const scope = held === "bill" ? "payable" : "contact";
    await holdForFailure(context, bill, { scope, failure: reason, roles: rule.by });
  }
  if (!forgotten.has(failed.id)) {
    const fact = { payableId, failed, reason, roles: rule.by, playbook: playbook.name };
    await notifyOfOthers(context, { businessId, workflowId, nowMs: clock.realMs }, fact);
  }
  return endedLook(NOTIFIED);
}

/** Notifies people once of an external payment that came to nothing. */
async function notifyOfOthers(
  context: ActivityContext,
  by: { readonly businessId: string; readonly workflowId: string; readonly nowMs: number },
  fact: {
    readonly payableId: string;
    readonly failed: Payment;
    readonly reason: string;
    readonly roles: readonly string[];
    readonly playbook: string;
  },
): Promise<void> {
  const { businessId, workflowId, nowMs } = by;
  const { payableId, failed, reason, roles, playbook } = fact;
  const { id: paymentId, status, amountCents } = failed;
  const told = paymentFailedElsewhere(
    { businessId, nowMs, by: byWorkflow(workflowId), subject: payableId },
    { paymentId, reason, playbook },
    { status, amountCents, roles },
  );
  await context.store.transactionOf(businessId, (trx) => record(trx, told));
}

/**
 * Notifies people of payments that came back and may have been Payrun's own before the store was
 * restored. This comes first, because the money has come back whatever else is found.
 *
 * @returns ids of those payments
 */
async function notifyOfAnyForgotten(
  context: ActivityContext,
  { business, payableId }: RetryFailedPaymentInput,
  payments: readonly Payment[],
): Promise<ReadonlySet<string>> {
  const { store } = context;
  const { businessId } = context.profileOf(business);
  const forgotten = await forgottenOf(store.db, businessId, payments);
  if (forgotten.length > 0) {
    const { realMs: nowMs } = await context.clockOf(business).now();
    const by = { actor: byWorkflow(retryFailedPaymentId(business, payableId)), nowMs };
    await store.transactionOf(businessId, (trx) =>
      notifyOfForgotten(trx, businessId, forgotten, by),
    );
  }
  return new Set(forgotten.map(({ id }) => id));
}

/** Returns the funding source that a payment was made from, as far as the payment shows it. */
function sourceOf({ paymentRail, bankAccountId }: Payment): string | null {
  return paymentRail === "SERVICE" ? "balance" : bankAccountId;
}
