import { WITHHELD_BILL } from "../../src/domain/facts/cancellations.ts";
import { record } from "../../src/store/facts/record.ts";
import type { Transaction } from "kysely";
import type { CancellationAssessment } from "../../src/contracts/cancellation.ts";
import { businessOfWorkflow } from "../../src/contracts/workflow-kinds.ts";
import { ENDED_PHASES } from "../../src/contracts/pay-run.ts";
import { releasersOf } from "../../src/domain/cancellations/policy.ts";
import { judgeCancellation } from "../../src/domain/cancellations/progress.ts";
import { soonestSleepMs } from "../../src/domain/sleeps.ts";
import { lookupWaitMs } from "../../src/domain/cancellations/lookup-wait.ts";
import { stopsCancels } from "../../src/domain/service-waits.ts";
import {
  type Cancellation,
  changeCancellation,
  getCancellation,
} from "../../src/store/cancellations/cancellations.ts";
import {
  type CancellationItem,
  changeItem,
  type ItemChange,
  listItems,
} from "../../src/store/cancellations/cancellation-items.ts";
import { activeHolds, type Hold } from "../../src/store/holds/holds.ts";
import { getRunLine, getRunLines } from "../../src/store/lines/lines.ts";
import { raiseNotice } from "../../src/store/notices/notices.ts";
import { getRun } from "../../src/store/runs/runs.ts";
import type { Tables } from "../../src/store/schema/tables.ts";
import { listWaits } from "../../src/store/runs/waits.ts";
import type { ClockReading } from "../../src/business/clock.ts";
import type { ActivityContext } from "../shared/context.ts";
import { lineStand } from "./line-stand.ts";
import { by } from "./notes.ts";

/**
 * Brings a cancellation's held-back bills up to date with their holds, their runs and the clock, and
 * returns what there is to do. Reads nothing from the service, so it can run as often as needed.
 */
export async function reviewCancellation(
  context: ActivityContext,
  id: string,
): Promise<CancellationAssessment> {
  const found = await getCancellation(context.store.db, id);
  if (found === undefined) return lost(id);
  const clock = await context.clockOf(found.business).now();
  return context.store.transactionOf(found.businessId, async (trx) => {
    const cancellation = (await getCancellation(trx, id)) ?? found;
    await settleWithheld(trx, cancellation, clock);
    const faults = (await listWaits(trx, cancellation.businessId)).filter(stopsCancels);
    const waits = faults.filter(({ retryAtMs }) => retryAtMs > clock.serviceMs);
    const now = judgeCancellation({
      business: cancellation.business,
      playbook: cancellation.playbook,
      requestedBy: cancellation.requestedBy,
      chosen: cancellation.chosenAtMs !== null,
      choiceWaitsFor: await choiceWaitsFor(trx, cancellation),
      holdsBack: cancellation.runId !== null,
      releasedBy: releasersOf(cancellation.policy),
      items: await listItems(trx, id),
      waits,
      clock,
    });
    if (cancellation.endedAtMs === null) {
      await changeCancellation(trx, id, {
        phase: now.phase,
        waitingFor: now.waitingFor,
        ...(now.ended ? { endedAtMs: clock.realMs } : {}),
      });
    }
    // A fault still stands between two tries, so `faults` counts here, not only `waits`.
    const waitingFor = faults[0]?.message ?? now.waitingFor;
    const noticeInMs = await notifyOfWaiting(trx, cancellation, { ...now, waitingFor }, clock);
    return { ...now, wakeInMs: soonestSleepMs(now.wakeInMs, noticeInMs) };
  });
}

/**
 * Assesses a cancellation that the store has lost. Nothing more is known of what it was about; a
 * person who still wants it requests it again.
 */
function lost(id: string): CancellationAssessment {
  const text = `The store has lost the cancellation ${id}: ask for it again.`;
  return {
    phase: "completed-with-exceptions",
    ended: true,
    waitingFor: `a person. ${text}`,
    business: businessOfWorkflow(id) ?? "",
    playbook: "",
    toChoose: false,
    toCancel: 0,
    toFollow: 0,
    needsAction: true,
    exceptions: 0,
    totalCents: 0,
    wakeInMs: 0,
    details: text,
  };
}

/**
 * Real time after which people are notified of a cancel that isn't done: its payments may go out at
 * 9:00 New York.
 */
const SOON_MS = 10 * 60_000;

/**
 * Notifies people once that payments are not cancelled yet, while there may still be time to act.
 *
 * @returns real milliseconds until that notice is due
 */
async function notifyOfWaiting(
  trx: Transaction<Tables>,
  { businessId, workflowId, runId, requestedAtMs, requestedBy, ...cancellation }: Cancellation,
  now: CancellationAssessment,
  clock: ClockReading,
): Promise<number> {
  const isOpen = now.phase === "choosing" || now.phase === "cancelling";
  const isLooking = cancellation.policy.events !== undefined && now.phase === "choosing";
  if ((runId !== null && !isLooking) || !isOpen) return Infinity;
  const leftMs = requestedAtMs + SOON_MS - clock.realMs;
  if (leftMs > 0) return leftMs;
  await raiseNotice(trx, {
    businessId,
    kind: "payment-not-cancelled",
    factKey: `${workflowId}/waits`,
    subject: isLooking
      ? `It is not known yet what the service shows after ${cancellation.reason}`
      : `Payments that ${requestedBy} wants cancelled are not cancelled yet`,
    text: `Waits for: ${now.waitingFor ?? now.phase}. It goes on trying; a payment that is not cancelled by 9:00 New York on its date goes out. See payrun status ${workflowId}`,
    roles: [],
    data: { id: workflowId, totalCents: now.totalCents },
    nowMs: clock.realMs,
  });
  return Infinity;
}

