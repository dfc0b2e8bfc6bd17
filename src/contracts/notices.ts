/** Kinds of notices to our own people, by what they tell of (docs/notices.md). */
export const NOTICE_KINDS = [
  "approval-needed",
  "decide-by-near",
  "approval-reminder",
  "approval-escalated",
  "parked",
  "payment-late",
  "impossible-move",
  "late-answer",
  "step-failed",
  "run-completed",
  "run-failed",
  "plan-warning",
  "business-waits",
  "webhooks-paused",
  "incident",
  "top-up-needed",
  "top-up-failed",
  "top-up-returned",
  "bank-account-changed",
  "payment-failed-elsewhere",
  "given-up",
  "bills-withheld",
  "bill-not-released",
  "payment-not-cancelled",
  "refund-late",
  "onboarding",
  "reminder",
  "digest",
] as const;

/** `remittance` is for vendors, and goes over no channel of our people. */
export type NoticeKind = (typeof NOTICE_KINDS)[number] | "remittance";
