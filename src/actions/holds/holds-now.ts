import { type HoldFacts, holdsOn, holdAppliesText } from "../../domain/holds.ts";
import { holdsOnLines, type Hold } from "../../store/holds/holds.ts";
import type { Db } from "../../store/index.ts";
import type { RunLine } from "../../store/lines/lines.ts";
import { getRun } from "../../store/runs/runs.ts";

/** What is compared with holds to find those on a bill. */
interface HeldBill {
  readonly payableId: string;
  readonly contactId: string | null;
}

/**
 * @param inRun its line while a run has the bill; undefined once another run may pay it from
 * another account
 */
export async function holdFacts(
  db: Db,
  { payableId, contactId }: HeldBill,
  inRun: RunLine | undefined,
): Promise<HoldFacts> {
  const { runId = "", sourceId = "" } = inRun ?? {};
  const playbook = inRun === undefined ? "" : ((await getRun(db, runId))?.playbook ?? "");
  return { payableId, contactId: contactId ?? "", sourceId, runId, playbook };
}

/** Returns what keeps a bill from being paid, each with the command that ends it. */
export function holdTexts(holds: readonly Hold[]): string[] {
  return holds.filter(({ releasedAtMs }) => releasedAtMs === null).map(holdAppliesText);
}

/**
 * Returns what holds up a line's bill now: in its run, or in the next run if its run has given it
 * back.
 */
export async function holdsNow(
  db: Db,
  line: RunLine,
  at: { readonly businessMs: number; readonly isGivenBack: boolean },
): Promise<string[]> {
  const { businessId, payableId } = line;
  const { businessMs, isGivenBack } = at;
  const holds = await holdsOnLines(db, { businessId, payableIds: [payableId], businessMs });
  const facts = await holdFacts(db, line, isGivenBack ? undefined : line);
  return holdTexts(holdsOn(holds, facts));
}
