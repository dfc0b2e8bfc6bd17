import { decisionsOfRun } from "../../../src/store/approvals/decisions.ts";
import type { TestGateway } from "../../gateway/support/gateway.ts";
import type { SeededRun } from "../../gateway/support/rows.ts";
import { signedIn } from "./visits.ts";
import { weeklyTest } from "./weekly-run.ts";

/** The form's fields about how the new bank account of the weekly run's vendor was verified. */
export const CALLED = { "whom-con_4": "Ann Lee, accounts", "number-con_4": "+1 212 555 0100" };

/** Returns the address of the page on which an approver checks an approval. */
export function checkOf({ runId, planHash }: SeededRun, out: readonly string[] = []): string {
  const query = new URLSearchParams({ plan: planHash });
  for (const id of out) query.append("out", id);
  return `/runs/${encodeURIComponent(runId)}/approve?${query.toString()}`;
}

/** Returns the decisions about a run in order, each with its person, kind and outcome. */
export async function decidedIn({ store }: TestGateway, { runId }: SeededRun): Promise<string[]> {
  const decisions = await decisionsOfRun(store.db, runId);
  return decisions.map(({ principal, decision, outcome }) => `${principal} ${decision} ${outcome}`);
}

/** Tests with the week's run; `cora`, who may approve it, is signed in, and `page` is the run's. */
export const approverTest = weeklyTest
  .extend("cora", { auto: true }, ({ gateway }) => signedIn(gateway, "cora", ["controller"]))
  .extend("page", ({ run }) => `/runs/${encodeURIComponent(run.runId)}`);
