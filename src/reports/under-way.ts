import type { UnderWay } from "../api/under-way.ts";
import type { BusinessProfile } from "../config/business-profile.ts";
import type { ActionContext } from "../actions/context.ts";
import type { LineState } from "../contracts/line-states.ts";
import { recallOf } from "../domain/cancellations/cut-off.ts";
import { NOTHING, plus } from "../domain/counted.ts";
import { isBehind } from "../ledger/after-loss.ts";
import { recallableLines, sumsOfSent } from "../store/lines/sent-lines.ts";
import { handledPayments } from "../store/retries/retries.ts";

/** Returns what can still be stopped of what is with the service, business by business. */
export async function underWay(
  { store, clocks }: Pick<ActionContext, "store" | "clocks">,
  profiles: readonly BusinessProfile[],
  { page, pageSize }: { readonly page: number; readonly pageSize: number },
): Promise<Omit<UnderWay, "yours">> {
  let recallable = NOTHING;
  let beyond = NOTHING;
  let storeBehind = false;
  const cutOffs: number[] = [];
  const items: UnderWay["items"][number][] = [];
  let before = (page - 1) * pageSize;
  for (const profile of profiles) {
    const { name: business, businessId } = profile;
    const clock = await clocks.read(profile);
    storeBehind ||= await isBehind(store.db, businessId, clock);
    const recallAt = (state: LineState, scheduledAt: string, isSplit = false) =>
      recallOf({ state, scheduledAt, isSplit }, clock);
    let here = 0;
    /**
     * Cut-offs are in the order of the days, so all days from the first one in time on are in time.
     */
    let firstInTime: string | null = null;
    const sums = await sumsOfSent(store.db, businessId);
    for (const { executionDate, state, isSplit, ...bills } of sums) {
      const recall = recallAt(state, executionDate, isSplit);
      if (recall === undefined) {
        beyond = plus(beyond, bills);
        continue;
      }
      recallable = plus(recallable, bills);
      here += bills.count;
      if (recall.untilMs === null) continue;
      cutOffs.push(recall.untilMs);
      firstInTime ??= executionDate;
    }
    const rows = { offset: Math.min(before, here), limit: pageSize - items.length };
    before -= rows.offset;
    if (rows.limit === 0 || rows.offset === here) continue;
    const lines = await recallableLines(store.db, businessId, firstInTime, rows);
    const ids = lines.map(({ line }) => line.payableId);
    const failed = await handledPayments(store.db, businessId, ids);
    for (const { plan, line } of lines) {
      const { payableId, runId, amountCents, executionDate } = line;
      const paymentIds = line.paymentIds.filter((id) => !failed.has(id));
      const state = line.state === "held" ? "held" : "scheduled";
      const untilMs = recallAt(state, executionDate)?.untilMs ?? null;
      const recallBy = untilMs === null ? null : new Date(untilMs).toISOString();
      const { publicId, contactName } = plan;
      items.push({
        payableId,
        publicId,
        contactName,
        business,
        runId,
        amountCents,
        executionDate,
        recallBy,
        paymentIds,
      });
    }
  }
  return {
    recallable,
    until: cutOffs.length === 0 ? null : new Date(Math.min(...cutOffs)).toISOString(),
    beyond,
    storeBehind,
    items,
    nextPage: page * pageSize < recallable.count ? page + 1 : null,
  };
}
