import type { PlanLine } from "../../src/contracts/pay-run.ts";
import { whyNoPayment } from "../../src/domain/funding-source.ts";
import { SOURCE_UNAVAILABLE } from "../../src/domain/service-waits.ts";
import type { BankAccount, FundingSource } from "../../src/payments-api/index.ts";
import { unlessRefused } from "../../src/business/source-money.ts";
import { payFields } from "../shared/choose-funding.ts";
import type { ActivityContext } from "../shared/context.ts";
import { eachBusiness } from "../shared/each-business.ts";
import type { PayOutcome } from "./job.ts";

/** What a business can pay from, as the service showed it a moment ago. */
export interface Payer {
  readonly sources: readonly FundingSource[];
  /** Undefined if the token may not read them. */
  readonly accounts: readonly BankAccount[] | undefined;
}

/** How long a read stays good enough to pay by. */
const GOOD_FOR_MS = 15_000;

/** Reads what a business can pay from; payments made at about the same time share the read. */
export async function readPayer(context: ActivityContext, business: string): Promise<Payer> {
  const shared = sharedOf(context, business);
  const { last } = shared;
  if (last !== undefined && performance.now() - last.beganMs < GOOD_FOR_MS) return last.payer;
  const kept = { beganMs: performance.now(), payer: read(context, business) };
  shared.last = kept;
  try {
    return await kept.payer;
  } catch (error) {
    if (shared.last === kept) shared.last = undefined;
    throw error;
  }
}

interface Kept {
  readonly beganMs: number;
  readonly payer: Promise<Payer>;
}

const sharedOf = eachBusiness<ActivityContext, { last?: Kept | undefined }>(() => ({}));

async function read(context: ActivityContext, business: string): Promise<Payer> {
  const client = context.clientOf(business);
  const sources = await client.fundingSources.list();
  return { sources, accounts: await unlessRefused(client.bankAccounts.list()) };
}

/** Returns why nothing is sent from a line's source now; null if the source can pay. */
export function sourceFault({ funding }: PlanLine, { sources }: Payer): PayOutcome | null {
  const { sourceId } = funding;
  const source = sources.find(({ id }) => id === sourceId);
  const message = whyNoPayment(sourceId, source);
  if (message === null) return null;
  return {
    ...{ kind: "business-wait", code: SOURCE_UNAVAILABLE, scope: "source", message },
    ...{ retryAfterMs: null, isOpen: false },
  };
}

/**
 * Returns the fields of a line's source, as they were approved. Those of the balance may name the
 * account that was the default then; if it is gone, the present default account takes its place.
 */
export function payFieldsNow(
  { funding }: PlanLine,
  { sources, accounts }: Payer,
): Readonly<Record<string, unknown>> {
  const named = funding.pay["bankAccountId"];
  const source = sources.find(({ id }) => id === funding.sourceId);
  if (funding.kind !== "balance" || named === undefined || source === undefined) return funding.pay;
  const isGone =
    accounts !== undefined &&
    !accounts.some(({ id, status }) => id === named && status === "verified");
  return isGone ? payFields(source, accounts) : funding.pay;
}
