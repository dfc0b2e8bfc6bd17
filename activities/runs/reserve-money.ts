import { fundingShort } from "../../src/domain/facts/runs.ts";
import { record } from "../../src/store/facts/record.ts";
import { byWorkflow } from "../../src/contracts/authors.ts";
import type { Transaction } from "kysely";
import { HOUR_MS } from "../../src/contracts/durations.ts";
import type { ClockReading } from "../../src/business/clock.ts";
import type { FundResult } from "../../src/contracts/activities.ts";
import { newYorkDate } from "../../src/domain/clock/new-york.ts";
import { whyNoPayment } from "../../src/domain/funding-source.ts";
import { formatUsd } from "../../src/domain/money.ts";
import { SOURCE_UNAVAILABLE } from "../../src/domain/service-waits.ts";
import {
  fundLines,
  fundSource,
  markShort,
  type UnfundedLine,
  unfundedBySource,
  unfundedLines,
} from "../../src/store/lines/funding-lines.ts";
import { topUpApproved } from "../../src/store/deposits/deposit-approvals.ts";
import { reservedCents } from "../../src/store/lines/reserved.ts";
import { getRun, type Run } from "../../src/store/runs/runs.ts";
import type { Tables } from "../../src/store/schema/tables.ts";
import { clearWait, setWait } from "../../src/store/runs/waits.ts";
import type { ActivityContext } from "../shared/context.ts";
import { type Payer, readPayer } from "../shared/own-sources.ts";
import { readOrWait } from "../shared/read-or-wait.ts";
import { lookAtArrived } from "../deposit/arrived-deposits.ts";
import { type DepositFrom, depositFrom } from "../deposit/account.ts";
import { type Holding, holdingOf } from "../deposit/demand.ts";
import { reviewTopUp } from "../deposit/review.ts";

/**
 * How long a source counts as unable to pay unless a run looks at it again. A run that waits for
 * its money looks again sooner than this.
 */
const SOURCE_WAIT_MS = HOUR_MS;

/**
 * Finds the money for approved lines: first come, first served, across runs.
 *
 * The service reserves nothing for scheduled payments before their day, so our own reservations are
 * subtracted. A source that doesn't show what it holds is taken to hold enough.
 */
export async function reserveMoney(context: ActivityContext, runId: string): Promise<FundResult> {
  const run = await getRun(context.store.db, runId);
  // If the store has lost the run meanwhile, the next look says so.
  if (run === undefined) return { funded: 0, short: 0 };
  const readAtMs = Date.now();
  const read = await readOrWait(context, run, () => readSources(context, run));
  if (read === undefined) return { funded: 0, short: 0 };
  const { sources, deposits } = read;
  // Payments whose day has come by now may be missing in what the source holds.
  const clock = await context.clockOf(run.business).readAnew();
  const { realMs, businessMs } = clock;
  const today = newYorkDate(businessMs);
  return context.store.transactionOf(run.businessId, async (trx) => {
    let funded = 0;
    let short = 0;
    for (const unfunded of await unfundedBySource(trx, runId)) {
      const { sourceId } = unfunded;
      const source = sources.find((each) => each.id === sourceId);
      const noPayment = whyNoPayment(sourceId, source);
      await settleSource(trx, { businessId: run.businessId, sourceId, noPayment, clock });
      const available =
        noPayment === null ? (source?.availableCents ?? Number.POSITIVE_INFINITY) : 0;
      const from = { businessId: run.businessId, sourceId, today, readAtMs };
      const left = available - (await reservedCents(trx, from));
      if (unfunded.cents <= left) {
        funded += await fundSource(trx, { runId, sourceId, nowMs: realMs });
        continue;
      }
      const urgent = await unfundedLines(trx, runId, sourceId);
      const chosen = choose(run, urgent, left);
      await fundLines(trx, { runId, lines: chosen, nowMs: realMs });
      funded += chosen.length;
      const rest = urgent.slice(chosen.length);
      short += rest.length;
      if (rest.length === 0) continue;
      const holding = holdingOf(source, readAtMs);
      const deposit =
        deposits === undefined
          ? undefined
          : await askForDeposit(trx, { run, from: deposits, holding, clock });
      await whenShort(trx, run, rest, {
        noPayment,
        leftCents: left,
        deposit,
        nowMs: realMs,
      });
    }
    return { funded, short };
  });
}

