import type { ActionContext } from "../../actions/context.ts";
import { PATIENCE_MS } from "../../actions/others-now.ts";
import type { BusinessProfile } from "../../config/business-profile.ts";
import { LINE, type LineState } from "../../contracts/line-states.ts";
import { namedDay } from "../../domain/clock/named-day.ts";
import type { HoldTarget } from "../../domain/holds.ts";
import { sumCents } from "../../domain/money.ts";
import { owedCents } from "../../domain/payments/owed.ts";
import { isKnownUnpaid, isOnItsWay } from "../../domain/payments/payment-states.ts";
import type { StopLines } from "../../domain/cancellations/stop.ts";
import { madeHere } from "../../ledger/forgotten-payments.ts";
import type { Payable, Payment, PaymentsClient } from "../../payments-api/index.ts";
import type { Db } from "../../store/index.ts";
import { planLineOf } from "../../store/lines/lines.ts";
import { openLinesOf } from "../../store/lines/open-lines.ts";
import { linesOfEvents } from "../../store/lines/lines-of-events.ts";
import { getRun } from "../../store/runs/runs.ts";
import { openSubjects } from "../../store/payables/open-subjects.ts";

/** How external payments change what a hold is on. */
export interface PaidOutside {
  /** What they have on its way, and the reduction of what waits. */
  readonly lines: readonly StopLines[];
  /** For a run: bills that they pay instead. A stop of the run takes none of them back. */
  readonly ofRun: { readonly bills: number; readonly totalCents: number } | null;
  /** For one bill: what is paid of it, and what may still be paid. */
  readonly bill: { readonly paidCents: number; readonly owedCents: number } | null;
}

interface Shown {
  readonly payments: readonly Payment[];
  /** The bill itself, if the hold is on one. */
  readonly payable: Payable | undefined;
}

const NONE_OUTSIDE: PaidOutside = { lines: [], ofRun: null, bill: null };

/** @returns undefined if external payments aren't read, or the service doesn't answer in time */
export async function paidOutside(
  { store: { db }, clientOf }: Pick<ActionContext, "store" | "clientOf">,
  profile: BusinessProfile,
  target: HoldTarget,
): Promise<PaidOutside | undefined> {
  const { businessId } = profile;
  const of = await readOf(db, target);
  if (of === undefined) return undefined;
  if (of.length === 0) return NONE_OUTSIDE;
  const shown = await shownOf(clientOf(profile), target, of);
  if (shown === undefined) return undefined;
  const paying = shown.payments.filter(({ status }) => !isKnownUnpaid(status));
  const byBill = Map.groupBy(paying, ({ payableId }) => payableId ?? "");
  const made = await madeHere(db, businessId, paying);
  // A payment by a request that has no response yet is not external.
  const open = await openSubjects(db, businessId, [...byBill.keys()]);
  const outside = paying.filter(
    ({ id, payableId }) => payableId !== null && !made.has(id) && !open.has(payableId),
  );
  const ofOthers = Map.groupBy(outside, ({ payableId }) => payableId ?? "");
  const moving = [...ofOthers].flatMap(([id, payments]) =>
    movingOf(payments, byBill.get(id) ?? payments),
  );
  const { payable } = shown;
  const owed = payable === undefined ? undefined : owedOf(payable, paying);
  const lines = await openLinesOf(db, businessId, target);
  const less = lines
    .filter(({ state }) => LINE.decidable.includes(state))
    .map(async (line): Promise<StopLines[]> => {
      const payments = ofOthers.has(line.payableId) ? (byBill.get(line.payableId) ?? []) : [];
      const left = owed ?? (await leftOf(db, line, payments));
      const { state, executionDate, amountCents } = line;
      const isNone = left <= 0 ? -1 : 0;
      const cents = Math.min(0, left - amountCents);
      return cents === 0 ? [] : [{ state, executionDate, isSplit: false, count: isNone, cents }];
    });
  const paidInstead = (await Promise.all(less)).flat();
  const isRun = target.scope === "run";
  return {
    lines: isRun ? paidInstead : [...moving, ...paidInstead],
    ofRun: isRun
      ? { bills: paidInstead.length, totalCents: -sumCents(paidInstead.map(({ cents }) => cents)) }
      : null,
    bill:
      payable === undefined ? null : { paidCents: paidOf(payable, paying), owedCents: owed ?? 0 },
  };
}

