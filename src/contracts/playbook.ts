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
  /** Days on the business clock that an approval stays valid, retries included. */
  readonly approvalValidDays: number;
  readonly late: "ask" | "next-business-day";
  /** Missing: approvers are asked once. */
  readonly remind?: ApprovalReminders;
  /** Name of the playbook that owns failed payments. */
  readonly onFailure: string;
  /** Null: people by role, no digest. */
  readonly notify: PlaybookNotify | null;
  /** Missing: vendors are not written to. */
  readonly remittance?: PlaybookRemittance;
  /** Missing: how old the accounting integration's last sync is does not matter. */
  readonly accounting?: PlaybookAccounting;
  /** Events that have the bill they speak of paid off-cycle; missing: none. */
  readonly events?: readonly StartingEvent[];
}

/** A `kyb-onboarding` playbook after loading: takes a business through verification. */
export interface KybOnboardingPlaybook {
  readonly kind: "kyb-onboarding";
  readonly name: string;
  /** Profile name of the business, or null for the only one. */
  readonly business: string | null;
  /** A business is taken through it once, by a person's act. */
  readonly schedule: null;
  /** Roles that may provide data, besides operator and admin. */
  readonly by: readonly string[];
  readonly remindEveryDays: number;
  /** Roles to remind. */
  readonly remind: readonly string[];
  /** Days on the business clock that one thing is waited for. */
  readonly expireAfterDays: number;
  readonly bankAccount: "none" | "micro-deposits";
  /** Name of the pay-run playbook to propose afterwards, or null. */
  readonly propose: string | null;
}

/** A `retry-failed` playbook after loading: what becomes of payments that fail or come back. */
export interface RetryFailedPlaybook {
  readonly kind: "retry-failed";
  readonly name: string;
  /** Profile name of the business, or null for the only one. */
  readonly business: string | null;
  /** It is never launched: failures start it. */
  readonly schedule: null;
  /** First match wins; what none matches is asked about. */
  readonly rules: readonly FailureRule[];
  /** Days on the business clock after the failure. */
  readonly giveUpAfterDays: number;
  /** Roles to tell of it. */
  readonly giveUpTell: readonly string[];
  /** Events of payments made elsewhere that start it; missing: Payrun's own payments only. */
  readonly events?: readonly StartingEvent[];
}

export type RetryWhen = "when-released" | "when-funds-arrive" | "next-business-day" | Weekday;

/** What one rule of a `retry-failed` playbook says. */
export interface FailureRule {
  /** ACH return codes. */
  readonly codes: readonly string[];
  /** Words of the service's reason; no codes and no words match anything. */
  readonly words: readonly string[];
  readonly action: "retry" | "hold-vendor" | "ask";
  /** Holds the funding account for all runs until one decision. */
  readonly pause: boolean;
  /** Once the vendor has another bank account and a person has looked, the next run asks anew. */
  readonly payAgain: boolean;
  /** Null where it is not tried again by itself. */
  readonly when: RetryWhen | null;
  /** Reinitiations; 2 at most, by Nacha's rules. */
  readonly atMost: 0 | 1 | 2;
  /** Roles that decide. */
  readonly by: readonly string[];
}

/** A `hold` playbook after loading: withholds bills until somebody releases them. */
export interface HoldPlaybook {
  readonly kind: "hold";
  readonly name: string;
  /** Profile name of the business, or null for the only one. */
  readonly business: string | null;
  /** Withholds from each run as it is planned. */
  readonly schedule: null;
  readonly choose: BillChoice;
  /** Roles that may release a withheld bill. */
  readonly releasedBy: readonly string[];
  /** Until when a bill may be released in time, in New York. */
  readonly until: { readonly time: string; readonly businessDaysBefore: number };
  /**
   * Events that put it into force, each for its own vendor or bill only; missing: the plan of a run
   * does, or a launch.
   */
  readonly events?: readonly StartingEvent[];
}

/** A `cancel-scheduled` playbook after loading: cancels payments that the service has scheduled. */
export interface CancelScheduledPlaybook {
  readonly kind: "cancel-scheduled";
  readonly name: string;
  /** Profile name of the business, or null for the only one. */
  readonly business: string | null;
  /** Cancels by a person's act, or upon an event. */
  readonly schedule: null;
  readonly choose: CancelChoice;
  /** Business days after which a refund takes too long. */
  readonly refundBusinessDays: number;
  /** Events that put it into force, each for its own vendor or bill only; missing: a launch does. */
  readonly events?: readonly StartingEvent[];
}

/** Everything named must match; null is "any". */
export interface BillChoice {
  /** Name of a pay-run playbook. */
  readonly run: string | null;
  /** `review` for what was flagged, else a CEL condition. */
  readonly where: string | null;
  /** A contact's id. */
  readonly vendor: string | null;
  /** A bill that an event spoke of. */
  readonly payable?: string | null;
}

