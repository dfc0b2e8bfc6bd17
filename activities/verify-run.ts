import type { PlanLine } from "../src/contracts/pay-run.ts";
import { owedCents, type PaymentAmount } from "../src/domain/payments/owed.ts";
import type { Contact, PayableListItem, PaymentsClient } from "../src/payments-api/index.ts";
import { planLinesOf } from "../src/store/lines.ts";
import { getRun, type Run } from "../src/store/runs.ts";
import { listUnread, markRead, READ_SINGLY } from "../src/store/verified-lines.ts";
import type { ActivityContext } from "./context.ts";
import { changeOf, VERIFIED_FOR_MS } from "./pay/verify-line.ts";
import { PATIENT } from "./patient.ts";
import { readOrWait } from "./read-or-wait.ts";

/** Reads closer to their end than this are made again by the next turn's pages. */
const STILL_FRESH_MS = VERIFIED_FOR_MS / 2;

interface KnownPayment extends PaymentAmount {
  readonly id: string;
}

type Payee = Pick<Contact, "id" | "status" | "paymentReady" | "bankAccount" | "updatedAt">;

/** Service-clock instant before which a read of a line is too old to begin paying it on. */
export function readSinceMs(serviceMs: number): number {
  return serviceMs - STILL_FRESH_MS;
}

/**
 * Reads bills, payees and payments again for all lines that are about to be paid, by page: before
 * a run pays, and whenever what was read is older than a minute.
 *
 * Only says "as approved": a line that is not, or that the lists don't show whole, is left to the
 * lane, which reads it singly and decides.
 */
export async function verifyRun(
  context: ActivityContext,
  runId: string,
): Promise<{ readonly verified: number }> {
  const run = await getRun(context.store.db, runId);
  if (run === undefined) throw new Error(`run ${runId} is not in the store`);
  const { serviceMs } = await context.clockOf(run.business).now();
  const wanted = new Set(await listUnread(context.store.db, runId, readSinceMs(serviceMs)));
  const client = context.clientOf(run.business);
  const verified = await readOrWait(context, run, async () => {
    // Payments before the payables: one made in between then shows as owed too little, never too much.
    const payments = await paymentsOf(client, wanted);
    const payees = await payeesOf(client);
    let count = 0;
    const missing = new Set(wanted);
    for await (const page of client.payables.iteratePages({}, PATIENT)) {
      const bills = page.filter(({ id }) => missing.delete(id));
      count += await judge(context, run, { bills, payees, payments, readAtMs: serviceMs });
    }
    await leaveToLanes(context, run, [...missing]);
    return count;
  });
  return { verified: verified ?? 0 };
}

interface PageOfBills {
  readonly bills: readonly PayableListItem[];
  readonly payees: ReadonlyMap<string, Payee>;
  readonly payments: ReadonlyMap<string, readonly KnownPayment[]>;
  /** Service-clock instant at which reading began. */
  readonly readAtMs: number;
}

async function judge(context: ActivityContext, run: Run, page: PageOfBills): Promise<number> {
  const { store } = context;
  const { runId } = run;
  const ids = page.bills.map(({ id }) => id);
  const plans = new Map((await planLinesOf(store.db, runId, ids)).map((p) => [p.payableId, p]));
  let count = 0;
  const marks = page.bills.flatMap((bill) => {
    const plan = plans.get(bill.id);
    if (plan === undefined) return [];
    const payments = page.payments.get(bill.id) ?? [];
    const isSame = isAsApproved(plan, bill, page.payees.get(plan.contactId), payments);
    if (isSame) count += 1;
    return {
      payableId: plan.payableId,
      lineHash: plan.lineHash,
      verifiedAtMs: isSame ? Math.round(page.readAtMs) : READ_SINGLY,
      knownPaymentIds: isSame ? payments.map(({ id }) => id) : [],
    };
  });
  if (marks.length > 0) await keep(context, run, marks);
  return count;
}

function isAsApproved(
  plan: PlanLine,
  bill: PayableListItem,
  payee: Payee | undefined,
  payments: readonly KnownPayment[],
): boolean {
  const { totalAmountCents, amountPaidCents, status, contact } = bill;
  if (typeof totalAmountCents !== "number" || typeof amountPaidCents !== "number") return false;
  if (status !== "approved" || contact?.id !== plan.contactId) return false;
  if (payee === undefined || payee.status !== "active" || !payee.paymentReady) return false;
  const owed = owedCents({ totalCents: totalAmountCents, amountPaidCents, payments });
  return changeOf(plan, owed, payee) === null;
}

async function leaveToLanes(
  context: ActivityContext,
  run: Run,
  payableIds: readonly string[],
): Promise<void> {
  const plans = await planLinesOf(context.store.db, run.runId, payableIds);
  const marks = plans.map(({ payableId, lineHash }) => ({
    payableId,
    lineHash,
    verifiedAtMs: READ_SINGLY,
    knownPaymentIds: [],
  }));
  if (marks.length > 0) await keep(context, run, marks);
}

/** Lost in a power cut, it is read again. */
function keep(
  { store }: ActivityContext,
  { runId, businessId }: Run,
  marks: Parameters<typeof markRead>[2],
): Promise<void> {
  return store.transactionOf(businessId, (trx) => markRead(trx, runId, marks), { flush: false });
}

async function paymentsOf(
  client: PaymentsClient,
  wanted: ReadonlySet<string>,
): Promise<Map<string, KnownPayment[]>> {
  const found = new Map<string, KnownPayment[]>();
  for await (const page of client.payments.iteratePages({}, PATIENT)) {
    for (const { id, payableId, status, amountCents } of page) {
      if (payableId === null || !wanted.has(payableId)) continue;
      const payment = { id, status, amountCents };
      const known = found.get(payableId);
      if (known === undefined) found.set(payableId, [payment]);
      else known.push(payment);
    }
  }
  return found;
}

async function payeesOf(client: PaymentsClient): Promise<Map<string, Payee>> {
  const payees = new Map<string, Payee>();
  for await (const page of client.contacts.iteratePages({}, PATIENT)) {
    for (const { id, status, paymentReady, bankAccount, updatedAt } of page) {
      payees.set(id, { id, status, paymentReady, bankAccount, updatedAt });
    }
  }
  return payees;
}