/**
 * Returns what the choice waits for; null if nothing. Bills can be held back only once they are
 * planned.
 */
async function choiceWaitsFor(
  trx: Transaction<Tables>,
  { runId, chosenAtMs }: Cancellation,
): Promise<string | null> {
  if (runId === null || chosenAtMs !== null) return null;
  const run = await getRun(trx, runId);
  if (run === undefined || run.planHash !== null || ENDED_PHASES.includes(run.phase)) return null;
  return `the plan of ${runId}`;
}

async function settleWithheld(
  trx: Transaction<Tables>,
  cancellation: Cancellation,
  clock: ClockReading,
): Promise<void> {
  const { runId, businessId } = cancellation;
  if (runId === null || cancellation.chosenAtMs === null) return;
  const items = await listItems(trx, cancellation.workflowId);
  const open = items.filter((item) => item.open && item.paymentId === null);
  if (open.length === 0) return;
  const payableIds = open.flatMap(({ payableId }) => payableId ?? []);
  const lines = await getRunLines(trx, runId, payableIds);
  const paid = new Set(
    lines.filter(({ state }) => state === "paid-elsewhere").map(({ payableId }) => payableId),
  );
  const run = await getRun(trx, runId);
  const runHasEnded = run !== undefined && ENDED_PHASES.includes(run.phase);
  const holds = await activeHolds(trx, businessId, clock.businessMs);
  for (const each of open) {
    const item = { ...each, isPaidElsewhere: paid.has(each.payableId ?? "") };
    const change =
      item.state === "unknown"
        ? await afterSending(trx, cancellation, item, clock)
        : withheldNow(item, {
            holds,
            runHasEnded,
            clock,
            releasedBy: releasersOf(cancellation.policy),
          });
    if (change === null) continue;
    await changeItem(trx, item, change, clock.realMs);
    if (change.open === false) await notify(trx, cancellation, item, change, clock);
  }
}

/** A bill that is held back, with what its run has found. */
type WithheldItem = CancellationItem & { readonly isPaidElsewhere: boolean };

function withheldNow(
  item: WithheldItem,
  now: {
    readonly holds: readonly Hold[];
    readonly runHasEnded: boolean;
    readonly clock: ClockReading;
    readonly releasedBy: readonly string[];
  },
): ItemChange | null {
  if (!now.holds.some(({ holdId }) => holdId === item.holdId)) {
    return { state: "released", open: false, reason: "Its hold was lifted." };
  }
  const isLate = item.releaseByMs !== null && now.clock.businessMs > item.releaseByMs;
  if (!isLate && !now.runHasEnded) return null;
  const why = item.isPaidElsewhere
    ? "It was paid, and not by its run."
    : isLate
      ? "Nobody released it in time, so it is not paid."
      : "Its run has ended.";
  const who = now.releasedBy.join(" or ");
  return { open: false, reason: `${why} It stays on hold until ${who} releases it.` };
}

/** Judges a held-back bill for which a request may have been under way when its hold was written. */
async function afterSending(
  trx: Transaction<Tables>,
  { runId, requestedAtMs }: Cancellation,
  item: CancellationItem,
  clock: ClockReading,
): Promise<ItemChange> {
  const line = await getRunLine(trx, runId ?? "", item.payableId ?? "");
  const later = { notBeforeMs: clock.serviceMs + lookupWaitMs(clock.realMs - requestedAtMs) };
  if (line === undefined) return later;
  const stand = await lineStand(trx, line);
  if (stand.kind === "sending") return later;
  if (stand.kind === "unsent") return { state: "withheld", reason: null };
  const { reason, goesOutAtMs } = stand;
  const cancelledAtMs = Math.floor(clock.businessMs);
  return { state: "too-late", open: false, reason, goesOutAtMs, cancelledAtMs };
}

async function notify(
  trx: Transaction<Tables>,
  cancellation: Cancellation,
  item: WithheldItem,
  change: ItemChange,
  clock: ClockReading,
): Promise<void> {
  const { businessId, workflowId, policy, runId } = cancellation;
  const { actor, nowMs } = by(cancellation, clock);
  const state = change.state ?? item.state;
  const said = state === "released" || state === "withheld" ? state : "too-late";
  const { amountCents, holdId, isPaidElsewhere, payableId } = item;
  await record(
    trx,
    WITHHELD_BILL[said](
      { businessId, nowMs, by: actor, subject: payableId ?? "" },
      { reason: change.reason ?? null },
      { workflowId, runId, amountCents, holdId, isPaidElsewhere, roles: releasersOf(policy) },
    ),
  );
}
