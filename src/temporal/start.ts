import type { Client } from "@temporalio/client";
import { TypedSearchAttributes } from "@temporalio/common";
import type { FundingIncidentInput, RetryFailedPaymentInput } from "../contracts/activities.ts";
import type { CancelScheduledInput } from "../contracts/cancellation.ts";
import {
  MASS_QUEUE,
  fundingIncidentId,
  kybOnboardingId,
  retryFailedPaymentId,
  SIGNAL,
  TASK_QUEUE,
  WORKFLOW,
} from "../contracts/names.ts";
import type { KybOnboardingInput } from "../contracts/onboarding.ts";
import type { PayRunInput } from "../contracts/pay-run.ts";
import {
  searchAttributesAtLaunch,
  searchAttributesOfLauncher,
  searchAttributesOfWaiting,
} from "../contracts/search-attributes.ts";

/** Longer ones are refused. */
const SUMMARY_MAX = 190;

export interface PayRunStart {
  readonly runId: string;
  readonly business: string;
  readonly playbook: string;
  readonly period: string;
  readonly launchedBy: string;
}

/**
 * Starts a run's workflow, or tells the one that runs to look: the store may have lost its row, and
 * got it again by this launch.
 *
 * On a closed id Temporal begins a new execution: `payRun` reads its row first, goes on from what
 * it finds there, and ends at once where the work is done.
 */
export async function startOrSignalPayRun(client: Client, start: PayRunStart): Promise<void> {
  const input: PayRunInput = { runId: start.runId };
  await client.workflow.signalWithStart(WORKFLOW.payRun, {
    workflowId: start.runId,
    taskQueue: TASK_QUEUE,
    args: [input],
    signal: SIGNAL.eventsArrived,
    typedSearchAttributes: new TypedSearchAttributes(searchAttributesAtLaunch(start)),
    staticSummary: `${start.playbook} for ${start.business}, ${start.period}`.slice(0, SUMMARY_MAX),
    staticDetails: [
      `Pay run of **${start.playbook}** for **${start.business}**, period ${start.period}.`,
      "",
      `Launched by ${start.launchedBy}.`,
    ].join("\n"),
  });
}

/** Starts a business's onboarding, or tells the one that runs to look. */
export async function startOrSignalOnboarding(
  client: Client,
  start: { readonly business: string; readonly playbook: string; readonly launchedBy: string },
): Promise<void> {
  const input: KybOnboardingInput = { business: start.business };
  await client.workflow.signalWithStart(WORKFLOW.kybOnboarding, {
    workflowId: kybOnboardingId(start.business),
    taskQueue: TASK_QUEUE,
    args: [input],
    signal: SIGNAL.eventsArrived,
    typedSearchAttributes: new TypedSearchAttributes(searchAttributesOfLauncher(start)),
    staticSummary: `KYB of ${start.business}`.slice(0, SUMMARY_MAX),
    staticDetails: `Takes **${start.business}** through verification. Launched by ${start.launchedBy}.`,
  });
}

/** Starts the workflow of a cancellation, or tells the one that runs to look. */
export async function startOrSignalCancellation(
  client: Client,
  start: {
    readonly workflowId: string;
    readonly business: string;
    readonly playbook: string;
    readonly requestedBy: string;
  },
): Promise<void> {
  const input: CancelScheduledInput = { id: start.workflowId };
  await client.workflow.signalWithStart(WORKFLOW.cancelScheduledPayments, {
    workflowId: start.workflowId,
    taskQueue: TASK_QUEUE,
    args: [input],
    signal: SIGNAL.eventsArrived,
    typedSearchAttributes: new TypedSearchAttributes(searchAttributesOfLauncher(start)),
    staticSummary: `Withholds or cancels payments of ${start.business}`.slice(0, SUMMARY_MAX),
    staticDetails: `Asked for by ${start.requestedBy}.`,
  });
}

/**
 * Starts the owner of a failed payable, or tells the one that runs to look.
 *
 * Never as a child: starting a child id that exists fails for ever, a signalWithStart meets whoever
 * is there.
 */
export async function startOrSignalRetry(
  client: Client,
  business: string,
  payableId: string,
): Promise<void> {
  const input: RetryFailedPaymentInput = { business, payableId };
  await client.workflow.signalWithStart(WORKFLOW.retryFailedPayment, {
    workflowId: retryFailedPaymentId(business, payableId),
    taskQueue: MASS_QUEUE.retries,
    args: [input],
    signal: SIGNAL.eventsArrived,
    typedSearchAttributes: new TypedSearchAttributes(
      searchAttributesOfWaiting({ business, phase: "waiting", needsAction: false }),
    ),
    staticSummary: `Failed payment of ${payableId}, ${business}`.slice(0, SUMMARY_MAX),
  });
}

/** Starts the incident of a funding account, or tells the one that runs to look. */
export async function startOrSignalIncident(
  client: Client,
  business: string,
  sourceId: string,
): Promise<void> {
  const input: FundingIncidentInput = { business, sourceId };
  await client.workflow.signalWithStart(WORKFLOW.fundingIncident, {
    workflowId: fundingIncidentId(business, sourceId),
    taskQueue: TASK_QUEUE,
    args: [input],
    signal: SIGNAL.eventsArrived,
    typedSearchAttributes: new TypedSearchAttributes(
      searchAttributesOfWaiting({ business, phase: "open", needsAction: true }),
    ),
    staticSummary: `Payments from ${sourceId} bounced, ${business}`.slice(0, SUMMARY_MAX),
  });
}
