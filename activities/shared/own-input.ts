import { activityInfo } from "@temporalio/activity";
import { ApplicationFailure } from "@temporalio/common";
import {
  fundingIncidentId,
  kybOnboardingId,
  retryFailedPaymentId,
  scheduledPayRunId,
} from "../../src/contracts/workflow-kinds.ts";

type Fields = Readonly<Record<string, unknown>>;

/** True if an input is one that this workflow passes to its own activities. */
type IsOwn = (input: Fields, workflowId: string) => boolean;

function isOwn(idOf: (...parts: string[]) => string, ...names: readonly string[]): IsOwn {
  return (input, workflowId) => {
    const parts = names.map((name) => input[name]);
    return parts.every((part) => typeof part === "string") && idOf(...parts) === workflowId;
  };
}

const same = (id: string): string => id;

export const OWN_INPUT = {
  run: isOwn(same, "runId"),
  deposits: isOwn(same, "owner"),
  cancellation: isOwn(same, "id"),
  dryPlan: isOwn(same, "dryPlanId"),
  retry: isOwn(retryFailedPaymentId, "business", "payableId"),
  incident: isOwn(fundingIncidentId, "business", "sourceId"),
  onboarding: isOwn(kybOnboardingId, "business"),
  /** A schedule adds the time to the id. */
  launcher: (input, workflowId) => {
    const idOf = (business: string, playbook: string): string => {
      const id = scheduledPayRunId(business, playbook);
      return workflowId.startsWith(`${id}-`) ? workflowId : id;
    };
    return isOwn(idOf, "business", "playbook")(input, workflowId);
  },
} satisfies Readonly<Record<string, IsOwn>>;

/**
 * Wraps an activity so that it takes only its own workflow's input.
 *
 * Anyone who may write to Temporal can schedule activities from workflows of their own, with any
 * input. So an input names things and says nothing about them: the store does. The name must be
 * that of the workflow that asks.
 */
export function onOwnInput<Input, Output>(
  isOwnInput: IsOwn,
  activity: (input: Input) => Promise<Output>,
): (input: Input) => Promise<Output> {
  return async (input) => {
    const fields: unknown = input;
    const workflowId = activityInfo().workflowExecution?.workflowId ?? "";
    if (typeof fields !== "object" || fields === null || !isOwnInput({ ...fields }, workflowId)) {
      throw ApplicationFailure.nonRetryable(
        "This input is not one that the workflow's own code passes to the activity.",
        "ForeignInput",
      );
    }
    return activity(input);
  };
}
