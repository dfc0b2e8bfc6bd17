import { DAY_MS } from "../../src/contracts/durations.ts";
import type { ClockReading } from "../../src/business/clock.ts";
import { type UnreadablePayment, unreadablePaymentText } from "../../src/domain/unreadable.ts";
import type { Payment } from "../../src/payments-api/index.ts";
import type { ActivityContext } from "../shared/context.ts";
import { eachBusiness } from "../shared/each-business.ts";
import { PATIENT } from "../shared/patience.ts";
import type { PayOwner } from "./job.ts";

/** How long a read stays good enough to pay by: half of what the gate allows. */
const GOOD_FOR_MS = 60_000;

/** Older payments were on their way when the plan was made, which has read them all. */
const BEFORE_PLAN_MS = 14 * DAY_MS;

interface Kept {
  readonly beganMs: number;
  readonly sinceMs: number;
  readonly unclear: Promise<readonly UnreadablePayment[]>;
}

const sharedOf = eachBusiness<ActivityContext, { last?: Kept | undefined }>(() => ({}));

/**
 * Returns the payments that can't be read and name no bill, which the list of no bill shows: any
 * bill that is paid from their account may be paid by them. Lanes share the read.
 */
export async function unclearPayments(
  context: ActivityContext,
  { business, plannedAtMs }: Pick<PayOwner, "business" | "plannedAtMs">,
  { businessMs, realMs }: ClockReading,
): Promise<readonly UnreadablePayment[]> {
  const shared = sharedOf(context, business);
  const sinceMs = plannedAtMs + Math.min(0, businessMs - realMs) - BEFORE_PLAN_MS;
  const { last } = shared;
  const isGood = last !== undefined && performance.now() - last.beganMs < GOOD_FOR_MS;
  if (isGood && last.sinceMs <= sinceMs) return last.unclear;
  const createdAfter = new Date(Math.max(0, sinceMs)).toISOString();
  const pages = context.clientOf(business).payments.iteratePages({ createdAfter }, PATIENT);
  const kept = { beganMs: performance.now(), sinceMs, unclear: unclearOf(pages) };
  shared.last = kept;
  try {
    return await kept.unclear;
  } catch (error) {
    if (shared.last === kept) shared.last = undefined;
    throw error;
  }
}

async function unclearOf(pages: AsyncIterable<readonly Payment[]>): Promise<UnreadablePayment[]> {
  const unclear: UnreadablePayment[] = [];
  for await (const page of pages) unclear.push(...page.flatMap(unclearPayment));
  return unclear;
}

/** Returns a payment as one that may be of any bill; nothing if it is of one, or can be read. */
export function unclearPayment({
  id,
  payableId,
  bankAccountId: accountId,
  unreadable,
}: Payment): UnreadablePayment[] {
  if (payableId !== null || unreadable === undefined) return [];
  return [{ accountId, text: unreadablePaymentText(id, unreadable) }];
}
