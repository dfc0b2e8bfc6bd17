import type { DatabaseSync } from "node:sqlite";
import { stateRefusal } from "../http/api-error.ts";
import { bankAccountsOf } from "../bank-accounts/bank-accounts.ts";
import { type BusinessRow, isReadyToPay } from "../resources/businesses.ts";
import { balanceFigures } from "./figures.ts";

/** Above this amount standard ACH applies: $1,000,000.00. */
const largestSameDayCents = 100_000_000;

/**
 * Throws unless the balance is set up and open.
 *
 * @throws {ApiError} `feature_unavailable` or `setup_required`.
 */
export function requireOpenBalance(business: BusinessRow): void {
  requireBalance(business);
  if (business.balance_status !== "open") {
    throw stateRefusal("feature_unavailable", "The balance is closed");
  }
}

/** @throws {ApiError} `insufficient_balance` if less is available than is needed. */
export function requireAvailable(db: DatabaseSync, business: BusinessRow, amountCents: number) {
  const { availableCents } = balanceFigures(db, business.id);
  if (availableCents >= amountCents) return;
  throw stateRefusal(
    "insufficient_balance",
    `The balance has ${availableCents} cents available; ${amountCents} are needed`,
    { availableCents, amountCents },
  );
}

/** @throws {ApiError} `feature_unavailable` or `setup_required` if the business has no balance. */
export function requireBalance(business: BusinessRow): void {
  if (business.balance_feature === 0) {
    throw stateRefusal("feature_unavailable", "The balance is not available for this business");
  }
  if (business.balance_status === null) {
    throw stateRefusal("setup_required", "The balance has not been set up yet", {
      actionUrl: `https://app.payments.example/businesses/${business.id}/balance/setup`,
    });
  }
}

/** True if the balance can fund payments now. */
export function balanceCanPay(business: BusinessRow): boolean {
  return (
    business.balance_feature === 1 && business.balance_status === "open" && isReadyToPay(business)
  );
}

/** True if a transfer of this amount goes by same-day ACH, as the balance's `sameDayAch` says. */
export function goesSameDay(business: BusinessRow, amountCents: number): boolean {
  return business.accelerated_feature === 1 && amountCents <= largestSameDayCents;
}

/** Returns the balance in the API's shape (Balance, section 2). */
export function balanceJson(db: DatabaseSync, business: BusinessRow): Record<string, unknown> {
  const figures = balanceFigures(db, business.id);
  const isAccelerated = business.accelerated_feature === 1;
  const linked = bankAccountsOf(db, business.id).find(
    (account) => account.status === "verified" && account.is_default === 1,
  );
  return {
    status: business.balance_status,
    availableCents: figures.availableCents,
    cashCents: figures.cashCents,
    reservedCents: figures.reservedCents,
    pendingInboundCents: figures.pendingInboundCents,
    pendingInboundPassThroughCents: 0,
    pendingOutboundCents: figures.pendingOutboundCents,
    isReady: isReadyToPay(business),
    canSendPayments: balanceCanPay(business) && business.payments_locked === 0,
    sameDayAch: {
      inbound: isAccelerated,
      outbound: isAccelerated,
      maxAmountCents: largestSameDayCents,
    },
    linkedBank:
      linked === undefined
        ? null
        : { bankName: linked.institution_name, last4: linked.account_last4 },
    dashboardUrl: `https://app.payments.example/businesses/${business.id}/balance`,
  };
}
