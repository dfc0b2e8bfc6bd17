import { sleep } from "@temporalio/workflow";
import * as today from "../../../workflows/index.ts";

/** The workflows as they would be after a careless change: each waits before its first step. */
function waitsFirst<Input, Result>(workflow: (input: Input) => Promise<Result>) {
  return async (input: Input): Promise<Result> => {
    await sleep("1 second");
    return workflow(input);
  };
}

export const payRun = waitsFirst(today.payRun);
export const retryFailedPayment = waitsFirst(today.retryFailedPayment);
export const cancelScheduledPayments = waitsFirst(today.cancelScheduledPayments);
export const kybOnboarding = waitsFirst(today.kybOnboarding);
export const fundingIncident = waitsFirst(today.fundingIncident);
export const scheduledPayRun = waitsFirst(today.scheduledPayRun);
export const planDry = waitsFirst(today.planDry);
