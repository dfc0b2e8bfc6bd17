import { definedOnly } from "../../contracts/defined-only.ts";
import { subjectThatMade } from "../../ledger/rows.ts";
import { namesOf } from "../../store/names/names.ts";
import { billsStanding } from "../../store/names/bills-standing.ts";
import { seenPayments } from "../../store/payables/seen-payments.ts";
import { findBills } from "./bills.ts";
import {
  answerOrReason,
  type Found,
  type Looking,
  type Named,
  soon,
  unlessUnknown,
} from "./found.ts";
import { isRecallable } from "../../domain/payments/payment-states.ts";

interface PaymentFacts {
  readonly id: string;
  readonly payableId: string | null;
  readonly status: string | null;
  readonly amountCents: number | null;
}

/** Finds payments by id, or by a bill's number those of the bill that can still be cancelled. */
export async function findPayments(looking: Looking): Promise<Found> {
  const byId = await paymentWithId(looking);
  const { payment } = byId;
  if (payment !== null) return { exact: await shown(looking, [payment]), near: [] };
  const bills = await findBills(looking);
  const unread = byId.unread ?? bills.unread;
  if (bills.exact.length === 0) return { ...bills, exact: [], unread };
  const found = [];
  for (const { id } of bills.exact) found.push(await paymentsOfBill(looking, id));
  const payments = found.flatMap((of) => of.payments);
  const isScheduled = ({ status }: PaymentFacts) => isRecallable(status ?? "");
  return {
    exact: await shown(looking, payments.filter(isScheduled)),
    near: await shown(
      looking,
      payments.filter((each) => !isScheduled(each)),
    ),
    unread: found.find((of) => of.unread !== undefined)?.unread,
  };
}

async function paymentWithId({
  context,
  profile,
  text,
}: Looking): Promise<{ readonly payment: PaymentFacts | null; readonly unread?: string }> {
  const client = context.clientOf(profile);
  const read = await answerOrReason(() => unlessUnknown(() => client.payments.get(text, soon())));
  if (read.value != null) return { payment: read.value };
  if (read.unread === undefined) return { payment: null };
  const { db } = context.store;
  const made = await subjectThatMade(db, profile.businessId, text);
  const seen = (await seenPayments(db, profile.businessId, [text])).get(text);
  if (made === undefined && seen === undefined) return { payment: null, unread: read.unread };
  const { status = null, amountCents = null } = seen ?? {};
  return { payment: { id: text, payableId: made ?? null, status, amountCents } };
}

/**
 * Reads a bill's payments from the service, or those that the store has seen if the service can't
 * be read.
 */
async function paymentsOfBill(
  { context, profile }: Looking,
  payableId: string,
): Promise<{ readonly payments: readonly PaymentFacts[]; readonly unread?: string }> {
  const client = context.clientOf(profile);
  const read = await answerOrReason(() => client.payments.listAll({ payableId }, soon()));
  // A service that doesn't know this filter returns all payments.
  const value = read.value?.filter((payment) => payment.payableId === payableId);
  if (value !== undefined) return { payments: value };
  const { db } = context.store;
  const { businessId } = profile;
  const line = (await billsStanding(db, businessId, [payableId])).get(payableId);
  const seen = await seenPayments(db, businessId, line?.paymentIds ?? []);
  const payments = [...seen.values()].map((payment) => ({ ...payment, payableId }));
  return { payments, ...definedOnly({ unread: read.unread }) };
}

async function shown(
  { context, profile }: Looking,
  payments: readonly PaymentFacts[],
): Promise<Named[]> {
  if (payments.length === 0) return [];
  const ids = payments.flatMap(({ payableId }) => payableId ?? []);
  const bills = await namesOf(context.store.db, profile.businessId, "bill", ids);
  return payments.map(({ id, payableId, status, amountCents }) => {
    const { number = null, name = null } = bills.get(payableId ?? "") ?? {};
    const what = { kind: "payment", id, business: profile.name, number, name } as const;
    return { ...what, amountCents, state: status, payableId };
  });
}
