import type { RunPaymentStatus, StateSums } from "../../api/runs.ts";
import type { BillSum } from "../../domain/counted.ts";
import { givenBackIn, sumGivenBackIn } from "../../store/lines/parked-lines.ts";
import { reasonGivenBack } from "../../domain/runs/given-back.ts";
import type { Db } from "../../store/index.ts";
import { linesWithParts } from "../../store/payables/line-parts.ts";
import type { Run } from "../../store/runs/runs.ts";

type Standing = Pick<
  RunPaymentStatus,
  "payableId" | "state" | "amountCents" | "paymentIds" | "reason"
>;

/**
 * The same bills of a run with what their states don't say: how much of one that is paid in part is
 * paid, and which of them no person needs to look at, because the next run plans them or another one
 * has taken them up.
 */
export async function markStanding<Bill extends Standing>(
  db: Db,
  { runId, businessId }: Pick<Run, "runId" | "businessId">,
  bills: readonly Bill[],
): Promise<(Bill & { readonly givenBack?: true })[]> {
  const inParts = await linesWithParts(db, businessId, bills);
  if (!bills.some(({ state }) => state === "parked")) return inParts;
  const givenBack = await givenBackIn(db, { runId });
  return inParts.map((bill) => {
    const takenUpBy = givenBack.get(bill.payableId);
    if (takenUpBy === undefined) return bill;
    const reason = reasonGivenBack(bill.reason, takenUpBy);
    return { ...bill, reason, givenBack: true as const };
  });
}

/** What they come to, where there are some. */
export async function givenBackOf(
  db: Db,
  runId: string,
  byState: StateSums,
): Promise<{ readonly givenBack?: BillSum }> {
  if (byState.parked === undefined) return {};
  const givenBack = await sumGivenBackIn(db, runId);
  return givenBack.count === 0 ? {} : { givenBack };
}
