import type { Client, WorkflowSignalWithStartOptions } from "@temporalio/client";
import { TypedSearchAttributes } from "@temporalio/common";
import { expect, test } from "vitest";
import { WORKFLOW_KINDS, type WorkflowKind } from "../../src/contracts/workflow-kinds.ts";
import { startOrSignal } from "../../src/temporal/start.ts";

/** Returns what Temporal's list shows of a workflow before its first look. */
async function shownAtStart<Start>(kind: WorkflowKind<Start>, start: Start): Promise<unknown> {
  const given: WorkflowSignalWithStartOptions[] = [];
  const signalWithStart = (_type: string, options: WorkflowSignalWithStartOptions) => {
    given.push(options);
    return Promise.resolve();
  };
  await startOrSignal({ workflow: { signalWithStart } } as unknown as Client, kind, start);
  const shown = given[0]?.typedSearchAttributes;
  const pairs = shown instanceof TypedSearchAttributes ? shown.getAll() : [];
  return Object.fromEntries(pairs.map(({ key, value }) => [key.name, value]));
}

test("a run can be found by its period from its start", async () => {
  const start = {
    ...{ runId: "pay-run/acme/weekly/2026-11-26", business: "acme", playbook: "weekly" },
    ...{ period: "2026-11-26", launchedBy: "lou" },
  };
  expect(await shownAtStart(WORKFLOW_KINDS.payRun, start)).toMatchObject({
    ...{ PayrunPlaybook: "weekly", PayrunPeriod: "2026-11-26" },
  });
});

test("a retry and an incident can be found by business, phase and need of action from their start", async () => {
  const { retryFailedPayment, fundingIncident } = WORKFLOW_KINDS;
  const bill = { business: "acme", payableId: "pbl_1" };
  expect(await shownAtStart(retryFailedPayment, bill)).toEqual({
    ...{ PayrunBusiness: "acme", PayrunPhase: "waiting", PayrunNeedsAction: false },
  });
  const account = { business: "acme", sourceId: "balance" };
  expect(await shownAtStart(fundingIncident, account)).toEqual({
    ...{ PayrunBusiness: "acme", PayrunPhase: "open", PayrunNeedsAction: true },
  });
});
