import { type HoldFacts, holdsOn, keepsBackText } from "../../domain/holds.ts";
import { holdsOnLines, type Hold } from "../../store/holds/holds.ts";
import type { Db } from "../../store/index.ts";
import type { RunLine } from "../../store/lines/lines.ts";
import { getRun } from "../../store/runs/runs.ts";

/** A bill, as far as a hold is compared with it. */
interface HeldBill {
  readonly payableId: string;
  readonly contactId: string | null;
}

/** @param inRun its line, while its run has it: another run may pay it from another account */
export async function holdFacts(
  db: Db,
  { payableId, contactId }: HeldBill,
  inRun: RunLine | undefined,
): Promise<HoldFacts> {
  const { runId = "", sourceId = "" } = inRun ?? {};
  const playbook = inRun === undefined ? "" : ((await getRun(db, runId))?.playbook ?? "");
  return { payableId, contactId: contactId ?? "", sourceId, runId, playbook };
}

/** What keeps a bill from being paid, each with the command that ends it. */
export function keptBackBy(holds: readonly Hold[]): string[] {
  return holds.filter(({ releasedAtMs }) => releasedAtMs === null).map(keepsBackText);
}

/** What keeps the bill of a line back now, from its run or, once that has given it back, from the next one. */
export async function keepsBackNow(
  db: Db,
  line: RunLine,
  at: { readonly businessMs: number; readonly isGivenBack: boolean },
): Promise<string[]> {
  const { businessId, payableId } = line;
  const { businessMs, isGivenBack } = at;
  const holds = await holdsOnLines(db, { businessId, payableIds: [payableId], businessMs });
  const facts = await holdFacts(db, line, isGivenBack ? undefined : line);
  return keptBackBy(holdsOn(holds, facts));
}
