import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { hookStore, makeEmptyStore } from "../hooks.ts";
import { enter } from "../world/globals.ts";
import { Quarter, type QuarterPlan, type QuarterResult } from "./quarter.ts";

/** Longest sleep of an idle loop. */
const IDLE_MS = 4 * 3_600_000;

/** Runs a quarter from its first run to some weeks after its last; one per process. */
export async function runQuarter(plan: QuarterPlan): Promise<QuarterResult> {
  const folder = mkdtempSync(join(tmpdir(), "payrun-quarter-"));
  const storePath = join(folder, "quarter.db");
  await makeEmptyStore(storePath);
  const quarter = new Quarter(plan, storePath);
  hookStore(
    () => quarter.world,
    () => undefined,
  );
  enter(quarter.world, IDLE_MS);
  try {
    return await quarter.run();
  } finally {
    quarter.close();
    enter(undefined);
    rmSync(folder, { recursive: true, force: true });
  }
}
