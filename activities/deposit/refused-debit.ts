import type { ClockReading } from "../../src/business/clock.ts";
import type { ShownTransaction } from "../../src/domain/deposits/transactions.ts";
import { classifyFailure } from "../../src/domain/payments/failure-policy.ts";
import { debitRefusedBy } from "../../src/domain/payments/return-codes.ts";
import type { TopUp } from "../../src/store/deposits/deposits.ts";
import type { ActivityContext } from "../shared/context.ts";
import { incidentOfBounce } from "../shared/incident-of-bounce.ts";

/**
 * Opens the incident of a bank account that refuses debits, as a deposit that came back shows: a
 * payment from it would come back as well. Called before the deposit is marked, so that a crash in
 * between loses nothing.
 */
export async function incidentIfRefused(
  context: ActivityContext,
  { business, businessId, account: { bankAccountId }, approvers }: TopUp,
  shown: ShownTransaction | undefined,
  clock: ClockReading,
): Promise<void> {
  const reason = shown?.failureReason ?? "";
  const { code } = classifyFailure(reason);
  const refuses = debitRefusedBy(code);
  // A stop payment may be about this deposit alone, of which its own notice tells people.
  if (code === null || refuses === null || refuses === "entry") return;
  const bounced = { business, businessId, line: { sourceId: bankAccountId }, clock, payments: [] };
  const why = { code, reason, roles: approvers, callsBack: false };
  await incidentOfBounce(context, bounced, why);
}
