import { expect } from "vitest";
import { scheduledPayRunId } from "../../src/contracts/workflow-kinds.ts";
import type { TestPayrun } from "./payrun.ts";

/** Returns a playbook's schedule at Temporal. */
export function scheduleOf(payrun: TestPayrun, playbook: string) {
  return payrun.temporal.schedule.getHandle(scheduledPayRunId("default", playbook));
}

/** Waits for a launcher that a schedule has started, and returns the ids of all. */
export async function untilLaunchers(payrun: TestPayrun, playbook: string): Promise<string[]> {
  let ids: string[] = [];
  const found = async (): Promise<number> => {
    ids = [];
    const query = "WorkflowType = 'scheduledPayRun'";
    for await (const { workflowId } of payrun.temporal.workflow.list({ query })) {
      if (workflowId.includes(playbook)) ids.push(workflowId);
    }
    return ids.length;
  };
  await expect.poll(found, { interval: 50 }).not.toBe(0);
  return ids;
}

/** Returns the ids of the runs that were launched from a playbook. */
export async function runsOf(payrun: TestPayrun, playbook: string): Promise<string[]> {
  const { db } = payrun.store;
  const rows = await db
    .selectFrom("runs")
    .select("run_id")
    .where("playbook", "=", playbook)
    .execute();
  return rows.map((row) => row.run_id);
}

/** As if the playbook had been applied a week ago, so that its schedule has a run that is due. */
export async function sinceLastWeek({ store }: TestPayrun, playbook: string): Promise<void> {
  const change = { created_at_ms: Date.now() - 7 * 24 * 3_600_000 };
  await store.db.updateTable("playbooks").set(change).where("name", "=", playbook).execute();
}
