import type { UnderWay } from "../api/under-way.ts";
import type { BusinessProfile } from "../config/business-profile.ts";
import type { ActionContext } from "../actions/context.ts";
import { NOTHING } from "../domain/approvals/share.ts";
import { cancelUntilMs } from "../domain/cancellations/cut-off.ts";
import { addDays } from "../domain/clock/dates.ts";
import { newYorkDate } from "../domain/clock/new-york.ts";
import { RECALLABLE, recallableLines, sumsOfSent } from "../store/lines/sent-lines.ts";

/** What can still be stopped of what the service has, of some businesses one after the other. */
export async function underWay(
  { store, clocks }: Pick<ActionContext, "store" | "clocks">,
  profiles: readonly BusinessProfile[],
  { page, pageSize }: { readonly page: number; readonly pageSize: number },
): Promise<UnderWay> {
  let recallable = NOTHING;
  let beyond = NOTHING;
  const cutOffs: number[] = [];
  const items: UnderWay["items"][number][] = [];
  let before = (page - 1) * pageSize;
  for (const profile of profiles) {
    const { name: business, businessId } = profile;
    const { businessMs, scale } = await clocks.read(profile);
    const untilOf = (date: string) => cancelUntilMs(date, scale) ?? 0;
    let here = 0;
    for (const { executionDate, state, count, cents } of await sumsOfSent(store.db, businessId)) {
      const isInTime = RECALLABLE.includes(state) && untilOf(executionDate) > businessMs;
      if (isInTime) {
        recallable = { count: recallable.count + count, cents: recallable.cents + cents };
        cutOffs.push(untilOf(executionDate));
        here += count;
      } else beyond = { count: beyond.count + count, cents: beyond.cents + cents };
    }
    const today = newYorkDate(businessMs);
    const first = untilOf(today) > businessMs ? today : addDays(today, 1);
    const rows = { offset: Math.min(before, here), limit: pageSize - items.length };
    before -= rows.offset;
    if (rows.limit === 0 || rows.offset === here) continue;
    for (const { plan, line } of await recallableLines(store.db, businessId, first, rows)) {
      const { payableId, runId, amountCents, executionDate, paymentIds } = line;
      const recallBy = new Date(untilOf(executionDate)).toISOString();
      const { publicId, contactName } = plan;
      items.push({
        ...{ payableId, publicId, contactName, business, runId, amountCents, executionDate },
        ...{ recallBy, paymentIds },
      });
    }
  }
  return {
    recallable,
    until: cutOffs.length === 0 ? null : new Date(Math.min(...cutOffs)).toISOString(),
    beyond,
    items,
    nextPage: page * pageSize < recallable.count ? page + 1 : null,
  };
}
