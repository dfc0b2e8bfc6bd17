/** Kinds of notices to the business's own people (docs/notices.md). */
export const NOTICE_KINDS = [
  "approval-needed",
  "decide-by-near",
  "approval-reminder",
  "approval-escalated",
  "parked",
  "payment-late",
  "impossible-move",
  "late-answer",
  "payment-unexplained",
  "payment-in-doubt",
  "step-failed",
  "no-worker",
  "store-behind",
  "run-completed",
  "run-failed",
  "plan-warning",
  "business-waits",
  "funding-source-removed",
  "webhooks-paused",
  "incident",
  "top-up-needed",
  "top-up-failed",
  "top-up-late",
  "top-up-returned",
  "bank-account-changed",
  "payment-failed-elsewhere",
  "payment-not-on-record",
  "given-up",
  "bills-withheld",
  "bill-not-released",
  "payment-not-cancelled",
  "refund-late",
  "onboarding",
  "reminder",
  "digest",
] as const;

/** `remittance` goes to vendors, never to a channel of the business's own people. */
export type NoticeKind = (typeof NOTICE_KINDS)[number] | "remittance";

/** The channel of notices to vendors; a profile can't give this name to a channel of its own. */
export const VENDOR_CHANNEL = "vendors";
