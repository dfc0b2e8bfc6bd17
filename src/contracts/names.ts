/** Every id, queue and message name that clients, gateway and workers share, built in one place. */

/** Of workflows, and of the steps that people wait for. */
export const TASK_QUEUE = "payrun";

/** Of activities that come in masses or take long, so that nobody waits behind them. */
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
 * Signals carry nothing, the store says what happened; but for a signed decision, which proves
 * itself.
 */
export const SIGNAL = {
  /** Webhook events, decisions, holds or a cancel request arrived in the store: look. */
  eventsArrived: "eventsArrived",
  /** A signed decision, for systems that can't send updates; the answer is in the audit trail. */
  decide: "decide",
} as const;

/** Update for systems that speak to Temporal directly; an activity verifies the signature. */
export const UPDATE = { decide: "decide" } as const;

export const QUERY = { progress: "progress" } as const;

/** The first part of the ids of what belongs to one business, which is the second part. */
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

/** Workflow id of a business's onboarding: there is one. */
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

/** What a withholding is about: one for each playbook and run, so that a second launch joins it. */
export function withholdingRequest(playbook: string, runId: string): string {
  return `${playbook}/${runId.split("/").slice(2).join("/")}`;
}

/**
 * Whom the cancel of a payment is about in the attempt ledger. Ids are opaque: a payment's could be
 * a payable's as well.
 */
export function cancelSubject(paymentId: string): string {
  return `cancel/${paymentId}`;
}

/**
 * Whom a deposit is about in the attempt ledger: the funding source, and who asks for the how many-th
 * time. A run that is launched again in an empty store asks under the same name.
 *
 * @param owner the workflow that needs the money
 * @param requestNo from 1
 */
export function depositSubject(sourceId: string, owner: string, requestNo: number): string {
  return `deposit/${sourceId}/${owner}/${requestNo}`;
}

const BUSINESS_IN_ID = new RegExp(`^(?:${Object.values(OF_BUSINESS).join("|")})/([^/]+)`);

/** The profile's name in the id of whatever is asked for by its id; undefined for others. */
export function businessOfWorkflow(workflowId: string): string | undefined {
  return BUSINESS_IN_ID.exec(workflowId)?.[1];
}

/** Workflow id of a dry plan; random part so that two at once don't meet. */
export function planDryId(business: string, playbook: string, nonce: string): string {
  return `${OF_BUSINESS.planDry}/${business}/${playbook}/${nonce}`;
}

/** Id of a playbook's Temporal Schedule, and the id that its launchers' workflow ids begin with. */
export function scheduledPayRunId(business: string, playbook: string): string {
  return `scheduled-pay-run/${business}/${playbook}`;
}
