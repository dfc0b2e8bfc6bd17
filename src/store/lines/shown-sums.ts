import type { ShownSums } from "../../domain/notices/run-texts.ts";
import { shownSums } from "../../domain/runs/given-back.ts";
import type { Db } from "../index.ts";
import { countLines } from "./line-counts.ts";
import { sumGivenBackIn } from "./parked-lines.ts";

/** Returns the sums of a run's bills by state, as people see them. */
export async function shownSumsOf(db: Db, runId: string): Promise<ShownSums> {
  const counts = await countLines(db, runId);
  if (!counts.has("parked")) return counts;
  const givenBack = await sumGivenBackIn(db, runId);
  if (givenBack.count === 0) return counts;
  const told = shownSums({ byState: Object.fromEntries(counts), givenBack });
  return new Map(Object.entries(told)) as ShownSums;
}
