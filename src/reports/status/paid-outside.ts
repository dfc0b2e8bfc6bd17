import type { ActionContext } from "../../actions/context.ts";
import { PATIENCE_MS } from "../../actions/others-now.ts";
import type { BusinessProfile } from "../../config/business-profile.ts";
import { DECIDABLE, type LineState } from "../../contracts/pay-run.ts";
import type { HoldTarget } from "../../domain/holds.ts";
import { sumCents } from "../../domain/money.ts";
import { owedCents } from "../../domain/payments/owed.ts";
import { isKnownUnpaid } from "../../domain/payments/payment-states.ts";
import type { StopLines } from "../../domain/stop.ts";
import { madeHere } from "../../ledger/forgotten-payments.ts";
import type { Payable, Payment, PaymentsClient } from "../../payments-api/index.ts";
import type { Db } from "../../store/index.ts";
import { planLineOf } from "../../store/lines/lines.ts";
import { openLinesOf } from "../../store/lines/open-lines.ts";
import { openSubjects } from "../../store/payables/open-subjects.ts";

/** What payments that Payrun has not made change of what a hold comes to. */
export interface PaidOutside {
  /** What they have on its way, and less of what waits. */
  readonly lines: readonly StopLines[];
  /** Of one bill: what is paid of it, and what of it may still be paid. */
  readonly bill: { readonly paidCents: number; readonly owedCents: number } | null;
}

interface Shown {
  readonly payments: readonly Payment[];
  /** The bill itself, where the hold is on one. */
  readonly payable: Payable | undefined;
}

const NOTHING: PaidOutside = { lines: [], bill: null };

/** @returns undefined if the service doesn't answer in time */
export async function paidOutside(
  { store: { db }, clientOf }: Pick<ActionContext, "store" | "clientOf">,
  { businessId, ...profile }: BusinessProfile,
  target: HoldTarget,
): Promise<PaidOutside | undefined> {
  // Others may pay from any account; who pays a run's bill is found out before it is sent.
  if (target.scope !== "payable" && target.scope !== "contact") return NOTHING;
  const shown = await shownOf(clientOf({ businessId, ...profile }), target);
  if (shown === undefined) return undefined;
  const paying = shown.payments.filter(({ status }) => !isKnownUnpaid(status));
  const byBill = Map.groupBy(paying, ({ payableId }) => payableId ?? "");
  const made = await madeHere(db, businessId, paying);
  // What a request has paid that had no answer is not somebody else's.
  const open = await openSubjects(db, businessId, [...byBill.keys()]);
  const outside = paying.filter(
    ({ id, payableId }) => payableId !== null && !made.has(id) && !open.has(payableId),
  );
  const ofOthers = Map.groupBy(outside, ({ payableId }) => payableId ?? "");
  const moving = [...ofOthers.values()].flatMap(onItsWay);
  const { payable } = shown;
  const owed = payable === undefined ? undefined : owedOf(payable, paying);
  const lines = await openLinesOf(db, businessId, target);
  const less = lines
    .filter(({ state }) => DECIDABLE.includes(state))
    .map(async (line): Promise<StopLines[]> => {
      const payments = ofOthers.has(line.payableId) ? (byBill.get(line.payableId) ?? []) : [];
      const left = owed ?? (await leftOf(db, line, payments));
      const { state, executionDate, amountCents } = line;
      const isNone = left <= 0 ? -1 : 0;
      const cents = Math.min(0, left - amountCents);
      return cents === 0 ? [] : [{ state, executionDate, isSplit: false, count: isNone, cents }];
    });
  return {
    lines: [...moving, ...(await Promise.all(less)).flat()],
    bill:
      payable === undefined ? null : { paidCents: paidOf(payable, paying), owedCents: owed ?? 0 },
  };
}

async function shownOf(
  client: PaymentsClient,
  { scope, value }: HoldTarget,
): Promise<Shown | undefined> {
  const options = { signal: AbortSignal.timeout(PATIENCE_MS), patienceMs: 0 };
  try {
    if (scope === "contact") {
      const payments = await client.payments.listAll({ contactId: value }, options);
      return { payments, payable: undefined };
    }
    // Before the bill: a payment that is completed in between counts twice, not never.
    const payments = await client.payments.listAll({ payableId: value }, options);
    return { payments, payable: await client.payables.get(value, options) };
  } catch {
    return undefined;
  }
}

/** What of one bill's payments is on its way, as a line that is. */
function onItsWay(payments: readonly Payment[]): StopLines[] {
  const moving = payments.filter(({ status }) => status !== "completed");
  const [first] = moving.toSorted((one, other) =>
    (one.scheduledAt ?? "").localeCompare(other.scheduledAt ?? ""),
  );
  if (first === undefined) return [];
  const all = (wanted: LineState) => moving.every(({ status }) => status === wanted);
  const state = all("held") ? "held" : all("scheduled") ? "scheduled" : "processing";
  return [
    {
      ...{ state, executionDate: first.scheduledAt ?? "", isSplit: moving.length > 1, count: 1 },
      cents: sumCents(moving.map(({ amountCents }) => amountCents)),
    },
  ];
}

/** What may still be paid of a bill: nothing of one that the service says is not to be paid. */
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

/** What may still be paid of the bill of a line. */
async function leftOf(
  db: Db,
  line: Parameters<typeof planLineOf>[1] & { readonly amountCents: number },
  payments: readonly Payment[],
): Promise<number> {
  if (payments.length === 0) return line.amountCents;
  const { totalCents } = await planLineOf(db, line);
  return owedCents({ totalCents, amountPaidCents: 0, payments });
}