async function readSources(
  context: ActivityContext,
  { business, businessId, policy, runId }: Run,
): Promise<{ readonly sources: Payer["sources"]; readonly deposits: DepositFrom | undefined }> {
  const client = context.clientOf(business);
  const { sources } = await readPayer(client);
  const { topUp } = policy.pay;
  if (topUp === undefined) return { sources, deposits: undefined };
  await lookAtArrived(context, { owner: runId, business, businessId });
  return { sources, deposits: await depositFrom(client, context.profileOf(business), topUp) };
}

/** Makes the business wait for a source while it can't pay; operators see the reason. */
async function settleSource(
  trx: Transaction<Tables>,
  at: {
    readonly businessId: string;
    readonly sourceId: string;
    readonly noPayment: string | null;
    readonly clock: ClockReading;
  },
): Promise<void> {
  const { businessId, sourceId, noPayment, clock } = at;
  const { serviceMs: nowMs, realMs } = clock;
  const wait = { businessId, sourceId, code: SOURCE_UNAVAILABLE, realMs } as const;
  if (noPayment === null) await clearWait(trx, wait);
  else {
    const retryAtMs = nowMs + SOURCE_WAIT_MS;
    await setWait(trx, { ...wait, message: noPayment, nowMs, retryAtMs });
  }
}

/** Chooses the first lines that the money covers, in their order. */
function choose(run: Run, lines: readonly UnfundedLine[], leftCents: number): UnfundedLine[] {
  if (run.policy.pay.whenShort !== "most-urgent-first") return [];
  const chosen: UnfundedLine[] = [];
  let left = leftCents;
  for (const line of lines) {
    // A later bill never overtakes a more urgent one that doesn't fit.
    if (line.amountCents > left) break;
    left -= line.amountCents;
    chosen.push(line);
  }
  return chosen;
}

/** Requests the deposit that is missing, if the playbook allows one, and says how it stands. */
async function askForDeposit(
  trx: Transaction<Tables>,
  asking: {
    readonly run: Run;
    readonly from: DepositFrom;
    readonly holding: Holding | undefined;
    readonly clock: ClockReading;
  },
): Promise<string | undefined> {
  const { run, from, holding, clock } = asking;
  if (holding === undefined) return undefined;
  const needed = { owner: run.runId, policyRun: run, from, holding };
  const { topUp } = await reviewTopUp(trx, needed, clock);
  if (topUp === undefined) return undefined;
  if (topUp.state !== "proposed")
    return `A deposit is on its way, to be there on ${topUp.arrivesOn}.`;
  const isApproved = await topUpApproved(trx, topUp, Math.floor(clock.businessMs));
  return isApproved ? "A deposit is approved." : "A deposit is asked for.";
}

async function whenShort(
  trx: Transaction<Tables>,
  run: Run,
  lines: readonly UnfundedLine[],
  short: {
    readonly noPayment: string | null;
    readonly leftCents: number;
    /** How the deposit that makes up the shortage stands; undefined if there is none. */
    readonly deposit: string | undefined;
    readonly nowMs: number;
  },
): Promise<void> {
  const { leftCents, nowMs } = short;
  const needed = lines.reduce((sum, line) => sum + line.amountCents, 0);
  const left = Number.isFinite(leftCents) ? formatUsd(Math.max(0, leftCents)) : "unknown";
  const deposit = short.deposit === undefined ? "" : ` ${short.deposit}`;
  const lacks = `The funding source has ${left} left for bills of ${formatUsd(needed)}.${deposit}`;
  const reason = short.noPayment ?? lacks;
  const stop = run.policy.pay.whenShort === "stop";
  const then = short.noPayment === null ? "put money in" : "have that fixed";
  await markShort(trx, {
    runId: run.runId,
    businessId: run.businessId,
    lines,
    parked: stop,
    reason: stop ? `${reason} The playbook says stop: ${then}, then try it again.` : reason,
    nowMs,
  });
  if (stop) {
    const head = { businessId: run.businessId, nowMs, by: byWorkflow(run.runId) };
    const lack = { lines: lines.length, neededCents: needed };
    await record(trx, fundingShort({ ...head, subject: run.runId }, lack));
  }
}
