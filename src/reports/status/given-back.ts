import type { RunPaymentStatus, StateSums } from "../../api/runs.ts";
import type { BillSum } from "../../domain/counted.ts";
import { givenBackIn, sumGivenBackIn } from "../../store/lines/parked-lines.ts";
import type { Db } from "../../store/index.ts";
import { linesWithParts } from "../../store/payables/line-parts.ts";
import type { Run } from "../../store/runs/runs.ts";

type Standing = Pick<RunPaymentStatus, "payableId" | "state" | "amountCents" | "paymentIds">;

/**
 * The same bills of a run with what their states don't say: how much of one that is paid in part is
 * paid, and which of them no person needs to look at, because the next run pays them.
 */
export async function markStanding<Bill extends Standing>(
  db: Db,
  { runId, businessId }: Pick<Run, "runId" | "businessId">,
  bills: readonly Bill[],
): Promise<(Bill & { readonly givenBack?: true })[]> {
  const inParts = await linesWithParts(db, businessId, bills);
  if (!bills.some(({ state }) => state === "parked")) return inParts;
  const givenBack = await givenBackIn(db, { runId });
  return inParts.map((bill) =>
    givenBack.has(bill.payableId) ? { ...bill, givenBack: true as const } : bill,
  );
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
