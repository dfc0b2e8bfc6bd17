import type { Transaction } from "kysely";
import type { PlanSummary } from "../../src/contracts/pay-run.ts";
import type { PayRunPlaybook } from "../../src/contracts/playbook.ts";
import type { PlannedTopUp } from "../../src/contracts/deposit.ts";
import { newYorkDate } from "../../src/domain/clock/new-york.ts";
import { formatUsd } from "../../src/domain/money.ts";
import { judgeShortage, shortWarning } from "../../src/domain/deposits/terms.ts";
import type { Db } from "../../src/store/index.ts";
import type { Run } from "../../src/store/runs/runs.ts";
import type { Tables } from "../../src/store/schema/tables.ts";
import { leftOfOthersCents, ownOnItsWayCents } from "../../src/store/deposits/deposits.ts";
import type { ChosenFunding } from "../shared/choose-funding.ts";
import type { DepositFrom } from "./account.ts";
import type { Holding } from "./demand.ts";
import { reviewTopUp } from "./review.ts";

/** The part of what was read for a plan that concerns deposits. */
export interface PlanReading {
  /** Business-clock instant. */
  readonly nowMs: number;
  readonly readAtMs: number;
  readonly funding: ChosenFunding;
  readonly deposits?: DepositFrom;
}

/** Judges which deposit a plan would need, or why there can't be one. */
export async function planTopUp(
  db: Db,
  planned: {
    readonly businessId: string;
    readonly runId: string;
    readonly playbook: PayRunPlaybook;
    readonly summary: PlanSummary;
    readonly reading: PlanReading;
  },
): Promise<{ readonly topUp: PlannedTopUp | null; readonly warning: string | null }> {
  const { businessId, runId, summary, reading } = planned;
  const rule = planned.playbook.pay.topUp;
  const holding = holdingOfPlan(reading.funding, reading.readAtMs);
  const from = reading.deposits;
  if (rule === undefined || from === undefined || holding === undefined) {
    return { topUp: null, warning: null };
  }
  const { sourceId, availableCents, readAtMs } = holding;
  const others = await leftOfOthersCents(db, { businessId, sourceId }, runId, readAtMs);
  // In a dry run: the period's own run may have made a deposit for the bills that are planned here
  // again.
  const ownCents = await ownOnItsWayCents(db, sourceId, runId);
  const shortage = judgeShortage({
    rule,
    needs: summary.cash.map(({ date, neededCents }) => ({ date, cents: neededCents })),
    leftCents: availableCents - summary.reservedCents + others.cents + ownCents,
    sameDayCents: from.kind === "account" ? from.sameDayCents : 0,
    today: newYorkDate(reading.nowMs),
  });
  if (shortage.kind === "covered") return { topUp: null, warning: null };
  if (shortage.kind === "above-limit") {
    const why = `the playbook allows no deposit above ${formatUsd(rule.atMostCents)}: put the money in by hand.`;
    return { topUp: null, warning: shortWarning(shortage.shortCents, why) };
  }
  if (from.kind === "none") {
    const why = `no deposit can be proposed: ${from.reason}.`;
    return { topUp: null, warning: shortWarning(shortage.terms.amountCents, why) };
  }
  const { account } = from;
  const topUp = { ...shortage.terms, account, approvers: rule.by, quorum: rule.quorum };
  return { topUp, warning: null };
}

/** Requests the deposit that a plan has shown, together with the plan. */
export async function askForTopUp(
  trx: Transaction<Tables>,
  asking: {
    readonly run: Run;
    readonly planHash: string;
    readonly reading: PlanReading;
    readonly realMs: number;
  },
): Promise<void> {
  const { run, planHash, reading, realMs } = asking;
  const holding = holdingOfPlan(reading.funding, reading.readAtMs);
  if (reading.deposits === undefined || holding === undefined) return;
  const clock = { businessMs: reading.nowMs, realMs };
  const policyRun = { ...run, planHash };
  const needed = { owner: run.runId, policyRun, from: reading.deposits, holding };
  await reviewTopUp(trx, needed, clock);
}

function holdingOfPlan(
  { choice, availableCents, noPayment }: ChosenFunding,
  readAtMs: number,
): Holding | undefined {
  if (choice.kind !== "balance" || noPayment !== null || availableCents === null) return undefined;
  return { sourceId: choice.sourceId, availableCents, readAtMs };
}
