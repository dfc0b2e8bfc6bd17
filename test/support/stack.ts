import { afterEach } from "vitest";
import type { RunStatus } from "../../src/api/runs.ts";
import { bills, PAY_ALL, type Bill } from "./bills.ts";
import { startPayrun, type PayrunOptions, type TestPayrun } from "./payrun.ts";

/** Returns a function that starts stacks. They end with the test, even if it fails. */
export function stacks(): (options?: PayrunOptions) => Promise<TestPayrun> {
  const open: TestPayrun[] = [];
  afterEach(async () => {
    await Promise.all(open.splice(0).map((payrun) => payrun.stop()));
  });
  return async (options = {}) => {
    const payrun = await startPayrun(options);
    open.push(payrun);
    return payrun;
  };
}

/** Returns a run with these bills, planned and waiting for approval. */
export async function plannedRun(
  payrun: TestPayrun,
  amounts: readonly number[],
  playbook = PAY_ALL,
): Promise<{ readonly runId: string; readonly made: Bill[] }> {
  const made = await bills(payrun.sandbox, amounts);
  await payrun.apply("weekly", playbook);
  const runId = await payrun.launch("weekly");
  await payrun.untilPhase(runId, "awaiting-approval");
  return { runId, made };
}

/** Approves as the controller and fails if that is not accepted. */
export async function approve(payrun: TestPayrun, runId: string): Promise<void> {
  const { status, body } = await payrun.decide("controller", runId, "approve");
  if (status !== 200) throw new Error(`approve: ${status} ${JSON.stringify(body)}`);
}

/** Lets the bank's days pass quickly until the run has ended. */
export async function untilEnded(payrun: TestPayrun, runId: string): Promise<RunStatus> {
  await payrun.sandbox.control.setScale(43_200);
  const ended = (status: RunStatus): boolean =>
    ["completed", "completed-with-exceptions", "cancelled", "rejected", "expired"].includes(
      status.phase,
    );
  return payrun.until(runId, "ended", ended, 180_000);
}

/** Returns the expected net credits of bills that were each paid exactly once. */
export function each(made: readonly Bill[]): Map<string, number> {
  return new Map(made.map(({ id, amountCents }) => [id, amountCents]));
}
