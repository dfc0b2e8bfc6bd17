import type { LineState } from "../../contracts/pay-run.ts";
import type { StateSums } from "../../api/runs.ts";
import type { BillSum } from "../../domain/counted.ts";
import { givenBackIn, sumGivenBackIn } from "../../store/lines/parked-lines.ts";
import type { Db } from "../../store/index.ts";

/** The same bills of a run, those marked that no person needs to look at: the next run pays them. */
export async function markGivenBack<
  Bill extends { readonly payableId: string; readonly state: LineState },
>(
  db: Db,
  runId: string,
  bills: readonly Bill[],
): Promise<(Bill & { readonly givenBack?: true })[]> {
  if (!bills.some(({ state }) => state === "parked")) return [...bills];
  const givenBack = await givenBackIn(db, { runId });
  return bills.map((bill) =>
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
