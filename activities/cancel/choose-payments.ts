import { definedOnly } from "../../src/contracts/defined-only.ts";
import { mayYetBeCancelled } from "../../src/domain/cancellations/judge-payment.ts";
import { namedPayments } from "../../src/domain/cancellations/policy.ts";
import { namedDay } from "../../src/domain/clock/named-day.ts";
import { paymentsOfBill } from "../../src/ledger/made-payments.ts";
import type { Payment } from "../../src/payments-api/index.ts";
import { type Cancellation, getCancellation } from "../../src/store/cancellations/cancellations.ts";
import type { ActivityContext } from "../shared/context.ts";
import { inGroups } from "../shared/in-groups.ts";
import { readOrWait } from "../shared/read-or-wait.ts";
import { isScheduled, linesToCancel } from "./choose-lines.ts";
import { keepChoice, type Shown } from "./keep-choice.ts";
import { listPayments, readPayment } from "./read-payment.ts";
import { holdBack } from "./hold-back.ts";
import { readSubject } from "./read-subject.ts";

/** Number of payments, or bills, that are read at the same time. */
const READS_AT_ONCE = 10;

/**
 * Chooses what a cancellation is about and puts each of its bills on hold, in one transaction and
 * before anything is cancelled: no run pays a bill behind the cancel's back, and only a person
 * lifts the holds.
 *
 * What the service shows is read before that transaction. What is under way, and so not shown yet,
 * is read within it from the ledger, which gets no further request of these bills afterwards.
 *
 * Repeating it changes nothing.
 */
export async function choosePayments(context: ActivityContext, id: string): Promise<void> {
  const cancellation = await getCancellation(context.store.db, id);
  // If the store has lost the cancellation meanwhile, the next look says so.
  if (cancellation === undefined) return;
  if (cancellation.chosenAtMs !== null) return;
  if (cancellation.policy.kind === "hold") {
    const looking = async () => ({ subject: await readSubject(context, cancellation) });
    const looked = await readOrWait(context, cancellation, looking);
    if (looked !== undefined) await holdBack(context, cancellation, looked.subject);
    return;
  }
  const reading = () => read(context, cancellation);
  const shown = await readOrWait(context, cancellation, reading, "payments");
  if (shown === undefined) return;
  const clock = await context.clockOf(cancellation.business).now();
  await context.store.transactionOf(cancellation.businessId, (trx) =>
    keepChoice(trx, cancellation, shown, clock),
  );
}

async function read(context: ActivityContext, cancellation: Cancellation): Promise<Shown> {
  const { choose } = cancellation.policy;
  const { vendor, payable = null } = choose;
  const ids = namedPayments(cancellation.policy);
  if (ids !== null) {
    const payments = await readPayments(context, cancellation, ids);
    const isMeant = (id: string): boolean =>
      vendor === null || payments.get(id)?.contactId === vendor;
    return { chosen: ids.filter(isMeant), payments, ofBills: new Map() };
  }
  const subject = await readSubject(context, cancellation);
  const isOpen = choose.run === null && choose.where === null;
  if (isOpen && (vendor !== null || payable !== null)) {
    const all = await shownOf(
      context,
      cancellation,
      definedOnly({ contactId: vendor ?? undefined, payableId: payable ?? undefined }),
    );
    const ofBills = Map.groupBy(all, ({ payableId }) => payableId ?? "");
    const open = all.filter(({ status }) => mayYetBeCancelled(status));
    return { subject, chosen: open.map(({ id }) => id), payments: byId(all), ofBills };
  }
  const planned = await linesToCancel(context.store.db, cancellation);
  const lines = planned.map(({ line }) => line);
  const known = lines.filter(isScheduled).flatMap(({ paymentIds }) => paymentIds);
  const unclear = lines.filter((line) => !isScheduled(line) && line.state !== "planned");
  const payableIds = [...new Set(unclear.map(({ payableId }) => payableId))];
  const lists = await inGroups(payableIds, READS_AT_ONCE, async (payableId) => {
    const list = await shownOf(context, cancellation, { payableId });
    return [payableId, list] as const;
  });
  const read = await readPayments(context, cancellation, known);
  const listed = byId(lists.flatMap(([, list]) => list));
  return { subject, chosen: [], payments: new Map([...read, ...listed]), ofBills: new Map(lists) };
}

function byId(payments: readonly Payment[]): Map<string, Payment> {
  return new Map(payments.map((payment) => [payment.id, payment]));
}

/**
 * Returns the payments that the service shows for a vendor or a bill, those that run soonest first.
 */
async function shownOf(
  context: ActivityContext,
  { business, businessId }: Cancellation,
  of: { readonly contactId?: string; readonly payableId?: string },
): Promise<Payment[]> {
  const { contactId, payableId } = of;
  const listed = await listPayments(context.clientOf(business), of);
  // A service that doesn't know a filter returns all payments.
  const ofVendor = listed.filter((payment) => (payment.contactId ?? contactId) === contactId);
  const ofOne = contactId === undefined ? listed : ofVendor;
  const all =
    payableId === undefined
      ? ofOne
      : await paymentsOfBill(context.store.db, businessId, payableId, ofOne);
  return all.toSorted((one, other) =>
    (namedDay(one.scheduledAt) ?? "") < (namedDay(other.scheduledAt) ?? "") ? -1 : 1,
  );
}

async function readPayments(
  context: ActivityContext,
  { business }: Cancellation,
  ids: readonly string[],
): Promise<Map<string, Payment | undefined>> {
  const client = context.clientOf(business);
  return new Map(
    await inGroups(ids, READS_AT_ONCE, async (id) => [id, await readPayment(client, id)] as const),
  );
}
