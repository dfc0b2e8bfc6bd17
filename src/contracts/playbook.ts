import type { StartingEvent } from "./events.ts";

/** Any playbook after loading; one interface for each kind. */
export type Playbook =
  | PayRunPlaybook
  | KybOnboardingPlaybook
  | RetryFailedPlaybook
  | HoldPlaybook
  | CancelScheduledPlaybook;

/**
 * A `pay-run` playbook after loading: every default filled in, every text parsed, JSON-safe.
 *
 * The store keeps it beside the text it came from, so that a running run keeps its revision.
 */
export interface PayRunPlaybook {
  readonly kind: "pay-run";
  readonly name: string;
  /** Profile name of the business, or null for the only one. */
  readonly business: string | null;
  readonly schedule: PlaybookSchedule | null;
  readonly select: SelectRule;
  /** CEL source that a payable must satisfy, type-checked at load; null selects all. */
  readonly where: string | null;
  readonly pay: PayRule;
  readonly limits: PayLimits;
  readonly review: readonly ReviewReason[];
  /** First match wins; the last one always matches. */
  readonly approve: readonly ApprovalRule[];
  /** Missing if approvals may come at any time. */
  readonly hurry?: HurryRule;
  /** Days on the business clock that an approval stays valid, retries included. */
  readonly approvalValidDays: number;
  readonly late: (typeof WHEN_LATE)[number];
  /** If missing, approvers are asked once. */
  readonly remind?: ApprovalReminders;
  /** If missing, nothing is cancelled because a vendor's record was changed. */
  readonly changedRecord?: ChangedRecordRule;
  /** Name of the playbook that owns failed payments. */
  readonly onFailure: string;
  readonly notify: PlaybookNotify;
  /** If missing, vendors get no remittance advice. */
  readonly remittance?: PlaybookRemittance;
  /** If missing, the age of the accounting integration's last sync is not checked. */
  readonly accounting?: PlaybookAccounting;
  /** Events whose bills are paid off-cycle; missing for none. */
  readonly events?: readonly StartingEvent[];
}

/** What happens if a decision comes too late for the planned dates. */
export const WHEN_LATE = ["ask", "next-business-day"] as const;

/**
 * What an approval of a plan has to do with a key of its playbook.
 *
 * - `covered`: part of what was approved. With another value it is another plan.
 * - `before-the-plan`: decides what is planned. The plan's lines and name show it, and are approved.
 * - `allows-nothing-more`: nothing is paid for it that was not approved.
 */
type Covering = "covered" | "before-the-plan" | "allows-nothing-more";

/** Every key has its entry; the hash of a plan's policy has the covered ones. */
export const APPROVAL_COVERS = {
  kind: "before-the-plan",
  name: "before-the-plan",
  business: "before-the-plan",
  schedule: "before-the-plan",
  select: "before-the-plan",
  where: "before-the-plan",
  pay: {
    on: "before-the-plan",
    from: "before-the-plan",
    whenShort: "allows-nothing-more",
    clearing: "before-the-plan",
    arrivalBusinessDays: "before-the-plan",
    topUp: "covered",
  },
  limits: "covered",
  review: "covered",
  approve: "covered",
  hurry: "covered",
  approvalValidDays: "covered",
  late: "covered",
  remind: "allows-nothing-more",
  changedRecord: "allows-nothing-more",
  // A retry sends the approved line again, and only while its approval is valid.
  onFailure: "allows-nothing-more",
  notify: "allows-nothing-more",
  remittance: "allows-nothing-more",
  accounting: "before-the-plan",
  events: "before-the-plan",
} as const satisfies Readonly<Record<Exclude<keyof PayRunPlaybook, "pay">, Covering>> & {
  readonly pay: Readonly<Record<keyof PayRule, Covering>>;
};

