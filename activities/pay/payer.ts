import type { PayFields, PlanLine } from "../../src/contracts/pay-run.ts";
import { whyNoPayment } from "../../src/domain/funding-source.ts";
import { SOURCE_UNAVAILABLE } from "../../src/domain/service-waits.ts";
import type { ActivityContext } from "../shared/context.ts";
import { eachBusiness } from "../shared/each-business.ts";
import { type Payer, readPayer } from "../shared/own-sources.ts";
import type { PayOutcome } from "./job.ts";

/** How long a read stays good enough to pay by. */
const GOOD_FOR_MS = 15_000;

/** Reads what a business can pay from; payments made at about the same time share the read. */
export async function payerNow(context: ActivityContext, business: string): Promise<Payer> {
  const shared = sharedOf(context, business);
  const { last } = shared;
  if (last !== undefined && performance.now() - last.beganMs < GOOD_FOR_MS) return last.payer;
  const kept = { beganMs: performance.now(), payer: readPayer(context.clientOf(business)) };
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

/** Returns why nothing is sent from a line's source now; null if the source can pay. */
export function sourceFault({ funding }: PlanLine, { sources }: Payer): PayOutcome | null {
  const { sourceId } = funding;
  const source = sources.find(({ id }) => id === sourceId);
  const message = whyNoPayment(sourceId, source);
  if (message === null) return null;
  return {
    kind: "business-wait",
    code: SOURCE_UNAVAILABLE,
    scope: "source",
    message,
    retryAfterMs: null,
    isOpen: false,
  };
}

/**
 * Returns what a payment from a line's source sends now, with the reason, if the fields that were
 * approved can't be sent; null while they can.
 */
export function otherFields(
  { funding }: PlanLine,
  { sources, accounts }: Payer,
): { readonly pay: PayFields; readonly reason: string } | null {
  const source = sources.find(({ id }) => id === funding.sourceId);
  if (source === undefined) return null;
  const pay = source.fields;
  const named = funding.pay.bankAccountId;
  if (named === undefined) {
    const isUnplanned = Object.keys(funding.pay).length === 0 && Object.keys(pay).length > 0;
    return isUnplanned ? { pay, reason: "its source couldn't be used when it was planned" } : null;
  }
  const isOwn = accounts?.some(({ id, status }) => id === named && status === "verified") ?? true;
  return isOwn ? null : { pay, reason: NOT_OWN };
}

const NOT_OWN = "its own bank account is not one of the business's verified ones any more";
