import { writeFile } from "node:fs/promises";
import { historyToJSON } from "@temporalio/common/lib/proto-utils.js";
import type { TestPayrun } from "./payrun.ts";

const folder = new URL("../replay/histories/", import.meta.url);

/**
 * Writes a workflow's history where the replay test reads it, when `RECORD_HISTORIES` is set: the
 * committed histories come from real runs of the tests that name them.
 */
export async function keepHistory(
  payrun: TestPayrun,
  workflowId: string,
  name: string,
): Promise<void> {
  if (process.env["RECORD_HISTORIES"] === undefined) return;
  const history = await payrun.temporal.workflow.getHandle(workflowId).fetchHistory();
  await writeFile(new URL(`${name}.json`, folder), `${historyToJSON(history)}\n`);
}