type Filter = NonNullable<Parameters<PaymentsClient["payments"]["listAll"]>[0]>;

/** Most bills of a run with events that are read. */
const BILLS_MOST = 10;

/** In the order in which a payment passes them, so that none is missed while they are read. */
const MOVING = ["pending", "held", "scheduled", "processing"] as const;

/**
 * Returns what is read. Undefined for whole accounts and playbooks, and for a run with too many
 * such bills.
 */
async function readOf(
  db: Db,
  { scope, value }: HoldTarget,
): Promise<readonly Filter[] | undefined> {
  if (scope === "payable") return [{ payableId: value }];
  // For a vendor only what moves: the payments of past years grow without end.
  if (scope === "contact") return MOVING.map((status) => ({ contactId: value, status }));
  const run = scope === "run" ? await getRun(db, value) : undefined;
  if (run === undefined) return undefined;
  const told = (await linesOfEvents(db, run)).filter(({ isOfBill }) => isOfBill);
  return told.length > BILLS_MOST ? undefined : told.map(({ payableId }) => ({ payableId }));
}

async function shownOf(
  client: PaymentsClient,
  { scope, value }: HoldTarget,
  of: readonly Filter[],
): Promise<Shown | undefined> {
  const options = { signal: AbortSignal.timeout(PATIENCE_MS), patienceMs: 0 };
  try {
    // Read before the bill: a payment that is completed in between counts twice, rather than not at
    // all.
    const lists = of.map(async (filter) =>
      // A service that doesn't know a filter returns all payments.
      (await client.payments.listAll(filter, options)).filter((payment) => fits(payment, filter)),
    );
    const found = (await Promise.all(lists))
      .flat()
      .map((payment) => [payment.id, payment] as const);
    const payments = [...new Map(found).values()];
    const payable = scope === "payable" ? await client.payables.get(value, options) : undefined;
    return { payments, payable };
  } catch {
    return undefined;
  }
}

function fits(payment: Payment, { payableId, contactId, status }: Filter): boolean {
  if (payableId !== undefined && payment.payableId !== payableId) return false;
  if (contactId !== undefined && (payment.contactId ?? contactId) !== contactId) return false;
  return status === undefined || isOnItsWay(payment.status);
}

/**
 * Returns one bill's external payments on their way, in the shape of a line.
 *
 * @param all its payments, Payrun's included: the service cancels none of several scheduled ones
 */
function movingOf(payments: readonly Payment[], all: readonly Payment[]): StopLines[] {
  const moving = payments.filter(({ status }) => isOnItsWay(status));
  const isSplit = all.filter(({ status }) => isOnItsWay(status)).length > 1;
  if (moving.length === 0) return [];
  const [executionDate = ""] = moving
    .flatMap((each) => namedDay(each.scheduledAt) ?? [])
    .toSorted();
  const are = (wanted: LineState) => moving.every(({ status }) => status === wanted);
  const state = are("held") ? "held" : are("scheduled") ? "scheduled" : "processing";
  return [
    {
      state,
      executionDate,
      isSplit,
      count: 1,
      cents: sumCents(moving.map(({ amountCents }) => amountCents)),
    },
  ];
}

/**
 * Returns what may still be paid of a bill: nothing if the service says that it is not to be paid.
 */
function owedOf(payable: Payable, payments: readonly Payment[]): number {
  if (payable.status !== "approved") return 0;
  const { totalAmountCents: totalCents, amountPaidCents } = payable;
  return owedCents({ totalCents, amountPaidCents, payments });
}

function paidOf(payable: Payable, payments: readonly Payment[]): number {
  const completed = payments.filter(({ status }) => status === "completed");
  return Math.max(
    payable.amountPaidCents,
    sumCents(completed.map(({ amountCents }) => amountCents)),
  );
}

/** Returns what may still be paid of a line's bill. */
async function leftOf(
  db: Db,
  line: Parameters<typeof planLineOf>[1] & { readonly amountCents: number },
  payments: readonly Payment[],
): Promise<number> {
  if (payments.length === 0) return line.amountCents;
  const { totalCents } = await planLineOf(db, line);
  return owedCents({ totalCents, amountPaidCents: 0, payments });
}