/** As for bills, or payments by id. */
export interface CancelChoice extends BillChoice {
  readonly payments: readonly string[] | null;
}

/** Days on which a playbook runs by itself; nominal, before a bank holiday moves one. */
export type ScheduleDays =
  /** Every day, weekends and holidays too. */
  | { readonly every: "day" }
  /** Every banking day. */
  | { readonly every: "weekday" }
  | { readonly every: "week"; readonly on: Weekday }
  /** Every second week, counted from a date that is a run itself. */
  | { readonly every: "two-weeks"; readonly from: string }
  /** `on`: 1 to 28, or the month's end. */
  | { readonly every: "month"; readonly on: number | "last-day" | "last-business-day" };

export const WEEKDAYS = ["monday", "tuesday", "wednesday", "thursday", "friday"] as const;
export type Weekday = (typeof WEEKDAYS)[number];

export interface PlaybookSchedule {
  readonly days: ScheduleDays;
  /** `HH:MM`, 24 hours. */
  readonly at: string;
  /** IANA zone name. */
  readonly zone: string;
  /** Where a run goes whose nominal date is no banking day. */
  readonly holidays: "business-day-before" | "business-day-after" | "skip";
  /** How long after its time a run that was missed may still begin; 0 is never. */
  readonly catchUpDays: number;
}

export type SelectRule =
  | { readonly due: "before-next-run" }
  | { readonly due: "all" }
  | { readonly due: "within"; readonly days: number };

export interface PayRule {
  /** `by-due-date`: each bill executes so that it arrives by its due date. */
  readonly on: "arrives-by-due-date" | "next-business-day";
  /** Funding source id, or `default` for the one the service marks as default. */
  readonly from: string;
  readonly whenShort: "most-urgent-first" | "wait" | "stop";
  readonly clearing: "STANDARD" | "NEXT_AVAILABLE";
  /** Business days from execution to arrival. */
  readonly arrivalBusinessDays: number;
  /** Missing: nothing is ever deposited. */
  readonly topUp?: TopUpRule;
}

/** Which deposits into the balance may be asked for, and who approves one. */
export interface TopUpRule {
  /** A bank account's id, or `default`. */
  readonly from: string;
  /** Roles that may approve a deposit. */
  readonly by: readonly string[];
  readonly quorum: number;
  /** For one deposit. */
  readonly atMostCents: number;
  /** Business days that a deposit is on its way; null: as the balance says. */
  readonly arrivalBusinessDays: number | null;
}

/** Each null is "no limit". Weeks run Monday to Sunday in New York, by execution date. */
export interface PayLimits {
  readonly billCents: number | null;
  readonly vendorPerWeekCents: number | null;
  readonly businessPerWeekCents: number | null;
}

export const REVIEW_REASONS = [
  "new-vendor",
  "changed-bank-account",
  "likely-duplicate",
  "unusual-amount",
] as const;
export type ReviewReason = (typeof REVIEW_REASONS)[number];

export interface ApprovalRule {
  /** Matches flagged lines only. */
  readonly review: boolean;
  /** Matches amounts above this. */
  readonly overCents: number | null;
  /** CEL source, or null. */
  readonly where: string | null;
  /** Roles that may approve; an approver holds one of them. Of several stages, all of them. */
  readonly by: readonly string[];
  /** Different people who must approve. Of several stages, of all of them together. */
  readonly quorum: number;
  /** One after the other; there where the rule has several, or one that escalates. */
  readonly stages?: readonly ApprovalStage[];
}

/** One step of an approval: the next one's decisions count once this one has its quorum. */
export interface ApprovalStage {
  readonly by: readonly string[];
  readonly quorum: number;
  readonly escalate?: Escalation;
}

/** Who may decide as well where a stage has waited for so long. */
export interface Escalation {
  readonly after: Span;
  readonly to: readonly string[];
}

export interface ApprovalReminders {
  /** Since the approvers of a stage were asked. */
  readonly after: Span;
  /** Since the last reminder. */
  readonly every: Span;
}

/** A time on the business clock, as people say it. */
export interface Span {
  readonly count: number;
  readonly unit: "hours" | "days" | "business days";
}

/** Tells vendors which bill a settled payment covers. */
export interface PlaybookRemittance {
  /** Who pays, by the name that vendors know; null for the profile's. */
  readonly as: string | null;
  /** Address that vendors' answers go to. */
  readonly replyTo: string | null;
}

export interface PlaybookAccounting {
  /** A plan made longer after the last sync warns of it. */
  readonly syncedWithinDays: number;
}

export interface PlaybookNotify {
  readonly people: "by-role" | "none";
  readonly digest: "daily" | "weekly" | "none";
}
