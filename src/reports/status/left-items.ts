import type { ActionContext } from "../../actions/context.ts";
import {
  type EndedItem,
  leftToPeople,
  saidNow,
} from "../../domain/cancellations/left-to-people.ts";
import { releasersOf } from "../../domain/cancellations/policy.ts";
import { standingReason } from "../../domain/cancellations/progress.ts";
import {
  type CancellationItem,
  lastEndMs,
  listItems,
} from "../../store/cancellations/cancellation-items.ts";
import type { Cancellation } from "../../store/cancellations/cancellations.ts";
import type { Db } from "../../store/index.ts";
import { getRunLine } from "../../store/lines/lines.ts";
import { type SeenPayment, seenPayments } from "../../store/payables/seen-payments.ts";
import { businessNowMs, clocksOf } from "../moment.ts";

type NowContext = Pick<ActionContext, "store" | "profiles" | "clocks" | "nowMs">;

/**
 * Returns what a cancellation waits for now: what it left to a person at its end need not wait
 * forever.
 */
export async function waitingForNow(
  context: NowContext,
  cancellation: Cancellation,
): Promise<string | null> {
  const { endedAtMs, phase, waitingFor } = cancellation;
  const releasedBy = releasersOf(cancellation.policy);
  const leavesNothing = phase !== "completed-with-exceptions" && releasedBy.length === 0;
  if (endedAtMs === null || leavesNothing) return waitingFor;
  return leftNow(context, cancellation, releasedBy);
}

/**
 * Returns what an ended cancellation leaves to a person now.
 *
 * @param releasedBy roles that release bills which it holds back; empty to leave these out
 */
export async function leftNow(
  context: NowContext,
  cancellation: Cancellation,
  releasedBy: readonly string[] = [],
): Promise<string | null> {
  const { db } = context.store;
  const stored = await listItems(db, cancellation.workflowId);
  const items = await withStatus(db, cancellation, stored);
  return leftToPeople(items, await nowMsOf(context, cancellation.business), releasedBy);
}

/** Returns items of a cancellation, each with its present reason. */
export async function itemsNow(
  context: NowContext,
  cancellation: Cancellation,
  items: readonly CancellationItem[],
): Promise<CancellationItem[]> {
  const { db } = context.store;
  const clock = await clocksOf(context, cancellation.business);
  const businessMs = clock?.businessMs ?? context.nowMs();
  const now = {
    serviceMs: clock?.serviceMs ?? 0,
    lastEndMs: await lastEndMs(db, cancellation.workflowId),
  };
  const known = await withStatus(db, cancellation, items);
  return known.map((item) => ({
    ...item,
    reason: item.open ? standingReason(item, now) : reasonNow(item, businessMs),
  }));
}

/** Returns an item's present reason; while the item is open, the stored one. */
export function reasonNow(
  item: EndedItem & Pick<CancellationItem, "open">,
  businessMs: number,
): string | null {
  return item.open ? item.reason : saidNow(item, businessMs).reason;
}

/** Adds the status that the service last gave each payment. */
async function withStatus(
  db: Db,
  { businessId, runId }: Cancellation,
  items: readonly CancellationItem[],
): Promise<(CancellationItem & EndedItem)[]> {
  const ids = items.flatMap(({ paymentId }) => paymentId ?? []);
  const seen = await seenPayments(db, businessId, ids);
  return Promise.all(
    items.map(async (item) => {
      if (item.paymentId !== null) return { ...item, status: seen.get(item.paymentId)?.status };
      if (item.goesOutAtMs === null || item.payableId === null) return item;
      const line = await getRunLine(db, runId ?? "", item.payableId);
      const made = await seenPayments(db, businessId, line?.paymentIds ?? []);
      return { ...item, status: sharedStatus([...made.values()]) };
    }),
  );
}

/** Returns the status that all payments of a bill share, if they do. */
function sharedStatus(payments: readonly SeenPayment[]): string | undefined {
  const [first, ...others] = new Set(payments.map(({ status }) => status));
  return others.length === 0 ? first : undefined;
}

/** Returns the business clock; the real clock if it can't be read. */
async function nowMsOf(context: NowContext, business: string): Promise<number> {
  const businessMs = await businessNowMs(context, business);
  return businessMs === 0 ? context.nowMs() : businessMs;
}
