export { kybOnboarding } from "./kyb-onboarding.ts";
export { fundingIncident } from "./funding-incident.ts";
export { cancelScheduledPayments } from "./cancel-scheduled-payments.ts";
export { payRun } from "./pay-run.ts";
export { planDry } from "./plan-dry.ts";
export { retryFailedPayment } from "./retry-failed-payment.ts";
export { scheduledPayRun } from "./scheduled-pay-run.ts";
