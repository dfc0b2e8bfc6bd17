import type { ClockReading } from "../../src/business/clock.ts";
import type { TopUpRule } from "../../src/contracts/playbook.ts";
import { nextBankingDay } from "../../src/domain/clock/bank-calendar.ts";
import { newYorkDate } from "../../src/domain/clock/new-york.ts";
import { sumCents } from "../../src/domain/money.ts";
import type { FundingSource } from "../../src/payments-api/index.ts";
import type { Db } from "../../src/store/index.ts";
import { mayBeCountedTwice, reservedCents } from "../../src/store/lines/reserved.ts";
import { waitingForIncident } from "../../src/store/lines/retry-cases.ts";
import type { Run } from "../../src/store/runs/runs.ts";
import { leftOfOthersCents, unfundedByDate } from "../../src/store/deposits/deposits.ts";
import type { DepositFrom } from "./account.ts";

/** Which workflow needs money in a funding source, how much, and what is there. */
export interface Demand {
  /** Workflow that needs it. */
  readonly owner: string;
  readonly business: string;
  readonly businessId: string;
  readonly sourceId: string;
  readonly policyRunId: string;
  readonly rule: TopUpRule;
  readonly planHash: string;
  readonly needs: readonly { readonly date: string; readonly cents: number }[];
  readonly leftCents: number;
  /** False if the money there may have changed since it was read, or may be counted twice. */
  readonly certain: boolean;
}

/** What a funding source held when it was read. */
export interface Holding {
  readonly sourceId: string;
  readonly availableCents: number;
  /** Real instant at which the reading began. */
  readonly readAtMs: number;
}

/** The workflow that requests a deposit, and what was read to tell how much is missing. */
export interface Needed {
  /** Workflow that needs it: the run itself, or an incident of a funding source. */
  readonly owner: string;
  /** Run whose playbook allows it. */
  readonly policyRun: Pick<Run, "runId" | "business" | "businessId" | "policy" | "planHash">;
  readonly from: DepositFrom;
  readonly holding: Holding;
}

/**
 * Returns what a source holds; undefined if a deposit would not help: only the balance takes
 * deposits, and only an open one pays.
 */
export function holdingOf(
  source: FundingSource | undefined,
  readAtMs: number,
): Holding | undefined {
  if (source?.kind !== "balance" || !source.canPay || source.availableCents === null) {
    return undefined;
  }
  return { sourceId: source.id, availableCents: source.availableCents, readAtMs };
}

/**
 * Returns what the requester of a deposit needs now: a run for its bills without money, an incident
 * for the bills that wait for it. Undefined if the run's playbook allows no deposit.
 */
export async function demandOf(
  db: Db,
  { owner, policyRun, holding }: Needed,
  clock: Pick<ClockReading, "businessMs">,
): Promise<Demand | undefined> {
  const { business, businessId, planHash, policy, runId: policyRunId } = policyRun;
  const rule = policy.pay.topUp;
  if (rule === undefined || planHash === null) return undefined;
  const { sourceId } = holding;
  const left = await leftCents(db, { businessId, owner, holding, clock });
  const asking = { owner, business, businessId, sourceId, policyRunId, rule, planHash };
  if (owner === policyRunId) {
    const needs = await unfundedByDate(db, policyRunId, sourceId);
    return { ...asking, needs, leftCents: left.cents, certain: left.certain };
  }
  const bills = await waitingForIncident(db, { businessId, sourceId });
  const cents = sumCents(bills.map(({ amountCents }) => amountCents));
  const date = nextBankingDay(newYorkDate(clock.businessMs));
  const needs = cents === 0 ? [] : [{ date, cents }];
  // These bills have their money reserved already, so their sum is added back to what is left.
  return { ...asking, needs, leftCents: left.cents + cents, certain: left.certain };
}

/**
 * Returns what is left of a source for a workflow that needs more: without what is promised, and
 * with what the deposits of others leave over, which is negative if they need more.
 */
async function leftCents(
  db: Db,
  of: {
    readonly businessId: string;
    readonly owner: string;
    readonly holding: Holding;
    readonly clock: Pick<ClockReading, "businessMs">;
  },
): Promise<{ readonly cents: number; readonly certain: boolean }> {
  const { businessId, owner, holding, clock } = of;
  const { sourceId, readAtMs } = holding;
  const today = newYorkDate(clock.businessMs);
  const reserved = await reservedCents(db, { businessId, sourceId, today, readAtMs });
  const others = await leftOfOthersCents(db, { businessId, sourceId }, owner, readAtMs);
  const isTwice = await mayBeCountedTwice(db, { businessId, sourceId, today });
  return {
    cents: holding.availableCents - reserved + others.cents,
    certain: !others.moved && !isTwice,
  };
}
