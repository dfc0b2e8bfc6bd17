import type { RunPaymentStatus, StateSums } from "../../api/runs.ts";
import type { BillSum } from "../../domain/counted.ts";
import { givenBackIn, sumGivenBackIn } from "../../store/lines/parked-lines.ts";
import { reasonGivenBack } from "../../domain/runs/given-back.ts";
import type { Db } from "../../store/index.ts";
import { type InParts, linesWithParts } from "../../store/payables/line-parts.ts";
import type { Run } from "../../store/runs/runs.ts";

type Standing = Pick<
  RunPaymentStatus,
  "payableId" | "state" | "amountCents" | "paymentIds" | "reason"
>;

type Marked<Bill> = Bill & InParts & { readonly givenBack?: true };

/**
 * Adds to the bills of a run what their states don't say: how much of a bill in parts is paid, and
 * which bills no person needs to look at, because the next run plans them or another run has taken
 * them up.
 */
export function markStanding<Bill extends Standing>(
  db: Db,
  { runId, businessId }: Pick<Run, "runId" | "businessId">,
  bills: readonly Bill[],
): Promise<Marked<Bill>[]> {
  return markIn(db, { businessId, runOf: () => runId }, bills);
}

/** Adds the same to bills of several runs. */
export function markStandingOfRuns<Bill extends Standing & { readonly runId: string }>(
  db: Db,
  businessId: string,
  bills: readonly Bill[],
): Promise<Marked<Bill>[]> {
  return markIn(db, { businessId, runOf: ({ runId }) => runId }, bills);
}

async function markIn<Bill extends Standing>(
  db: Db,
  of: { readonly businessId: string; readonly runOf: (bill: Bill) => string },
  bills: readonly Bill[],
): Promise<Marked<Bill>[]> {
  const inParts = await linesWithParts(db, of.businessId, bills);
  const parked = bills.filter(({ state }) => state === "parked");
  const givenBack = new Map<string, Awaited<ReturnType<typeof givenBackIn>>>();
  for (const runId of new Set(parked.map(of.runOf))) {
    givenBack.set(runId, await givenBackIn(db, { runId }));
  }
  return inParts.map((bill) => {
    const takenUpBy = givenBack.get(of.runOf(bill))?.get(bill.payableId);
    if (takenUpBy === undefined) return bill;
    const reason = reasonGivenBack(bill.reason, takenUpBy);
    return { ...bill, reason, givenBack: true as const };
  });
}

/** Returns the number and sum of a run's bills that were given back, if there are any. */
export async function givenBackOf(
  db: Db,
  runId: string,
  byState: StateSums,
): Promise<{ readonly givenBack?: BillSum }> {
  if (byState.parked === undefined) return {};
  const givenBack = await sumGivenBackIn(db, runId);
  return givenBack.count === 0 ? {} : { givenBack };
}
