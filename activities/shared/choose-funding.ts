import { availableCents, unlessRefused } from "../../src/business/source-money.ts";
import type { BusinessProfile } from "../../src/config/business-profile.ts";
import type { FundingChoice } from "../../src/contracts/pay-run.ts";
import { whyNoPayment } from "../../src/domain/funding-source.ts";
import type { FundingSource, PaymentsClient } from "../../src/payments-api/index.ts";
import { readPayer } from "./own-sources.ts";
import { PlanRefusedError } from "./plan-refused-error.ts";

export interface ChosenFunding {
  readonly choice: FundingChoice;
  /** Null if the source doesn't show what it holds; 0 while it can't pay. */
  readonly availableCents: number | null;
  /** Why it can't pay now; null if it can. */
  readonly noPayment: string | null;
}

/**
 * Reads the funding source that a playbook pays from, with the fields that a payment from it sends.
 *
 * A source that can't pay at the moment is still chosen: people may approve while others fix it,
 * and the run waits for its money.
 *
 * @param from a funding source id, or `default`
 * @throws {PlanRefusedError} there is no such source, or it debits a bank account and nobody has
 * accepted the ACH authorization
 */
export async function chooseFunding(
  client: PaymentsClient,
  profile: BusinessProfile,
  from: string,
): Promise<ChosenFunding> {
  const { sources } = await readPayer(client);
  const source = sources.find((each) => (from === "default" ? each.isDefault : each.id === from));
  if (source === undefined) throw await unknownSource(client, from, sources);
  const needsAchAuthorization = source.kind !== "balance";
  if (needsAchAuthorization && profile.achAuthorization === undefined) {
    throw new PlanRefusedError(
      `Funding source “${source.id}” debits a bank account, and nobody has accepted the ACH debit authorization for business “${profile.name}”. Add achAuthorization: { acceptedBy, acceptedAt } to its profile once a person has.`,
    );
  }
  const choice: FundingChoice = {
    sourceId: source.id,
    rail: source.rail ?? "",
    kind: source.kind,
    name: source.name,
    last4: source.last4,
    pay: source.fields,
    needsAchAuthorization,
  };
  const noPayment = whyNoPayment(source.id, source);
  return { choice, availableCents: await availableCents(client, source), noPayment };
}

const NO_SOURCE =
  "The service lists no funding source of the business yet. It has some once it is verified and a bank account is linked (docs/kyb-onboarding.md).";

async function unknownSource(
  client: PaymentsClient,
  from: string,
  sources: readonly FundingSource[],
): Promise<PlanRefusedError> {
  const known = sources.map((source) => source.id).join(", ") || "none";
  const accounts = await unlessRefused(client.bankAccounts.list());
  const account = accounts?.find(({ id }) => id === from);
  if (account !== undefined) {
    return new PlanRefusedError(
      `Nothing can be paid from “${from}” (playbook, pay: { from: … }): the bank account is ${account.status}. There are: ${known}.`,
    );
  }
  if (from === "default" && sources.length === 0) return new PlanRefusedError(NO_SOURCE);
  return new PlanRefusedError(
    from === "default"
      ? `The service marks no funding source as default. Name one in the playbook under pay: { from: … }; there are: ${known}.`
      : `There is no funding source “${from}” (playbook, pay: { from: … }); there are: ${known}.`,
  );
}