/** A `kyb-onboarding` playbook after loading: takes a business through verification. */
export interface KybOnboardingPlaybook {
  readonly kind: "kyb-onboarding";
  readonly name: string;
  /** Profile name of the business, or null for the only one. */
  readonly business: string | null;
  /** Never scheduled: a person launches it once for a business. */
  readonly schedule: null;
  /** Roles that may provide data, besides operator and admin. */
  readonly by: readonly string[];
  readonly remindEveryDays: number;
  /** Roles to remind. */
  readonly remind: readonly string[];
  /** Days on the business clock that it waits for one input. */
  readonly expireAfterDays: number;
  readonly bankAccount: (typeof BANK_ACCOUNT_CHECKS)[number];
  /** Name of the pay-run playbook to propose afterwards, or null. */
  readonly propose: string | null;
}

/** How a bank account is verified once the business is. */
export const BANK_ACCOUNT_CHECKS = ["none", "micro-deposits"] as const;

/** A `retry-failed` playbook after loading: what happens after payments fail or come back. */
export interface RetryFailedPlaybook {
  readonly kind: "retry-failed";
  readonly name: string;
  /** Profile name of the business, or null for the only one. */
  readonly business: string | null;
  /** Never scheduled: failures start it. */
  readonly schedule: null;
  /** The first match wins. If none matches, a person is asked. */
  readonly rules: readonly FailureRule[];
  /** Days after the failure, on the business clock. */
  readonly giveUpAfterDays: number;
  /** Roles to notify when it gives up. */
  readonly giveUpNotify: readonly string[];
  /** Events of payments made elsewhere that start it; if missing, only Payrun's own payments do. */
  readonly events?: readonly StartingEvent[];
}

export const WEEKDAYS = ["monday", "tuesday", "wednesday", "thursday", "friday"] as const;
export type Weekday = (typeof WEEKDAYS)[number];

export const RETRY_WHEN = [
  "when-released",
  "when-funds-arrive",
  "next-business-day",
  ...WEEKDAYS,
] as const;
export type RetryWhen = (typeof RETRY_WHEN)[number];

/** What one rule of a `retry-failed` playbook says. */
export interface FailureRule {
  /** ACH return codes. */
  readonly codes: readonly string[];
  /** Words of the service's reason. A rule without codes and words matches everything. */
  readonly words: readonly string[];
  readonly action: "retry" | "hold-vendor" | "ask";
  /** True: holds the funding account for all runs until a person decides. */
  readonly pause: boolean;
  /**
   * True: once the vendor's bank account has changed and a person has checked it, the next run
   * requests approval again.
   */
  readonly payAgain: boolean;
  /** Null if it is not retried automatically. */
  readonly when: RetryWhen | null;
  /**
   * Set if the incident of its account cancels what the service has scheduled from the account. If
   * missing, people are given the command.
   */
  readonly onIncident?: "cancel-scheduled";
  /** Reinitiations; 2 at most, by Nacha's rules. */
  readonly atMost: 0 | 1 | 2;
  /** Roles that decide. */
  readonly by: readonly string[];
}

/** A `hold` playbook after loading: holds bills back until a person releases them. */
export interface HoldPlaybook {
  readonly kind: "hold";
  readonly name: string;
  /** Profile name of the business, or null for the only one. */
  readonly business: string | null;
  /** Never scheduled: it acts when a run is planned. */
  readonly schedule: null;
  readonly choose: BillChoice;
  /** Roles that may release a bill. */
  readonly releasedBy: readonly string[];
  /** The latest time, in New York, at which a bill can be released and still be paid on time. */
  readonly until: { readonly time: string; readonly businessDaysBefore: number };
  /**
   * Events that start it, each for its own vendor or bill only. If missing, a run's plan or a
   * launch starts it.
   */
  readonly events?: readonly StartingEvent[];
}

