import type { ParkedBillView } from "../api/parked.ts";
import { resolversUnder } from "../domain/retries/deciders.ts";
import type { Db } from "../store/index.ts";
import { parkedLines, sumOfParked } from "../store/lines/parked-lines.ts";
import { rulesOfFailures } from "../store/lines/retry-cases.ts";

/** Lists bills that wait for a person, business by business. */
export async function parkedBills(
  db: Db,
  businesses: readonly { readonly name: string; readonly businessId: string }[],
  { page, pageSize }: { readonly page: number; readonly pageSize: number },
) {
  const items: ParkedBillView[] = [];
  let before = (page - 1) * pageSize;
  let totalCount = 0;
  let totalCents = 0;
  for (const { name, businessId } of businesses) {
    const { count, cents } = await sumOfParked(db, businessId);
    const rows = { offset: Math.min(before, count), limit: pageSize - items.length };
    before -= rows.offset;
    totalCount += count;
    totalCents += cents;
    if (rows.limit === 0 || rows.offset === count) continue;
    const lines = await parkedLines(db, businessId, rows);
    const rules = await rulesOfFailures(
      db,
      businessId,
      lines.map(({ line }) => line.payableId),
    );
    items.push(
      ...lines.map(({ plan, line }) => ({
        payableId: line.payableId,
        publicId: plan.publicId,
        contactId: plan.contactId,
        contactName: plan.contactName,
        business: name,
        amountCents: line.amountCents,
        parts: line.parts,
        dueDate: plan.dueDate,
        runId: line.runId,
        reasonCode: line.reasonCode,
        reason: line.reason,
        roles: resolversUnder(rules.get(line.payableId)),
      })),
    );
  }
  return {
    items,
    totalCount,
    totalCents,
    nextPage: page * pageSize < totalCount ? page + 1 : null,
  };
}
