import { LINE } from "../../contracts/line-states.ts";
import { holdFacts } from "../../actions/holds/holds-now.ts";
import { holdOn } from "../../domain/holds.ts";
import { listHolds, type Hold } from "../../store/holds/holds.ts";
import type { Db } from "../../store/index.ts";
import type { RunLine } from "../../store/lines/lines.ts";

/** What is compared with holds to find those on a bill. */
interface HeldBill {
  readonly businessId: string;
  readonly payableId: string;
  readonly contactId: string | null;
  readonly line: RunLine | undefined;
}

/**
 * Returns every hold that was ever set on the bill itself, and the holds in force that include it.
 */
export async function holdsOf(db: Db, bill: HeldBill): Promise<Hold[]> {
  const { businessId, payableId, line } = bill;
  const isOpen = line !== undefined && !LINE.ended.includes(line.state);
  const facts = await holdFacts(db, bill, isOpen ? line : undefined);
  const holds = await listHolds(db, { businessId, nowMs: 0 });
  return holds.filter((hold) => {
    if (hold.scope === "payable") return hold.value === payableId;
    return hold.releasedAtMs === null && holdOn([hold], facts) !== undefined;
  });
}
