/** Ids, queue names and message names that clients, gateways and workers share. */

/** For workflows, and for activities that people wait for. */
export const TASK_QUEUE = "payrun";

/** For activities that come in masses or take long, so that others don't queue behind them. */
export const MASS_QUEUE = {
  money: "payrun-money",
  retries: "payrun-retries",
  reading: "payrun-reading",
} as const;

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
 * Signals carry no facts: the store says what happened. Only a signed decision comes as a signal,
 * because it proves itself.
 */
export const SIGNAL = {
  /** The store has new webhook events, decisions, holds or a cancel request: look. */
  eventsArrived: "eventsArrived",
  /** A signed decision, for systems that can't send updates. The audit trail holds the response. */
  decide: "decide",
} as const;

/** Update for systems that speak to Temporal directly; an activity verifies the signature. */
export const UPDATE = { decide: "decide" } as const;

export const QUERY = { progress: "progress" } as const;

/** First part of a workflow id; the second part is the business. */
const OF_BUSINESS = {
  payRun: "pay-run",
  retryFailedPayment: "retry-failed-payment",
  cancelScheduledPayments: "cancel-scheduled-payments",
  kybOnboarding: "kyb-onboarding",
  fundingIncident: "funding-incident",
  planDry: "plan",
} as const;

/**
 * Workflow id of a pay run, `pay-run/{business}/{playbook}/{period}[/r{n}]`.
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

/** Workflow id of the one owner of a failed or returned payable. */
export function retryFailedPaymentId(business: string, payableId: string): string {
  return `${OF_BUSINESS.retryFailedPayment}/${business}/${payableId}`;
}

/** Workflow id of a business's only onboarding. */
export function kybOnboardingId(business: string): string {
  return `${OF_BUSINESS.kybOnboarding}/${business}`;
}

/** Workflow id of the one incident of a funding account that bounced. */
export function fundingIncidentId(business: string, sourceId: string): string {
  return `${OF_BUSINESS.fundingIncident}/${business}/${sourceId}`;
}

/** Workflow id of a cancellation; `request` names what it is about. */
export function cancelScheduledPaymentsId(business: string, request: string): string {
  return `${OF_BUSINESS.cancelScheduledPayments}/${business}/${request}`;
}

/**
 * The request of a cancellation that holds bills of a run back: one for each playbook and run, so
 * that a second launch joins the first.
 */
export function holdBackRequest(playbook: string, runId: string): string {
  return `${playbook}/${shortName(runId)}`;
}

/**
 * Ledger subject of a payment's cancel. The prefix keeps it apart from payables: ids are opaque,
 * and a payment's could equal a payable's.
 */
export function cancelSubject(paymentId: string): string {
  return `cancel/${paymentId}`;
}

/**
 * Ledger subject of a deposit: the funding source, the workflow that needs the money, and the
 * number of its request. A run launched again in an empty store uses the same name.
 */
export function depositSubject(sourceId: string, owner: string, requestNo: number): string {
  return `deposit/${sourceId}/${owner}/${requestNo}`;
}

const BUSINESS_IN_ID = new RegExp(`^(?:${Object.values(OF_BUSINESS).join("|")})/([^/]+)`);

/** The business in a workflow id; undefined if the id has none. */
export function businessOfWorkflow(workflowId: string): string | undefined {
  return BUSINESS_IN_ID.exec(workflowId)?.[1];
}

/** As people name a run: `rent/2026-11-26` of `pay-run/acme/rent/2026-11-26`. */
export function shortName(workflowId: string): string {
  return businessOfWorkflow(workflowId) === undefined
    ? workflowId
    : workflowId.split("/").slice(2).join("/");
}

/** Workflow id of a dry plan; `nonce` keeps two at once apart. */
export function planDryId(business: string, playbook: string, nonce: string): string {
  return `${OF_BUSINESS.planDry}/${business}/${playbook}/${nonce}`;
}

/** Id of a playbook's Temporal Schedule, and the id that its launchers' workflow ids begin with. */
export function scheduledPayRunId(business: string, playbook: string): string {
  return `scheduled-pay-run/${business}/${playbook}`;
}
