import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { historyToJSON } from "@temporalio/common/lib/proto-utils.js";
import type { TestPayrun } from "./payrun.ts";

/**
 * Looks for planted values in the store's files, the logs, all histories (as they are, and with
 * their payloads decoded) and the given texts, in each way of writing them.
 *
 * @returns what was found where; and all places that were searched
 */
export async function whereFound(
  payrun: TestPayrun,
  planted: Readonly<Record<string, string>>,
  said: Readonly<Record<string, string>> = {},
): Promise<{ readonly found: string[]; readonly places: string[] }> {
  const texts = new Map(Object.entries(said));
  for (const name of await readdir(payrun.home)) {
    texts.set(name, (await readFile(join(payrun.home, name))).toString("latin1"));
  }
  for await (const { workflowId, runId } of payrun.temporal.workflow.list()) {
    const handle = payrun.temporal.workflow.getHandle(workflowId, runId);
    const history = historyToJSON(await handle.fetchHistory());
    texts.set(workflowId, history);
    const payloads = [...history.matchAll(/"data": ?"([A-Za-z0-9+/=]+)"/g)].map(([, data]) =>
      Buffer.from(data ?? "", "base64").toString("latin1"),
    );
    texts.set(`${workflowId} decoded`, payloads.join("\n"));
  }
  const found = [...texts].flatMap(([where, text]) =>
    Object.entries(planted)
      .filter(([, value]) => waysToWrite(value).some((way) => text.includes(way)))
      .map(([what]) => `${what} in ${where}`),
  );
  return { found, places: [...texts.keys()] };
}

function waysToWrite(value: string): string[] {
  return [value, value.replaceAll("-", ""), Buffer.from(value).toString("base64")];
}
