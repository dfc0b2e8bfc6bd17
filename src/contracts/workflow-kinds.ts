import type { FundingIncidentInput, RetryFailedPaymentInput } from "./activities.ts";
import type { CancelScheduledInput } from "./cancellation.ts";
import {
  fundingIncidentId,
  kybOnboardingId,
  MASS_QUEUE,
  retryFailedPaymentId,
  TASK_QUEUE,
  type WORKFLOW,
} from "./names.ts";
import type { KybOnboardingInput } from "./onboarding.ts";
import type { PayRunInput } from "./pay-run.ts";
import type { Shown } from "./search-attributes.ts";

/**
 * A kind of workflow that belongs to a row of the store, and is started if it isn't running, or
 * signalled.
 */
export interface WorkflowKind<Start, Input = unknown> {
  readonly workflow: keyof typeof WORKFLOW;
  readonly taskQueue: string;
  readonly id: (start: Start) => string;
  readonly input: (start: Start) => Input;
  /** What Temporal's list shows before the workflow's first look. */
  readonly shows: (start: Start) => Shown;
  /** One line for the Temporal UI. */
  readonly summary: (start: Start) => string;
  /** Markdown for the Temporal UI. */
  readonly details?: (start: Start) => string;
}

/** Fixes the types of a kind's start and input, which an object literal alone would lose. */
function kind<Start, Input>(of: WorkflowKind<Start, Input>): WorkflowKind<Start, Input> {
  return of;
}

export interface PayRunStart {
  readonly runId: string;
  readonly business: string;
  readonly playbook: string;
  readonly period: string;
  readonly launchedBy: string;
}

export interface OnboardingStart {
  readonly business: string;
  readonly playbook: string;
  readonly launchedBy: string;
}

export interface CancellationStart {
  readonly workflowId: string;
  readonly business: string;
  readonly playbook: string;
  readonly requestedBy: string;
}

/**
 * Every kind. A new one doesn't compile until the janitor knows which rows must have one
 * (`src/janitor/lost-workflows.ts`) and the list of runs knows how to list it
 * (`src/reports/run-list.ts`).
 */
export const WORKFLOW_KINDS = {
  /**
   * If its id is closed, Temporal begins a new execution: `payRun` reads its row first, goes on
   * from what it finds there, and ends at once if the work is done.
   */
  payRun: kind<PayRunStart, PayRunInput>({
    workflow: "payRun",
    taskQueue: TASK_QUEUE,
    id: ({ runId }) => runId,
    input: ({ runId }) => ({ runId }),
    shows: ({ business, playbook }) => ({
      ...{ business, playbook },
      ...{ phase: "planning", needsAction: false },
    }),
    summary: ({ business, playbook, period }) => `${playbook} for ${business}, ${period}`,
    details: ({ business, playbook, period, launchedBy }) =>
      `Pay run of **${playbook}** for **${business}**, period ${period}.\n\nLaunched by ${launchedBy}.`,
  }),
  kybOnboarding: kind<OnboardingStart, KybOnboardingInput>({
    workflow: "kybOnboarding",
    taskQueue: TASK_QUEUE,
    id: ({ business }) => kybOnboardingId(business),
    input: ({ business }) => ({ business }),
    shows: ({ business, playbook }) => ({ business, playbook }),
    summary: ({ business }) => `KYB of ${business}`,
    details: ({ business, launchedBy }) =>
      `Takes **${business}** through verification. Launched by ${launchedBy}.`,
  }),
  cancelScheduledPayments: kind<CancellationStart, CancelScheduledInput>({
    workflow: "cancelScheduledPayments",
    taskQueue: TASK_QUEUE,
    id: ({ workflowId }) => workflowId,
    input: ({ workflowId }) => ({ id: workflowId }),
    shows: ({ business, playbook }) => ({ business, playbook }),
    summary: ({ business }) => `Withholds or cancels payments of ${business}`,
    details: ({ requestedBy }) => `Asked for by ${requestedBy}.`,
  }),
  /** The owner of a failed bill. Never a child: a child whose id exists can't be started. */
  retryFailedPayment: kind<RetryFailedPaymentInput, RetryFailedPaymentInput>({
    workflow: "retryFailedPayment",
    taskQueue: MASS_QUEUE.retries,
    id: ({ business, payableId }) => retryFailedPaymentId(business, payableId),
    input: ({ business, payableId }) => ({ business, payableId }),
    shows: ({ business }) => ({ business, phase: "waiting", needsAction: false }),
    summary: ({ business, payableId }) => `Failed payment of ${payableId}, ${business}`,
  }),
  fundingIncident: kind<FundingIncidentInput, FundingIncidentInput>({
    workflow: "fundingIncident",
    taskQueue: TASK_QUEUE,
    id: ({ business, sourceId }) => fundingIncidentId(business, sourceId),
    input: ({ business, sourceId }) => ({ business, sourceId }),
    shows: ({ business }) => ({ business, phase: "open", needsAction: true }),
    summary: ({ business, sourceId }) => `Payments from ${sourceId} bounced, ${business}`,
  }),
} as const;

export type WorkflowKindName = keyof typeof WORKFLOW_KINDS;
