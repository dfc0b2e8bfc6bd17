import type { Columns } from "./columns.ts";

export const decisionColumns: Columns<
  | "decisions"
  | "line_approvals"
  | "confirmed_records"
  | "approval_stages"
  | "tokens"
  | "token_uses"
  | "sessions"
  | "sign_in_links"
> = {
  decisions: {
    decision_id: true,
    run_id: true,
    plan_hash: true,
    decision: true,
    principal: true,
    token_id: true,
    roles: true,
    dropped: true,
    comment: true,
    bank_changes: true,
    decided_at_ms: true,
    expires_at_ms: true,
    outcome: true,
    reason: true,
    alone: true,
  },
  line_approvals: {
    run_id: true,
    payable_id: true,
    line_hash: true,
    principal: true,
    decision_id: true,
    expires_at_ms: true,
    stage: true,
    escalated: true,
    hurried: true,
  },
  confirmed_records: {
    decision_id: true,
    business_id: true,
    contact_id: true,
    record: true,
    run_id: true,
    token_id: true,
    decided_at_ms: true,
  },
  approval_stages: {
    run_id: true,
    rule_index: true,
    stage: true,
    quorum: true,
  },
  tokens: {
    token_id: true,
    name: true,
    principal: true,
    token_hash: true,
    roles: true,
    businesses: true,
    created_at_ms: true,
    created_by: true,
    created_by_kind: true,
    maker: true,
    confirmed_at_ms: true,
    confirmed_by: true,
    confirmed_by_kind: true,
    expires_at_ms: true,
    revoked_at_ms: true,
  },
  token_uses: {
    token_id: true,
    address: true,
    first_at_ms: true,
    last_at_ms: true,
  },
  sessions: {
    session_id: true,
    session_hash: true,
    token_id: true,
    issuer: true,
    subject: true,
    businesses: true,
    name: true,
    way: true,
    signed_in_at_ms: true,
    expires_at_ms: true,
    ended_at_ms: true,
    ended_by: true,
    ended_by_kind: true,
    kept_form: true,
  },
  sign_in_links: {
    code_hash: true,
    token_id: true,
    issuer: true,
    subject: true,
    businesses: true,
    name: true,
    way: true,
    signed_in_at_ms: true,
    expires_at_ms: true,
  },
};
