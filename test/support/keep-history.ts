import { writeFile } from "node:fs/promises";
import { historyToJSON } from "@temporalio/common/lib/proto-utils.js";
import { expect } from "vitest";
import type { TestPayrun } from "./payrun.ts";

const folder = new URL("../replay/histories/", import.meta.url);

/**
 * Writes a workflow's history to the folder that the replay test reads, if `RECORD_HISTORIES` is
 * set: the committed histories come from real runs of the tests that name them.
 *
 * A history must be complete, so this waits for the workflow's end: the store knows of the end a
 * moment earlier.
 */
export async function keepHistory(
  payrun: TestPayrun,
  workflowId: string,
  name: string,
  options: { readonly stillRuns?: boolean } = {},
): Promise<void> {
  if (process.env["RECORD_HISTORIES"] === undefined) return;
  const workflow = payrun.temporal.workflow.getHandle(workflowId);
  const runs = async (): Promise<boolean> => (await workflow.describe()).status.name === "RUNNING";
  await expect.poll(runs).toBe(options.stillRuns === true);
  const history = await workflow.fetchHistory();
  const text = JSON.stringify(JSON.parse(historyToJSON(history)), withoutMachine, 2);
  await writeFile(new URL(`${name}.json`, folder), `${text}\n`);
}

/**
 * Removes the machine and folders on which it ran: they are private, and change with every
 * recording.
 */
function withoutMachine(key: string, value: unknown): unknown {
  if (key === "stackTrace") return undefined;
  if (key !== "identity" && key !== "name") return value;
  return typeof value === "string" ? value.replace(/^\d+@[^-]+/, "recorded") : value;
}
