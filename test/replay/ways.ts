/** What a history must show to be what its name says. */
export interface Way {
  readonly workflow: string;
  /** What the workflow returned or failed with; null if the history stops in the middle. */
  readonly ends: RegExp | null;
}

/** Every way in which a workflow can go and end has a history of this name. */
export const WAYS: Readonly<Record<string, Way>> = {
  "pay-run-settles": { workflow: "payRun", ends: /^completed$/ },
  "pay-run-with-exceptions": { workflow: "payRun", ends: /^completed-with-exceptions$/ },
  "pay-run-asks-again": { workflow: "payRun", ends: /^completed$/ },
  "pay-run-signed-decisions": { workflow: "payRun", ends: /^completed$/ },
  "pay-run-approved-in-stages": { workflow: "payRun", ends: /^completed$/ },
  "pay-run-worker-killed": { workflow: "payRun", ends: /^completed$/ },
  "pay-run-launched-again": { workflow: "payRun", ends: /^completed$/ },
  "pay-run-tops-up": { workflow: "payRun", ends: /^completed$/ },
  "pay-run-rejected": { workflow: "payRun", ends: /^rejected$/ },
  "pay-run-expired": { workflow: "payRun", ends: /^expired$/ },
  "pay-run-cancelled": { workflow: "payRun", ends: /^cancelled$/ },
  "pay-run-failed": { workflow: "payRun", ends: /ACH debit authorization/ },

  "retry-settles": { workflow: "retryFailedPayment", ends: /^settled$/ },
  "retry-worker-killed": { workflow: "retryFailedPayment", ends: /^settled$/ },
  "retry-waits-for-incident": { workflow: "retryFailedPayment", ends: /^settled$/ },
  "retry-left-to-next-run": { workflow: "retryFailedPayment", ends: /^left to the next run$/ },
  "retry-other-source": { workflow: "retryFailedPayment", ends: /^left to the next run$/ },
  "retry-given-up": { workflow: "retryFailedPayment", ends: /given-up$/ },
  "retry-paid-elsewhere": { workflow: "retryFailedPayment", ends: /paid-elsewhere$/ },
  "retry-cancelled": { workflow: "retryFailedPayment", ends: /^(cancelled|refunded)$/ },
  "retry-notifies-of-external-payment": {
    workflow: "retryFailedPayment",
    ends: /^people were notified/,
  },

  "cancel-scheduled": { workflow: "cancelScheduledPayments", ends: /^completed$/ },
  "cancel-scheduled-refund": { workflow: "cancelScheduledPayments", ends: /^completed$/ },
  "cancel-scheduled-under-way": { workflow: "cancelScheduledPayments", ends: /^completed$/ },
  "cancel-scheduled-unconfirmed": { workflow: "cancelScheduledPayments", ends: /^completed$/ },
  "cancel-scheduled-withheld": { workflow: "cancelScheduledPayments", ends: /^completed$/ },
  "cancel-scheduled-worker-killed": { workflow: "cancelScheduledPayments", ends: /^completed$/ },
  "cancel-scheduled-too-late": {
    workflow: "cancelScheduledPayments",
    ends: /^completed-with-exceptions$/,
  },

  "kyb-onboarding-verified": { workflow: "kybOnboarding", ends: /^verified$/ },
  "kyb-onboarding-bank-account": { workflow: "kybOnboarding", ends: /^verified$/ },
  "kyb-onboarding-worker-killed": { workflow: "kybOnboarding", ends: /^verified$/ },
  "kyb-onboarding-expired": { workflow: "kybOnboarding", ends: /^expired$/ },
  "kyb-onboarding-suspended": { workflow: "kybOnboarding", ends: null },

  "funding-incident-released": { workflow: "fundingIncident", ends: /^released by controller$/ },
  "funding-incident-tops-up": { workflow: "fundingIncident", ends: /^released by controller$/ },
  "funding-incident-hold-lifted": { workflow: "fundingIncident", ends: /^released by controller$/ },
  "funding-incident-worker-killed": { workflow: "fundingIncident", ends: /^released by/ },
  "funding-incident-other-source": { workflow: "fundingIncident", ends: /^other-source by/ },

  "scheduled-launches": { workflow: "scheduledPayRun", ends: /^Launched / },
  "scheduled-worker-killed": { workflow: "scheduledPayRun", ends: /^Launched / },
  "scheduled-nothing-begins": { workflow: "scheduledPayRun", ends: /^No run of / },

  "plan-dry": { workflow: "planDry", ends: /^$/ },
  "plan-dry-fails": { workflow: "planDry", ends: /./ },
};