/** A `cancel-scheduled` playbook after loading: cancels payments that the service has scheduled. */
export interface CancelScheduledPlaybook {
  readonly kind: "cancel-scheduled";
  readonly name: string;
  /** Profile name of the business, or null for the only one. */
  readonly business: string | null;
  /** Never scheduled: a person or an event starts it. */
  readonly schedule: null;
  readonly choose: CancelChoice;
  /** Business days after which a refund takes too long. */
  readonly refundBusinessDays: number;
  /**
   * The hold of the stop that requested the cancellation: once it is released, nothing more is
   * cancelled.
   */
  readonly holdId?: string;
  /**
   * True if it calls back what is scheduled from an account that an incident holds: the bills stay
   * with their runs, and wait for the incident.
   */
  readonly forIncident?: true;
  /** Events that start it, each for its own vendor or bill only. If missing, a launch starts it. */
  readonly events?: readonly StartingEvent[];
}

/** A bill must match every field that is not null. */
export interface BillChoice {
  /** Name of a pay-run playbook. */
  readonly run: string | null;
  /** `review` for flagged bills, or a CEL condition. */
  readonly where: string | null;
  /** A contact's id. */
  readonly vendor: string | null;
  /** A payable's id, from the event that started it. */
  readonly payable?: string | null;
  /** Ids of a run and of a funding account, from a stop. */
  readonly runId?: string | null;
  readonly source?: string | null;
}

/** Chooses payments by their bills, or by id. */
export interface CancelChoice extends BillChoice {
  readonly payments: readonly string[] | null;
}

/** Days on which a playbook runs, before a bank holiday moves one. */
export type ScheduleDays =
  /** Every day, weekends and holidays too. */
  | { readonly every: "day" }
  /** Every banking day. */
  | { readonly every: "weekday" }
  | { readonly every: "week"; readonly on: Weekday }
  /** Every second week, counted from a date on which it runs. */
  | { readonly every: "two-weeks"; readonly from: string }
  /** `on`: 1 to 28, or the month's end. */
  | { readonly every: "month"; readonly on: number | "last-day" | "last-business-day" };

/** What happens to a run whose nominal date is not a banking day. */
export const ON_HOLIDAYS = ["business-day-before", "business-day-after", "skip"] as const;

export interface PlaybookSchedule {
  readonly days: ScheduleDays;
  /** `HH:MM`, 24 hours. */
  readonly at: string;
  /** IANA zone name. */
  readonly zone: string;
  readonly holidays: (typeof ON_HOLIDAYS)[number];
  /** How many days late a missed run may still begin; 0 means never. */
  readonly catchUpDays: number;
  /** Runs are planned and reported, and nothing is sent; missing if runs pay. */
  readonly mode?: "plan-only";
}

export type SelectRule =
  | { readonly due: "before-next-run" }
  | { readonly due: "all" }
  | { readonly due: "within"; readonly days: number };

/** `arrives-by-due-date`: each bill executes early enough to arrive by its due date. */
export const PAY_ON = ["arrives-by-due-date", "next-business-day"] as const;

/** What happens if the money doesn't cover every bill. */
export const WHEN_SHORT = ["most-urgent-first", "wait", "stop"] as const;

export interface PayRule {
  readonly on: (typeof PAY_ON)[number];
  /** Funding source id, or `default` for the source that the service marks as default. */
  readonly from: string;
  readonly whenShort: (typeof WHEN_SHORT)[number];
  readonly clearing: "STANDARD" | "NEXT_AVAILABLE";
  /** Business days from execution to arrival. */
  readonly arrivalBusinessDays: number;
  /** If missing, Payrun never deposits. */
  readonly topUp?: TopUpRule;
}

/** The deposits into the balance that a run may request, and who approves them. */
export interface TopUpRule {
  /** A bank account's id, or `default`. */
  readonly from: string;
  /** Roles that may approve a deposit. */
  readonly by: readonly string[];
  readonly quorum: number;
  /** Limit for one deposit. */
  readonly atMostCents: number;
  /** Business days that a deposit takes; null for the balance's own figure. */
  readonly arrivalBusinessDays: number | null;
}

/** Each null is "no limit". Weeks run Monday to Sunday in New York, by execution date. */
export interface PayLimits {
  readonly billCents: number | null;
  readonly vendorPerWeekCents: number | null;
  readonly businessPerWeekCents: number | null;
}

