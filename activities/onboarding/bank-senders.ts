import { createHash } from "node:crypto";
import { instantOf } from "../../src/domain/clock/instants.ts";
import {
  type AccountView,
  isLastAttempt,
  pendingAccount,
} from "../../src/domain/onboarding/bank-account.ts";
import { lastFour } from "../../src/domain/onboarding/matching.ts";
import type { BankAccountValue, MicroDepositsValue } from "../../src/domain/onboarding/values.ts";
import type { PaymentsClient } from "../../src/payments-api/index.ts";
import type { OnboardingInput } from "../../src/store/onboarding/onboarding-inputs.ts";
import type { Sender, Sending } from "./sender.ts";

/**
 * Reads the business's bank accounts, as far as deciding needs them.
 *
 * @param given everything that was ever provided: attempts count even if the service hasn't counted
 * them yet, or doesn't show them
 */
export async function readAccounts(
  client: PaymentsClient,
  given: readonly OnboardingInput[],
): Promise<AccountView[]> {
  const accounts = await client.bankAccounts.list();
  return accounts.map((account) => {
    const counted = account.verificationAttempts ?? 0;
    const made = given.filter(
      ({ step, state, facts }) =>
        step === "micro-deposits" && state !== "waiting" && facts.accountId === account.id,
    ).length;
    return {
      id: account.id,
      status: account.status,
      last4: account.accountNumberLast4 ?? null,
      hasArrived: (account.microDepositsCompletedAt ?? null) !== null,
      initiatedAtMs: instantOf(account.microDepositsInitiatedAt),
      counted,
      attempts: Math.max(counted, made),
    };
  });
}

export function bankAccountSender(
  { client, businessId, input }: Sending,
  value: BankAccountValue,
): Sender {
  return {
    personal: [value.accountNumber],
    async look() {
      const accounts = await client.bankAccounts.list();
      const isThere = accounts.some(
        (account) =>
          (account.status === "pending_verification" || account.status === "verified") &&
          account.accountNumberLast4 === lastFour(value.accountNumber) &&
          (account.routingNumberLast4 ?? lastFour(value.routingNumber)) ===
            lastFour(value.routingNumber),
      );
      return isThere ? { kind: "there" } : { kind: "absent" };
    },
    async send() {
      const idempotencyKey = keyOf(businessId, input.inputId);
      await client.bankAccounts.create(value, { idempotencyKey });
    },
  };
}

/**
 * Sends the amounts of micro-deposits. Wrong attempts count, and three of them end the account: no
 * attempt is sent twice, and the last one never without a person's word.
 */
export function microDepositsSender(
  { client, businessId, input, given }: Sending,
  { amountsCents }: MicroDepositsValue,
): Sender {
  let accountId = input.facts.accountId ?? "";
  return {
    personal: [],
    async look() {
      const accounts = await readAccounts(client, given);
      if (accounts.some(({ status }) => status === "verified")) return { kind: "there" };
      const account = accounts.find(({ id }) => id === accountId) ?? pendingAccount(accounts);
      if (account?.status !== "pending_verification") {
        return { kind: "refused", reason: "No bank account waits for its micro-deposits." };
      }
      const { attemptsBefore } = input.facts;
      if (attemptsBefore !== undefined && account.counted > attemptsBefore) {
        return { kind: "refused", reason: "The amounts were not right." };
      }
      if (isLastAttempt(account) && input.facts.lastAttempt !== true) {
        return {
          kind: "refused",
          reason:
            "Two attempts were wrong, and a third wrong one ends the account. Look at the bank's statement, and provide the amounts with lastAttempt: true.",
        };
      }
      accountId = account.id;
      return { kind: "absent", facts: { attemptsBefore: account.counted, accountId } };
    },
    async send() {
      const idempotencyKey = keyOf(businessId, input.inputId);
      await client.bankAccounts.verifyMicroDeposits(accountId, amountsCents, { idempotencyKey });
    },
  };
}

/** Returns an input's key, the same after any crash, so that the service recognizes a resend. */
function keyOf(businessId: string, inputId: string): string {
  const hash = createHash("sha256").update(`${businessId}\n${inputId}`).digest("hex");
  return `kyb1-${hash.slice(0, 48)}`;
}
