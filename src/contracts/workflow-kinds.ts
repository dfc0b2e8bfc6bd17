import type { FundingIncidentInput, RetryFailedPaymentInput } from "./activities.ts";
import type { CancelScheduledInput } from "./cancellation.ts";
import { MASS_QUEUE, TASK_QUEUE } from "./names.ts";
import type { KybOnboardingInput } from "./onboarding.ts";
import type { PayRunInput } from "./pay-run.ts";
import type { ShownInList } from "./search-attributes.ts";

export const WORKFLOW = {
  payRun: "payRun",
  retryFailedPayment: "retryFailedPayment",
  fundingIncident: "fundingIncident",
  planDry: "planDry",
  scheduledPayRun: "scheduledPayRun",
  kybOnboarding: "kybOnboarding",
  cancelScheduledPayments: "cancelScheduledPayments",
} as const;

/**
 * First part of a workflow id; the second part is the business. A launcher's id begins with that of
 * its schedule.
 */
const OF_BUSINESS = {
  payRun: "pay-run",
  retryFailedPayment: "retry-failed-payment",
  cancelScheduledPayments: "cancel-scheduled-payments",
  kybOnboarding: "kyb-onboarding",
  fundingIncident: "funding-incident",
  planDry: "plan",
} as const satisfies Readonly<Record<Exclude<keyof typeof WORKFLOW, "scheduledPayRun">, string>>;

/** True for the id of a workflow of this kind. */
export function isOfKind(workflowId: string, kind: keyof typeof OF_BUSINESS): boolean {
  return workflowId.startsWith(`${OF_BUSINESS[kind]}/`);
}

/** Returns the pattern for SQL's LIKE that the ids of this kind match. */
export function likeOf(kind: keyof typeof OF_BUSINESS): string {
  return `${OF_BUSINESS[kind]}/%`;
}

/**
 * Returns the workflow id of a pay run, `pay-run/{business}/{playbook}/{period}[/r{n}]`.
 *
 * @param business the profile's name
 * @param period `YYYY-MM-DD`, the date of the nominal fire time
 * @param revision 1 is the first and leaves no suffix
 */
export function payRunId(
  business: string,
  playbook: string,
  period: string,
  revision: number,
): string {
  const base = `${OF_BUSINESS.payRun}/${business}/${playbook}/${period}`;
  return revision <= 1 ? base : `${base}/r${revision}`;
}

/** Returns the workflow id of the one owner of a failed or returned payable. */
export function retryFailedPaymentId(business: string, payableId: string): string {
  return `${OF_BUSINESS.retryFailedPayment}/${business}/${payableId}`;
}

/** Returns the workflow id of a business's only onboarding. */
export function kybOnboardingId(business: string): string {
  return `${OF_BUSINESS.kybOnboarding}/${business}`;
}

/** Returns the workflow id of the only incident of a funding account whose payments bounced. */
export function fundingIncidentId(business: string, sourceId: string): string {
  return `${OF_BUSINESS.fundingIncident}/${business}/${sourceId}`;
}

/** Returns the workflow id of a cancellation; `request` names what it is about. */
export function cancelScheduledPaymentsId(business: string, request: string): string {
  return `${OF_BUSINESS.cancelScheduledPayments}/${business}/${request}`;
}

/** Returns the id of the cancellation that calls back what is scheduled from an account on hold. */
export function incidentCancellationId(business: string, holdId: string): string {
  return cancelScheduledPaymentsId(business, `incident-${holdId}`);
}

/**
 * Returns the request of a cancellation that holds back bills of a run: one for each playbook and
 * run, so that a second launch joins the first.
 */
export function holdBackRequest(playbook: string, runId: string): string {
  return `${playbook}/${shortName(runId)}`;
}

const BUSINESS_IN_ID = new RegExp(`^(?:${Object.values(OF_BUSINESS).join("|")})/([^/]+)`);

/** Returns the business in a workflow id; undefined if the id has none. */
export function businessOfWorkflow(workflowId: string): string | undefined {
  return BUSINESS_IN_ID.exec(workflowId)?.[1];
}

/**
 * Returns the name that people use for a run: `rent/2026-11-26` for `pay-run/acme/rent/2026-11-26`.
 */
export function shortName(workflowId: string): string {
  return businessOfWorkflow(workflowId) === undefined
    ? workflowId
    : workflowId.split("/").slice(2).join("/");
}

/**
 * Returns the workflow id of a dry plan; `nonce` distinguishes plans that are made at the same
 * time.
 */
export function planDryId(business: string, playbook: string, nonce: string): string {
  return `${OF_BUSINESS.planDry}/${business}/${playbook}/${nonce}`;
}

/**
 * Returns the id of a playbook's Temporal Schedule, with which its launchers' workflow ids begin.
 */
export function scheduledPayRunId(business: string, playbook: string): string {
  return `scheduled-pay-run/${business}/${playbook}`;
}

/**
 * A kind of workflow that belongs to a row of the store. It is started if it isn't running, and
 * otherwise sent a signal.
 */