/** What is reviewed unless a playbook says otherwise. */
export const REVIEWED_BY_DEFAULT = [
  "new-vendor",
  "changed-bank-account",
  "likely-duplicate",
  "unusual-amount",
] as const;

export const REVIEW_REASONS = [
  ...REVIEWED_BY_DEFAULT,
  // A nightly sync that touches every vendor must not put every bill in review.
  "changed-record",
  "first-payment-after-silence",
  "split-below-limit",
] as const;
export type ReviewReason = (typeof REVIEW_REASONS)[number];

/** Always flagged; a playbook that names it has it reviewed. */
export const ALWAYS_FLAGGED: ReviewReason = "changed-record";

/**
 * What `over` looks at: each bill, all that a vendor is paid by the run, or in a week by all runs.
 */
export const OVER_PER = ["bill", "vendor", "vendor-week"] as const;
export type OverPer = (typeof OVER_PER)[number];

/** The ones that add up what a vendor is paid. */
export type SumPer = Exclude<OverPer, "bill">;

export interface ApprovalRule {
  /** Matches flagged lines only. */
  readonly review: boolean;
  /** Matches amounts above this. */
  readonly overCents: number | null;
  /** What its vendor is paid besides is added to the bill; missing if the bill alone counts. */
  readonly overPer?: SumPer;
  /** CEL source, or null. */
  readonly where: string | null;
  /**
   * Roles that may approve; an approver has at least one of them. With several stages, the roles of
   * all stages.
   */
  readonly by: readonly string[];
  /** Different people who must approve. With several stages, the number over all stages. */
  readonly quorum: number;
  /** Stages in order; present if the rule has several, or one that escalates. */
  readonly stages?: readonly ApprovalStage[];
}

/** What happens if a person approves seconds after the plan, or at odd hours. */
export interface HurryRule {
  /** Real time after the plan; null if it doesn't matter. */
  readonly underMs: number | null;
  /** Times of day `HH:MM` outside of which it is an odd hour; null if none is. */
  readonly outside: HoursOfDay | null;
  /** True if the lines need one more person; people are notified in any case. */
  readonly needsAnother: boolean;
}

/** From the first until before the second; over midnight if the second is earlier. */
export interface HoursOfDay {
  readonly from: string;
  readonly to: string;
}

/** One step of an approval. The next stage's decisions count once this one has its quorum. */
export interface ApprovalStage {
  readonly by: readonly string[];
  readonly quorum: number;
  readonly escalate?: Escalation;
}

/** Who else may decide once a stage has waited this long. */
export interface Escalation {
  readonly after: Span;
  readonly to: readonly string[];
}

/** What happens to scheduled payments of a vendor whose record was changed after the approval. */
export interface ChangedRecordRule {
  /** Larger payments are cancelled, if the service still allows it. */
  readonly cancelOverCents: number;
}

export interface ApprovalReminders {
  /** Time after a stage's approvers were asked. */
  readonly after: Span;
  /** Time after the last reminder. */
  readonly every: Span;
}

/** A length of time on the business clock, in the units that people use. */
export interface Span {
  readonly count: number;
  readonly unit: "hours" | "days" | "business days";
}

/** Remittance advice, which tells vendors which bill a settled payment covers. */
export interface PlaybookRemittance {
  /** The payer's name as vendors know it; null for the profile's. */
  readonly as: string | null;
  /** Reply-to address. */
  readonly replyTo: string | null;
}

export interface PlaybookAccounting {
  /** A plan warns if the last sync is older than this many days. */
  readonly syncedWithinDays: number;
}

/** Whom to notify of decisions and actions. */
export const NOTIFY_PEOPLE = ["by-role", "none"] as const;

/** How often to send a summary. */
export const DIGESTS = ["daily", "weekly", "none"] as const;

export interface PlaybookNotify {
  readonly people: (typeof NOTIFY_PEOPLE)[number];
  readonly digest: (typeof DIGESTS)[number];
}
