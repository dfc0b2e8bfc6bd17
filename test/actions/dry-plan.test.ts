import { type Client, WorkflowFailedError } from "@temporalio/client";
import { ApplicationFailure, RetryState } from "@temporalio/common";
import { expect, test } from "vitest";
import { runDryPlan } from "../../src/actions/temporal.ts";

/** A Temporal client at which the plan fails with this type. */
function endingWith(type: string): Client {
  const failure = ApplicationFailure.create({ type, message: "why" });
  const failed = new WorkflowFailedError("failed", failure, RetryState.NON_RETRYABLE_FAILURE);
  const handle = { result: () => Promise.reject(failed) };
  return {
    withDeadline: (_: unknown, work: () => Promise<unknown>) => work(),
    workflow: { start: () => Promise.resolve(handle) },
  } as unknown as Client;
}

test.each([
  ["NoAnswerError", 503, "service_unreachable"],
  ["PaymentsApiError", 502, "api_unavailable"],
  ["TokenUnavailableError", 502, "api_unavailable"],
])("a dry plan that ends with %s is refused with %d %s", async (type, status, code) => {
  const plan = { workflowId: "plan/1", input: {}, timeoutMs: 1_000 };
  await expect(runDryPlan(endingWith(type), plan)).rejects.toMatchObject({ status, code });
});
