import type { VerifiedBankChange } from "../../domain/approvals/bank-changes.ts";
import {
  flag,
  integer,
  integerOrNull,
  json,
  jsonOrNull,
  table,
  text,
  textOrNull,
  word,
} from "./table.ts";

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
    /** 1 where it counts only because the business allows that one person launches and approves. */
    alone: flag,
  }),
  /** One row per line and approver, written only where the approver's role counts for the line's rule. */
  line_approvals: table(["run_id", "payable_id", "line_hash", "principal"], {
    run_id: text,
    payable_id: text,
    line_hash: text,
    principal: text,
    decision_id: text,
    expires_at_ms: integer,
    /** Stage of the line's rule that it counts in, from 0. */
    stage: integer,
    /** 1 where only an escalation let the approver decide. */
    escalated: flag,
  }),
  /** Stages of a run's rules that have several; what a rule of one asks for is its lines' quorum. */
  approval_stages: table(["run_id", "rule_index", "stage"], {
    run_id: text,
    rule_index: integer,
    /** From 0. */
    stage: integer,
    quorum: integer,
  }),
  tokens: table(["token_id"], {
    token_id: text,
    /** Whom it stands for, as it was written when it was made. */
    name: text,
    /** The one person behind the name, as `principalOf` writes it. */
    principal: text,
    token_hash: text,
    roles: json<readonly string[]>(),
    /** JSON array of profile names that it is for; null for all. */
    businesses: jsonOrNull<readonly string[]>(),
    created_at_ms: integer,
    /** Who made it, as their own token is called. */
    created_by: text,
    /** The one person behind `created_by`. */
    maker: text,
    /** When a second person confirmed it, and who; null where nobody has. */
    confirmed_at_ms: integerOrNull,
    confirmed_by: textOrNull,
    expires_at_ms: integer,
    revoked_at_ms: integerOrNull,
  }),
  /** From where each token and each session was used, once for each address. */
  token_uses: table(["token_id", "address"], {
    /** Or a session's. */
    token_id: text,
    address: text,
    first_at_ms: integer,
    last_at_ms: integer,
  }),
};
