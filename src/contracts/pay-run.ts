import type { Seen } from "./activities.ts";
import { type ApprovalStage, REVIEW_REASONS, type SumPer } from "./playbook.ts";
import type { LeftOutCode, OverLimitCode, SentDecisionCode } from "./reason-codes.ts";
import type { PlannedTopUp } from "./deposit.ts";

export const RUN_PHASES = [
  "planning",
  "awaiting-approval",
  "funding",
  "paying",
  "settling",
  "completed",
  "completed-with-exceptions",
  "rejected",
  "expired",
  "cancelled",
  "failed",
] as const;
export type RunPhase = (typeof RUN_PHASES)[number];

/** Phases after which the run itself does nothing more. */
export const ENDED_PHASES: readonly RunPhase[] = [
  "completed",
  "completed-with-exceptions",
  "rejected",
  "expired",
  "cancelled",
  "failed",
];

/** Every flag that a line may have. */
export const FLAG_KINDS = [
  ...REVIEW_REASONS,
  "rejected-before",
  "changed-since-plan",
  "late",
  "split",
  "partial",
  "not-recallable",
  "failed-before",
  "unreadable",
] as const;

/** Something unusual about a line, shown to its approver. */
export interface LineFlag {
  readonly kind: (typeof FLAG_KINDS)[number];
  /** The facts, for a person. */
  readonly text: string;
  /** Payables that the line may be a duplicate of; missing in other flags. */
  readonly twins?: readonly string[];
}

/** The fields of `POST /v1/payments` that come from a funding source, and no others. */
export const PAY_FIELDS = ["paymentRail", "fundingSource", "bankAccountId"] as const;
export type PayFields = { readonly [Field in (typeof PAY_FIELDS)[number]]?: string };

/** What a request sends to name a funding source (API specification, section 2). */
export interface FundingChoice {
  readonly sourceId: string;
  readonly rail: string;
  readonly kind: string;
  readonly name: string | null;
  readonly last4: string | null;
  /** The source's own fields, with the default account if they name none. */
  readonly pay: PayFields;
  readonly needsAchAuthorization: boolean;
}

/** A vendor's record as the service showed it. */
export interface VendorRecord {
  readonly updatedAt: string | null;
  /**
   * A checksum of each shown field, in the order of `SHOWN_FIELDS`: enough to say which one differs,
   * without keeping a copy of people's data.
   */
  readonly shown: readonly number[];
}

/** One bill of a plan that would be paid. Rows are insert-only; a changed line is a new version. */
export interface PlanLine {
  readonly payableId: string;
  /** 1 for the first plan; each replan of the line adds 1. */
  readonly version: number;
  readonly lineHash: string;
  readonly publicId: string | null;
  readonly contactId: string;
  readonly contactName: string | null;
  readonly description: string | null;
  readonly amountCents: number;
  readonly totalCents: number;
  readonly bankLast4: string | null;
  /** As it was planned; a change of it since is asked about by itself. */
  readonly record: VendorRecord;
  /**
   * Set once the vendor or its account was changed while the run was open: the record's `updatedAt`
   * as of which the line was planned anew. If the old digits come back, their old approvals don't.
   */
  readonly newAccount?: string;
  readonly dueDate: string | null;
  /** Date in New York, `YYYY-MM-DD`, sent as `scheduledAt`. */
  readonly executionDate: string;
  readonly arrivalDate: string;
  readonly dateRule: string;
  readonly clearing: "STANDARD" | "NEXT_AVAILABLE";
  readonly funding: FundingChoice;
  readonly flags: readonly LineFlag[];
  readonly ruleIndex: number;
  /** Earlier rules that it falls under once its vendor's sum is above theirs; missing for none. */
  readonly sumRules?: readonly number[];
  /** What its vendor is paid besides, as planned; missing if no rule adds that up. */
  readonly besidesCents?: Readonly<Record<SumPer, number>>;
  /** Roles and people that the rule names, for all its stages. */
  readonly approvers: readonly string[];
  readonly quorum: number;
  /** The rule's stages; missing if it has one quorum and no escalation. */
  readonly stages?: readonly ApprovalStage[];
  /** ISO instant after which approving changes the dates, or null. */
  readonly decideBy: string | null;
  /** Set if a limit forbids the payment: the line is parked at once. */
  readonly overLimit: { readonly code: OverLimitCode; readonly text: string } | null;
}

/** A payable that the plan leaves out, and why. */
export interface SkippedLine {
  readonly payableId: string;
  readonly publicId: string | null;
  readonly contactId: string | null;
  readonly contactName: string | null;
  readonly amountCents: number;
  readonly dueDate: string | null;
  readonly code: LeftOutCode;
  readonly text: string;
}

export interface CashDay {
  readonly date: string;
  readonly neededCents: number;
  /** The source's available amount after this day; null if the source doesn't show one. */
  readonly leftCents: number | null;
}

export interface PlanSummary {
  readonly planHash: string;
  readonly lineCount: number;
  readonly totalCents: number;
  readonly flaggedCount: number;
  readonly skippedCount: number;
  readonly skippedByCode: Readonly<Record<string, number>>;
  readonly decideBy: string | null;
  readonly cash: readonly CashDay[];
  readonly availableCents: number | null;
  readonly reservedCents: number;
  readonly source: FundingChoice | null;
  /** Warnings for approvers that concern no single bill; missing if there are none. */
  readonly warnings?: readonly string[];
  /** The deposit that would cover the shortfall; missing if none is needed or allowed. */
  readonly topUp?: PlannedTopUp;
}

/** Summary of a plan that belongs to no run. */
export interface DryPlanHead extends PlanSummary {
  readonly business: string;
  readonly playbook: string;
  readonly period: string;
}

/** A plan made without a run (`payrun plan`, `POST /v1/plans`). It is kept for a day. */
export interface DryPlan extends DryPlanHead {
  readonly lines: readonly PlanLine[];
  readonly skipped: readonly SkippedLine[];
}

/** One page of a dry plan's bills: first those that would be paid, then those left out. */
export interface DryPlanPage extends DryPlan {
  /** Names the plan in requests for other pages; valid for a day. */
  readonly planId: string;
  /** Bills on all pages. */
  readonly totalCount: number;
  /** From 1. */
  readonly page: number;
  readonly pageSize: number;
  /** Null on the last page. */
  readonly nextPage: number | null;
}

/** Input of the `payRun` workflow; everything else is in the store. */
export interface PayRunInput extends Seen {
  readonly runId: string;
  /**
   * How many decisions sent straight to Temporal it has read, carried over continue-as-new; missing
   * if none came.
   */
  readonly decisionsRead?: number;
}

/**
 * How many decisions sent to Temporal a run reads, so that a sender can't grow its history and the
 * trail without limit. After that they count only if they come through the gateway.
 */
export const DECISIONS_READ_MOST = 200;

/** The code of the answer to a further one. */
export const TOO_MANY_DECISIONS = "too_many_decisions" satisfies SentDecisionCode;
