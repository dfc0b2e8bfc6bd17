import { ENDED_LINE_STATES } from "../../contracts/pay-run.ts";
import { type HoldFacts, holdOn, keepsBackText } from "../../domain/holds.ts";
import { listHolds, type Hold } from "../../store/holds/holds.ts";
import type { Db } from "../../store/index.ts";
import type { RunLine } from "../../store/lines/lines.ts";
import { getRun } from "../../store/runs/runs.ts";

/** A bill, as far as a hold is compared with it. */
interface HeldBill {
  readonly businessId: string;
  readonly payableId: string;
  readonly contactId: string | null;
  readonly line: RunLine | undefined;
}

/** Every hold that was set on a bill itself, and those in force on more than it. */
export async function holdsOf(db: Db, bill: HeldBill): Promise<Hold[]> {
  const { businessId, payableId } = bill;
  const facts = await factsOf(db, bill);
  const holds = await listHolds(db, { businessId, nowMs: 0 });
  return holds.filter((hold) => {
    if (hold.scope === "payable") return hold.value === payableId;
    return hold.releasedAtMs === null && holdOn([hold], facts) !== undefined;
  });
}

/** Its run and account count while its run has it: another run may pay it from another account. */
async function factsOf(db: Db, { payableId, contactId, line }: HeldBill): Promise<HoldFacts> {
  const isOpen = line !== undefined && !ENDED_LINE_STATES.includes(line.state);
  const { runId = "", sourceId = "" } = isOpen ? line : {};
  const playbook = (isOpen ? await getRun(db, runId) : undefined)?.playbook ?? "";
  return { payableId, contactId: contactId ?? "", sourceId, runId, playbook };
}

/** What keeps a bill from being paid, each with the command that ends it. */
export function keptBackBy(holds: readonly Hold[]): string[] {
  return holds.filter(({ releasedAtMs }) => releasedAtMs === null).map(keepsBackText);
}
