import type { Transaction } from "kysely";
import { cancelScheduledPaymentsId } from "../../src/contracts/names.ts";
import type { Payment } from "../../src/payments-api/index.ts";
import { PaymentsApiError } from "../../src/payments-api/index.ts";
import { appendAudit } from "../../src/store/audit.ts";
import {
  type Cancellation,
  changeCancellation,
  getCancellation,
} from "../../src/store/cancellations.ts";
import {
  type CancellationItem,
  insertItem,
  withheldBy,
} from "../../src/store/cancellation-items.ts";
import { activeHolds, createHold } from "../../src/store/holds.ts";
import type { Tables } from "../../src/store/tables.ts";
import type { ClockReading } from "../../src/business/clock.ts";
import type { ActivityContext } from "../context.ts";
import { readOrWait } from "../read-or-wait.ts";
import { scheduledLines } from "./choose-lines.ts";
import { withhold } from "./withhold.ts";

/** Payments that are read at the same time. */
const READS_AT_ONCE = 10;

/**
 * Chooses what a cancellation is about and puts every bill of it on hold, in one transaction and
 * before anything is cancelled: no run pays behind the cancel, and only a person lifts the holds.
 *
 * Doing it again changes nothing.
 */
export async function chooseCancellation(context: ActivityContext, id: string): Promise<void> {
  const cancellation = await getCancellation(context.store.db, id);
  if (cancellation === undefined) throw new Error(`${id} is not in the store`);
  if (cancellation.chosenAtMs !== null) return;
  if (cancellation.policy.how === "not-submitted-until-released") {
    await withhold(context, cancellation);
    return;
  }
  const found = await readOrWait(context, cancellation, () => payments(context, cancellation));
  if (found === undefined) return;
  const clock = await context.clockOf(cancellation.business).now();
  await context.store.transactionOf(cancellation.businessId, (trx) =>
    keep(trx, cancellation, found, clock),
  );
}

interface Chosen {
  readonly paymentId: string;
  /** Undefined where the service doesn't know it. */
  readonly payment: Payment | undefined;
}

async function payments(context: ActivityContext, cancellation: Cancellation): Promise<Chosen[]> {
  const { choose } = cancellation.policy;
  const { vendor, payable = null } = choose;
  if (choose.payments !== null) {
    const chosen = await readAll(context, cancellation, choose.payments);
    return vendor === null ? chosen : chosen.filter(({ payment }) => payment?.contactId === vendor);
  }
  const isOpen = choose.run === null && choose.where === null;
  if (isOpen && (vendor !== null || payable !== null)) {
    return cancellable(context, cancellation, {
      ...(vendor === null ? {} : { contactId: vendor }),
      ...(payable === null ? {} : { payableId: payable }),
    });
  }
  const { paymentIds, payableIds } = await scheduledLines(context, cancellation);
  const chosen = await readAll(context, cancellation, paymentIds);
  for (const payableId of payableIds) {
    chosen.push(...(await cancellable(context, cancellation, { payableId })));
  }
  const seen = new Set<string>();
  return chosen.filter(({ paymentId }) => !seen.has(paymentId) && seen.add(paymentId));
}

/** What the service has scheduled or holds of a vendor or a bill, what runs soonest first. */
async function cancellable(
  context: ActivityContext,
  { business }: Cancellation,
  of: { readonly contactId?: string; readonly payableId?: string },
): Promise<Chosen[]> {
  const all = await context.clientOf(business).payments.listAll(of);
  return all
    .filter(({ status }) => status === "scheduled" || status === "held")
    .toSorted((one, other) => ((one.scheduledAt ?? "") < (other.scheduledAt ?? "") ? -1 : 1))
    .map((payment) => ({ paymentId: payment.id, payment }));
}

async function readAll(
  context: ActivityContext,
  cancellation: Cancellation,
  ids: readonly string[],
): Promise<Chosen[]> {
  const chosen: Chosen[] = [];
  for (let start = 0; start < ids.length; start += READS_AT_ONCE) {
    const some = ids.slice(start, start + READS_AT_ONCE);
    chosen.push(...(await Promise.all(some.map((id) => read(context, cancellation, id)))));
  }
  return chosen;
}

async function read(
  context: ActivityContext,
  { business }: Cancellation,
  paymentId: string,
): Promise<Chosen> {
  try {
    return { paymentId, payment: await context.clientOf(business).payments.get(paymentId) };
  } catch (error) {
    if (error instanceof PaymentsApiError && error.status === 404) {
      return { paymentId, payment: undefined };
    }
    throw error;
  }
}

/** Holds that earlier cancellations have set on the same bills: one release lifts what is one hold. */
async function heldBefore(
  trx: Transaction<Tables>,
  { business, businessId }: Cancellation,
  found: readonly Chosen[],
  clock: ClockReading,
): Promise<Map<string, string>> {
  const payableIds = new Set(found.map(({ payment }) => payment?.payableId));
  const beginning = cancelScheduledPaymentsId(business, "");
  const holds = new Map<string, string>();
  for (const hold of await activeHolds(trx, businessId, clock.businessMs)) {
    const { author, holdId, scope, value } = hold;
    if (scope !== "payable" || !payableIds.has(value) || !author.startsWith(beginning)) continue;
    // Who may lift that of a withholding is its playbook's to say.
    if ((await withheldBy(trx, holdId)) === undefined) holds.set(value, holdId);
  }
  return holds;
}

async function keep(
  trx: Transaction<Tables>,
  cancellation: Cancellation,
  found: readonly Chosen[],
  clock: ClockReading,
): Promise<void> {
  const { workflowId, businessId, reason, requestedBy } = cancellation;
  const now = await getCancellation(trx, workflowId);
  if (now?.chosenAtMs !== null) return;
  const holds = await heldBefore(trx, cancellation, found, clock);
  const items: CancellationItem[] = [];
  for (const { paymentId, payment } of found) {
    const payableId = payment?.payableId ?? null;
    if (payableId !== null && !holds.has(payableId)) {
      const hold = await createHold(trx, {
        businessId,
        scope: "payable",
        value: payableId,
        reason: `Its payment is cancelled, for ${requestedBy}: ${reason}`,
        author: workflowId,
        untilMs: null,
        nowMs: clock.realMs,
      });
      holds.set(payableId, hold.holdId);
    }
    items.push({
      workflowId,
      itemNo: items.length,
      businessId,
      paymentId,
      payableId,
      contactId: payment?.contactId ?? null,
      amountCents: payment?.amountCents ?? 0,
      state: "unknown",
      open: true,
      reason: "Not cancelled yet.",
      holdId: payableId === null ? null : (holds.get(payableId) ?? null),
      releaseByMs: null,
      cancelledAtMs: null,
      notBeforeMs: 0,
      pollAtMs: 0,
    });
  }
  for (const item of items) await insertItem(trx, item, clock.realMs);
  await changeCancellation(trx, workflowId, { chosenAtMs: clock.realMs });
  await appendAudit(trx, {
    businessId,
    nowMs: clock.realMs,
    actor: workflowId,
    action: "cancellation.held",
    subject: workflowId,
    details: { payments: found.map(({ paymentId }) => paymentId), bills: [...holds.keys()] },
  });
}
