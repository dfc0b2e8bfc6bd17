import type { AuthorKind } from "../../contracts/authors.ts";
import type { VerifiedBankChange } from "../../domain/approvals/bank-changes.ts";
import {
  flag,
  growing,
  integer,
  integerOrNull,
  json,
  jsonOrNull,
  table,
  text,
  textOrNull,
  word,
  wordOrNull,
} from "./table.ts";

/** What a rejection, or a decision that leaves bills out, is. The texts are SQL: an index has them. */
export const REFUSING = "outcome = 'accepted' and (decision = 'reject' or dropped <> '[]')";

/** Who decided what, and with which token. */
export const decisionTables = {
  decisions: table(["decision_id"], {
    decision_id: text,
    run_id: text,
    plan_hash: text,
    decision: word<"approve" | "reject">(),
    principal: text,
    token_id: textOrNull,
    roles: json<readonly string[]>(),
    /** JSON array of payable ids left out. */
    dropped: json<readonly string[]>(),
    comment: textOrNull,
    /** How changed bank accounts of vendors were verified. */
    bank_changes: json<readonly VerifiedBankChange[]>(),
    decided_at_ms: integer,
    /** Business-clock instant. */
    expires_at_ms: integer,
    outcome: word<"accepted" | "refused">(),
    /** Why it was refused. */
    reason: textOrNull,
    /** 1 if it counts only because the business allows one person to launch and approve. */
    alone: flag,
  }),
  /**
   * One row per line and approver, written only if the approver's role counts for the line's rule.
   */
  line_approvals: table(["run_id", "payable_id", "line_hash", "principal"], {
    run_id: text,
    payable_id: text,
    line_hash: text,
    principal: text,
    decision_id: text,
    expires_at_ms: integer,
    /** Stage of the line's rule that it counts in, from 0. */
    stage: integer,
    /** 1 if only an escalation let the approver decide. */
    escalated: flag,
    /** 1 if it was hurried, so that the line's stage needs one more person. */
    hurried: flag,
  }),
  /**
   * In which runs somebody said, for a record of a vendor, that its account is still right: who that
   * was is in the trail. Insert-only.
   */
  confirmed_records: growing(["decision_id", "contact_id", "record"], {
    decision_id: text,
    business_id: text,
    contact_id: text,
    /** The record's `updatedAt`, as `recordKey` writes it. */
    record: text,
    run_id: text,
    token_id: text,
    decided_at_ms: integer,
  }),
  /** Stages of a run's rules that have several; the quorum of a rule with one is in its lines. */
  approval_stages: table(["run_id", "rule_index", "stage"], {
    run_id: text,
    rule_index: integer,
    /** From 0. */
    stage: integer,
    quorum: integer,
  }),
  tokens: table(["token_id"], {
    token_id: text,
    /** The person or system that it stands for, as named when it was created. */
    name: text,
    /** The principal behind the name, as `principalOf` writes it. */
    principal: text,
    token_hash: text,
    roles: json<readonly string[]>(),
    /** JSON array of the profile names that it is valid for; null for all. */
    businesses: jsonOrNull<readonly string[]>(),
    created_at_ms: integer,
    /** Who created it, by the name of their own token. */
    created_by: text,
    created_by_kind: word<AuthorKind>(),
    /** The principal behind `created_by`; null if the system has created it. */
    maker: textOrNull,
    /** When a second person confirmed it, and who that was; null if no one has. */
    confirmed_at_ms: integerOrNull,
    confirmed_by: textOrNull,
    confirmed_by_kind: wordOrNull<AuthorKind>(),
    expires_at_ms: integer,
    revoked_at_ms: integerOrNull,
  }),
  /** The addresses that each token and each session was used from, one row each. */
  token_uses: table(["token_id", "address"], {
    /** Id of the token, or of the session. */
    token_id: text,
    address: text,
    first_at_ms: integer,
    last_at_ms: integer,
  }),
};
