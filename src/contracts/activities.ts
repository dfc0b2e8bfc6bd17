import type { KybOnboardingInput, OnboardingAssessment } from "./onboarding.ts";
import type { CancellationAssessment, CancelScheduledInput } from "./cancellation.ts";
import type { Look } from "./look.ts";
import type { RunPhase } from "./pay-run.ts";
import type { PayRunPlaybook } from "./playbook.ts";

/** What a run's workflow must know about its row before the first look. */
export interface BegunRun {
  /** True if the work is already done: the workflow then ends at once. */
  readonly ended: boolean;
  readonly phase: RunPhase;
  readonly planned: boolean;
  readonly auditHead?: AuditHead;
}

/**
 * The end of a business's audit trail when a workflow last looked. The trail only grows, so a store
 * that lacks this entry was restored from an older copy, or is empty.
 */
export interface AuditHead {
  readonly hash: string;
  /** When it was read, on the database clock. */
  readonly atMs: number;
  /** Made with the store's secret: without it anyone who writes to Temporal could claim a loss. */
  readonly proof: string;
}

/** What a workflow passes to its activities, so that they notice a restored store. */
export interface Seen {
  readonly seen?: AuditHead;
}

/** Everything that a pay run acts on, read from the store alone, in one transaction. */
export interface Assessment extends Look {
  readonly phase: RunPhase;
  readonly ended: boolean;
  /** Approved lines without reserved money. */
  readonly toFund: number;
  /** Lines that may be leased now. */
  readonly toPay: number;
  /** Lines whose payments should be read now. */
  readonly toFollow: number;
  /** Real milliseconds between two reads of the run's payments; set if they are many. */
  readonly followEveryMs?: number;
  readonly needsAction: boolean;
  readonly exceptions: number;
  readonly totalCents: number;
  readonly payDate: string | null;
  /** True if a deposit is due for its next step; otherwise missing. */
  readonly toDeposit?: boolean;
  /** True if the run has no plan yet. */
  readonly toPlan?: boolean;
  readonly auditHead?: AuditHead;
}

export interface FundResult {
  readonly funded: number;
  readonly short: number;
}

export interface LaneSummary {
  readonly leased: number;
  readonly applied: number;
  readonly unknown: number;
}

/** Where a retryFailedPayment workflow stands, and what it does next. */
export interface RetryAssessment extends Look {
  readonly phase: "waiting" | "pay" | "following" | "parked" | "ended";
  readonly outcome: string | null;
  readonly auditHead?: AuditHead;
}

export interface RetryFailedPaymentInput extends Seen {
  readonly business: string;
  readonly payableId: string;
}

/** Where a fundingIncident workflow stands, and what it does next. */
export interface IncidentAssessment extends Look {
  readonly phase: "open" | "topping-up" | "ended";
  readonly outcome: string | null;
  /** True if a deposit is due for its next step. */
  readonly toDeposit?: boolean;
}

export interface FundingIncidentInput {
  readonly business: string;
  readonly sourceId: string;
}

export interface PlanDryInput {
  readonly dryPlanId: string;
}

/** What a person wants a dry plan of; kept in the store, not in Temporal. */
export interface DryPlanAsked {
  readonly business: string;
  readonly playbook: string;
  readonly period: string;
  /**
   * A playbook that is not stored, with the revision that it would become. If missing, the stored
   * playbook is planned.
   */
  readonly unstored?: { readonly policy: PayRunPlaybook; readonly revision: number };
}

export interface ScheduledPayRunInput {
  readonly business: string;
  readonly playbook: string;
}

/** The answer to a decision that was sent straight to Temporal. */
export type SentDecisionAnswer =
  | {
      readonly accepted: true;
      readonly code: null;
      readonly decision: "approve" | "reject";
      readonly countsForCount: number;
      /** The bills that it leaves out. */
      readonly dropped: readonly string[];
      /** ISO instant at which the same decision was taken first; missing if this is the first. */
      readonly alreadySince?: string;
      /** For people. */
      readonly message: string;
    }
  | {
      readonly accepted: false;
      /** The `error` of the gateway's answer, or one of `SentDecisionCode`. */
      readonly code: string;
      /** How another decision with the same id was judged; missing if there was none. */
      readonly earlier?: {
        readonly outcome: string;
        readonly reason: string | null;
        /** ISO instant. */
        readonly decidedAt: string;
      };
      /** For people. */
      readonly message: string;
    };

/** What a launcher did, for the Temporal UI. */
export interface ScheduledLaunch {
  readonly text: string;
}

/**
 * The activities, as workflows call them.
 *
 * An input names things of the workflow that asks; what is true of them is in the store. A result
 * says when to look again and what to ask for, and nothing is true because of it: anyone who may
 * write to Temporal can forge both.
 */
export interface PayrunActivities {
  openRun(input: { readonly runId: string }): Promise<BegunRun>;
  /** @returns `refused`: why the run has ended, as it can't be planned; for Temporal's list */
  planRun(input: { readonly runId: string }): Promise<{ readonly refused?: string }>;
  planDry(input: PlanDryInput): Promise<void>;
  reviewRun(input: { readonly runId: string } & Seen): Promise<Assessment>;
  reserveMoney(input: { readonly runId: string }): Promise<FundResult>;
  payBills(input: { readonly runId: string; readonly lane: number } & Seen): Promise<LaneSummary>;
  /** Takes the deposits that a run or an incident has requested one step further. */
  makeDeposits(input: { readonly owner: string } & Seen): Promise<void>;
  followPayments(input: { readonly runId: string }): Promise<{ readonly changed: number }>;
  verifyDecision(input: {
    readonly runId: string;
    /** A decision in JWS compact form, or anything else that was sent. */
    readonly claim: unknown;
  }): Promise<SentDecisionAnswer>;
  reviewFailedPayment(input: RetryFailedPaymentInput): Promise<RetryAssessment>;
  /** Pays the bill if nothing prevents it. @returns where the retry stands then */
  payAgain(input: RetryFailedPaymentInput): Promise<RetryAssessment>;
  /** Updates a cancellation from the store alone, and says what to do next. */
  reviewCancellation(input: CancelScheduledInput): Promise<CancellationAssessment>;
  /** Chooses payments or bills, and puts the bills on hold before anything is cancelled. */
  choosePayments(input: CancelScheduledInput): Promise<void>;
  /** Sends the cancels that are due, and looks up those without a response. */
  cancelPayments(input: CancelScheduledInput): Promise<{ readonly ended: number }>;
  /** Reads the payments whose money is on its way back. */
  followRefunds(input: CancelScheduledInput): Promise<{ readonly ended: number }>;
  reviewIncident(input: FundingIncidentInput): Promise<IncidentAssessment>;
  /** Launches what a playbook's stored schedule should have begun by now. */
  launchRun(input: ScheduledPayRunInput): Promise<ScheduledLaunch>;
  reviewOnboarding(input: KybOnboardingInput): Promise<OnboardingAssessment>;
  /** @returns `againInMs`: real milliseconds to wait before going on */
  sendOnboardingStep(
    input: KybOnboardingInput & { readonly inputId: string },
  ): Promise<{ readonly againInMs: number }>;
}
