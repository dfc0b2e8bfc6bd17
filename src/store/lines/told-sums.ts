import type { SumsTold } from "../../domain/notices/run-texts.ts";
import { sumsTold } from "../../domain/runs/given-back.ts";
import type { Db } from "../index.ts";
import { countLines } from "./line-counts.ts";
import { sumGivenBackIn } from "./parked-lines.ts";

/** Returns the sums of a run's bills by state, as people see them. */
export async function toldSums(db: Db, runId: string): Promise<SumsTold> {
  const counts = await countLines(db, runId);
  if (!counts.has("parked")) return counts;
  const givenBack = await sumGivenBackIn(db, runId);
  if (givenBack.count === 0) return counts;
  const told = sumsTold({ byState: Object.fromEntries(counts), givenBack });
  return new Map(Object.entries(told)) as SumsTold;
}
