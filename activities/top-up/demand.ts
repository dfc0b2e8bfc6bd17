import type { ClockReading } from "../../src/business/clock.ts";
import type { TopUpRule } from "../../src/contracts/playbook.ts";
import { newYorkDate } from "../../src/domain/clock/new-york.ts";
import type { FundingSource } from "../../src/payments-api/index.ts";
import type { Db } from "../../src/store/index.ts";
import { mayBeCountedTwice, reservedCents } from "../../src/store/reserved.ts";
import type { Run } from "../../src/store/runs.ts";
import { leftOfOthersCents, unfundedByDate } from "../../src/store/top-ups.ts";

/** Who needs money in a funding source, how much, and what there is. */
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
  /** False where what there is may have changed since it was read, or be counted twice. */
  readonly certain: boolean;
}

/** What a funding source held when it was read. */
export interface Holding {
  readonly sourceId: string;
  readonly availableCents: number;
  /** Real instant at which the reading began. */
  readonly readAtMs: number;
}

/** Undefined where a deposit would not help: only the balance takes deposits, and only an open one pays. */
export function holdingOf(
  source: FundingSource | undefined,
  readAtMs: number,
): Holding | undefined {
  if (source?.kind !== "balance" || !source.canPay || source.availableCents === null) {
    return undefined;
  }
  return { sourceId: source.id, availableCents: source.availableCents, readAtMs };
}

/** What a run's bills without money need. Undefined where its playbook allows no deposit. */
export async function runDemand(
  db: Db,
  run: Pick<Run, "runId" | "business" | "businessId" | "policy" | "planHash">,
  holding: Holding,
  clock: Pick<ClockReading, "businessMs">,
): Promise<Demand | undefined> {
  const rule = run.policy.pay.topUp;
  if (rule === undefined || run.planHash === null) return undefined;
  const { businessId, runId } = run;
  const { sourceId } = holding;
  const left = await leftCents(db, { businessId, owner: runId, holding, clock });
  return {
    owner: runId,
    business: run.business,
    businessId,
    sourceId,
    policyRunId: runId,
    rule,
    planHash: run.planHash,
    needs: await unfundedByDate(db, runId, sourceId),
    leftCents: left.cents,
    certain: left.certain,
  };
}

/** What is left of a source for one who needs more: less what is promised, and what others wait for. */
export async function leftCents(
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
