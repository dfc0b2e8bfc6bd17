import {
  BALANCE,
  depositLines,
  paymentLines,
  type StatementLine,
} from "../../domain/statement/lines.ts";
import { dayOfInstant } from "../../domain/clock/named-day.ts";
import { hasFailed } from "../../domain/payments/payment-states.ts";
import type { ActionContext } from "../../actions/context.ts";
import type { BusinessProfile } from "../../config/business-profile.ts";
import { GatewayError } from "../../actions/errors.ts";
import { topUpsOfBusiness, topUpsUnder } from "../../store/deposits/deposits.ts";
import type { Run } from "../../store/runs/runs.ts";
import { type MadeDeposit, readDeposits } from "./read-deposits.ts";
import {
  type Days,
  type PaymentOfLine,
  readRunPayments,
  readPaymentsOfDays,
} from "./read-payments.ts";

/** A line on an account's statement, with what it belongs to. */
export interface StatementRow extends StatementLine {
  readonly kind: "payment" | "deposit";
  /** The service's id of the payment or transaction. */
  readonly reference: string;
  readonly payableId: string;
  readonly bill: string;
  readonly vendor: string;
  readonly contactId: string;
  readonly description: string;
  /** The service's name of the account that it says was debited. */
  readonly bankAccountId: string;
  /** Name and last digits of the account. */
  readonly source: string;
  /** The service's word for the state of the payment or deposit. */
  readonly status: string;
  readonly settledOn: string;
  /**
   * Payrun's state of the bill or of the request for a deposit; of a payment that came to nothing,
   * its own, whatever has become of its bill since.
   */
  readonly state: string;
}

export type StatementContext = Pick<ActionContext, "store" | "profiles" | "clientOf">;

/**
 * Reads a run's lines on its accounts' statements, some at a time, in no order.
 *
 * @throws GatewayError 503 if the service can't be read
 */
export async function* statementRows(
  context: StatementContext,
  run: Run,
): AsyncGenerator<readonly StatementRow[]> {
  const profile = context.profiles.byBusinessId(run.businessId);
  if (profile === undefined) {
    const message = `The business ${run.business} is in no profile any more; its payments can't be read.`;
    throw new GatewayError("business_unknown", message);
  }
  const { db } = context.store;
  const client = context.clientOf(profile);
  for await (const paid of readRunPayments(db, client, run)) yield paid.flatMap(rowsOfPayment);
  const topUps = await topUpsUnder(db, run.businessId, run.runId);
  yield (await readDeposits(db, client, topUps)).flatMap(rowsOfDeposit);
}

/**
 * Reads the lines of all runs of a business on its accounts' statements of these days, some at a
 * time, in no order.
 *
 * @throws GatewayError 503 if the service can't be read
 */
export async function* statementRowsOfDays(
  context: Pick<StatementContext, "store" | "clientOf">,
  profile: BusinessProfile,
  days: Days,
): AsyncGenerator<readonly StatementRow[]> {
  const { db } = context.store;
  const client = context.clientOf(profile);
  const { businessId } = profile;
  const within = ({ date }: StatementRow) => date >= days.from && date <= days.to;
  for await (const paid of readPaymentsOfDays(db, client, businessId, days)) {
    yield paid.flatMap(rowsOfPayment).filter(within);
  }
  const topUps = await topUpsOfBusiness(db, businessId);
  yield (await readDeposits(db, client, topUps)).flatMap(rowsOfDeposit).filter(within);
}

function rowsOfPayment({ planned: { plan, line }, payment }: PaymentOfLine): StatementRow[] {
  const bankAccountId = payment.bankAccountId ?? "";
  const account = plan.funding.kind === "balance" ? BALANCE : bankAccountId || line.sourceId;
  return paymentLines(payment, account, line.executionDate).map((each) => ({
    ...each,
    kind: "payment",
    reference: payment.id,
    payableId: line.payableId,
    bill: plan.publicId ?? "",
    vendor: plan.contactName ?? "",
    contactId: plan.contactId,
    description: plan.description ?? "",
    bankAccountId,
    source: nameOf(plan.funding),
    status: payment.status,
    settledOn: payment.status === "completed" ? (dayOfInstant(payment.processedAt) ?? "") : "",
    state: hasFailed(payment.status) ? payment.status : line.state,
  }));
}

function rowsOfDeposit({ topUp, transactionId, status, deposit }: MadeDeposit): StatementRow[] {
  if (deposit === null) return [];
  return depositLines(deposit).map((each) => ({
    ...each,
    kind: "deposit",
    reference: transactionId,
    payableId: "",
    bill: "",
    vendor: "",
    contactId: "",
    description: "",
    bankAccountId: each.account === BALANCE ? "" : each.account,
    source: each.account === BALANCE ? "Balance" : nameOf(topUp.account),
    status,
    settledOn: deposit.stands === "completed" ? deposit.arrivedOn : "",
    state: topUp.state,
  }));
}

function nameOf({ name, last4 }: { name: string | null; last4: string | null }): string {
  return [name, last4].filter((part) => part !== null).join(" ");
}
