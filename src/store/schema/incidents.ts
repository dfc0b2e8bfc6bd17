import type { AuthorKind } from "../../contracts/authors.ts";
import type { IncidentDecision, IncidentPhase } from "../../contracts/incident.ts";
import type { LineReason } from "../../contracts/reason-codes.ts";
import type { FailureRule } from "../../contracts/playbook.ts";
import {
  flag,
  integer,
  integerOrNull,
  json,
  readAs,
  readAsOrNull,
  table,
  text,
  textOrNull,
  word,
  wordOrNull,
} from "./table.ts";

/** What an owner of a failed payable waits for, besides a date or a person. */
export type CaseWait = "incident" | "funds" | "bank-account" | "either-side";

/** Failed payments, what playbooks say about them, and funding accounts whose payments bounced. */
export const incidentTables = {
  /** What a retryFailedPayment workflow knows about its payable. */
  retries: table(["business_id", "payable_id"], {
    business_id: text,
    payable_id: text,
    /** The profile's name. */
    business: text,
    workflow_id: text,
    /** Run whose line it took over, or null. */
    run_id: textOrNull,
    phase: text,
    reason_code: readAsOrNull<LineReason>(),
    reason: textOrNull,
    retries_made: integer,
    /** JSON array of payment ids whose failure has been dealt with. */
    handled_payment_ids: json<readonly string[]>(),
    /** A person's resolution that waits to be acted on. */
    requested: wordOrNull<"retry">(),
    requested_by: textOrNull,
    /** How often a person has asked; acting on one request leaves a later one. */
    request_no: integer,
    /** `YYYY-MM-DD`, the announced day of the next payment; null if no day is set. */
    retry_on: textOrNull,
    /**
     * Why the approval of its line covers no further payment; null if it does, or if that isn't
     * known.
     */
    approval_ended: textOrNull,
    /** Whether the service shows the last payment's money as taken; a new payment clears it. */
    money_taken: flag,
    look: flag,
    started_at_ms: integer,
    updated_at_ms: integer,
  }),
  /**
   * A playbook's rule for a failure that a retry owns: stored, so that the retry keeps its
   * revision.
   */
  retry_cases: table(["business_id", "payable_id"], {
    business_id: text,
    payable_id: text,
    /** Business-clock instant at which the first failure of the case was dealt with. */
    failed_at_ms: integer,
    /** The same in real time. */
    failed_real_ms: integer,
    source_id: text,
    rule: json<FailureRule>(),
    give_up_after_days: integer,
    /** JSON array of roles. */
    give_up_notify: json<readonly string[]>(),
    waits_for: wordOrNull<CaseWait>(),
  }),
  /** A funding account whose payments bounced: one row per account, one round per incident. */
  incidents: table(["business_id", "source_id"], {
    business_id: text,
    source_id: text,
    business: text,
    workflow_id: text,
    /** 1, 2, … */
    round: integer,
    phase: word<IncidentPhase>(),
    /** Return code or another word for what happened. */
    code: readAs<LineReason>(),
    reason: text,
    hold_id: text,
    /** JSON array of roles that decide. */
    roles: json<readonly string[]>(),
    opened_at_ms: integer,
    decision: wordOrNull<IncidentDecision>(),
    decided_by: textOrNull,
    decided_by_kind: wordOrNull<AuthorKind>(),
    decided_at_ms: integerOrNull,
    /** Business-clock instant: failures before it belong to the round that was decided. */
    decided_business_ms: integerOrNull,
    /**
     * Business-clock instant of the last return that revoked the account's debit authorization; it
     * outlasts the rounds.
     */
    revoked_at_ms: integerOrNull,
    /** True once this round has requested that what is scheduled from the account is cancelled. */
    calls_back: flag,
  }),
};
