/** Kinds of notices to the business's own people (docs/notices.md). */
export const NOTICE_KINDS = [
  "approval-needed",
  "decide-by-near",
  "approval-reminder",
  "approval-escalated",
  "asked-again",
  "hurried-approval",
  "changed-record",
  "parked",
  "payment-late",
  "impossible-move",
  "late-answer",
  "not-as-approved",
  "payment-unexplained",
  "payment-in-doubt",
  "trail-differs",
  "step-failed",
  "no-worker",
  "workflow-stopped",
  "schedule-changed",
  "run-missed",
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
  "token-used",
  "digest",
] as const;

/** `remittance` goes to vendors, never to a channel of the business's own people. */
export type NoticeKind = (typeof NOTICE_KINDS)[number] | "remittance";

/** The channel of notices to vendors; a profile can't give this name to a channel of its own. */
export const VENDOR_CHANNEL = "vendors";

/** The same for notices to one person, by the address of theirs that the profile has. */
export const PERSON_CHANNEL = "people";