export interface WorkflowKind<Start, Input = unknown> {
  readonly workflow: keyof typeof WORKFLOW;
  /** What the API calls it, each with the words that people read. */
  readonly called: Readonly<Record<string, string>>;
  /** True if it claims bills, so that nothing else pays them. */
  readonly claimsBills: boolean;
  readonly taskQueue: string;
  readonly id: (start: Start) => string;
  readonly input: (start: Start) => Input;
  /** What Temporal's list shows before the workflow's first look. */
  readonly shows: (start: Start) => ShownInList;
  /** One line for the Temporal UI. */
  readonly summary: (start: Start) => string;
  /** Markdown for the Temporal UI. */
  readonly details?: (start: Start) => string;
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
 * Every kind. Tables with one entry for each, such as the janitor's, don't compile without a new
 * one; `docs/how-to-change.md` lists them.
 */
export const WORKFLOW_KINDS = {
  /**
   * If the workflow with its id has closed, Temporal begins a new execution: `payRun` reads its row
   * first, goes on from what it finds there, and ends at once if the work is done.
   */
  payRun: {
    workflow: "payRun",
    called: { "pay-run": "Pay run" },
    claimsBills: true,
    taskQueue: TASK_QUEUE,
    id: ({ runId }) => runId,
    input: ({ runId }) => ({ runId }),
    shows: ({ business, playbook, period }) => ({
      business,
      playbook,
      period,
      phase: "planning",
      needsAction: false,
    }),
    summary: ({ business, playbook, period }) => `${playbook} for ${business}, ${period}`,
    details: ({ business, playbook, period, launchedBy }) =>
      `Pay run of **${playbook}** for **${business}**, period ${period}.\n\nLaunched by ${launchedBy}.`,
  } as const satisfies WorkflowKind<PayRunStart, PayRunInput>,
  kybOnboarding: {
    workflow: "kybOnboarding",
    called: { "kyb-onboarding": "Onboarding" },
    claimsBills: false,
    taskQueue: TASK_QUEUE,
    id: ({ business }) => kybOnboardingId(business),
    input: ({ business }) => ({ business }),
    shows: ({ business, playbook }) => ({ business, playbook }),
    summary: ({ business }) => `KYB of ${business}`,
    details: ({ business, launchedBy }) =>
      `Takes **${business}** through verification. Launched by ${launchedBy}.`,
  } as const satisfies WorkflowKind<OnboardingStart, KybOnboardingInput>,
  cancelScheduledPayments: {
    workflow: "cancelScheduledPayments",
    called: { "cancel-scheduled": "Cancellation", hold: "Bills held back" },
    claimsBills: false,
    taskQueue: TASK_QUEUE,
    id: ({ workflowId }) => workflowId,
    input: ({ workflowId }) => ({ id: workflowId }),
    shows: ({ business, playbook }) => ({ business, playbook }),
    summary: ({ business }) => `Holds back bills or cancels payments of ${business}`,
    details: ({ requestedBy }) => `Asked for by ${requestedBy}.`,
  } as const satisfies WorkflowKind<CancellationStart, CancelScheduledInput>,
  /** The owner of a failed bill. Never a child: a child whose id exists can't be started. */
  retryFailedPayment: {
    workflow: "retryFailedPayment",
    called: { "retry-failed-payment": "Failed payment" },
    claimsBills: true,
    taskQueue: MASS_QUEUE.retries,
    id: ({ business, payableId }) => retryFailedPaymentId(business, payableId),
    input: ({ business, payableId }) => ({ business, payableId }),
    shows: ({ business }) => ({ business, phase: "waiting", needsAction: false }),
    summary: ({ business, payableId }) => `Failed payment of ${payableId}, ${business}`,
  } as const satisfies WorkflowKind<RetryFailedPaymentInput, RetryFailedPaymentInput>,
  fundingIncident: {
    workflow: "fundingIncident",
    called: { "funding-incident": "Account that bounced" },
    claimsBills: false,
    taskQueue: TASK_QUEUE,
    id: ({ business, sourceId }) => fundingIncidentId(business, sourceId),
    input: ({ business, sourceId }) => ({ business, sourceId }),
    shows: ({ business }) => ({ business, phase: "open", needsAction: true }),
    summary: ({ business, sourceId }) => `Payments from ${sourceId} bounced, ${business}`,
  } as const satisfies WorkflowKind<FundingIncidentInput, FundingIncidentInput>,
};

export type WorkflowKindName = keyof typeof WORKFLOW_KINDS;

/** The kinds that claim bills. */
export type ClaimingKind = {
  [Name in WorkflowKindName]: (typeof WORKFLOW_KINDS)[Name]["claimsBills"] extends false
    ? never
    : Name;
}[WorkflowKindName];

/** A kind of workflow as the API calls it. */
export type KindShown = {
  [Name in WorkflowKindName]: keyof (typeof WORKFLOW_KINDS)[Name]["called"];
}[WorkflowKindName];

/** Every kind as the API calls it. */
export const KINDS_SHOWN = Object.values(WORKFLOW_KINDS).flatMap(
  ({ called }) => Object.keys(called) as KindShown[],
);

/** Returns the words that people read for a kind that the API names. */
export function kindCalled(kind: string): string {
  for (const { called } of Object.values<WorkflowKind<never>>(WORKFLOW_KINDS)) {
    if (Object.hasOwn(called, kind)) return called[kind] ?? kind;
  }
  return kind;
}
