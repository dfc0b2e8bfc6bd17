export interface DecisionsTable {
  decision_id: string;
  run_id: string;
  plan_hash: string;
  decision: "approve" | "reject";
  principal: string;
  token_id: string | null;
  roles: string;
  /** JSON array of payable ids left out. */
  dropped: string;
  comment: string | null;
  decided_at_ms: number;
  /** Business-clock instant. */
  expires_at_ms: number;
  outcome: "accepted" | "refused";
  /** Why it was refused. */
  reason: string | null;
}

/** One row per line and approver, written only where the approver's role counts for the line's rule. */
export interface LineApprovalsTable {
  run_id: string;
  payable_id: string;
  line_hash: string;
  principal: string;
  decision_id: string;
  expires_at_ms: number;
  /** Stage of the line's rule that it counts in, from 0. */
  stage: number;
  /** 1 where only an escalation let the approver decide. */
  escalated: number;
}

/** Stages of the rules of a run that have several. */
export interface ApprovalStagesTable {
  run_id: string;
  rule_index: number;
  /** From 0. */
  stage: number;
  quorum: number;
}

export interface TokensTable {
  token_id: string;
  name: string;
  token_hash: string;
  roles: string;
  created_at_ms: number;
  created_by: string;
  expires_at_ms: number | null;
  revoked_at_ms: number | null;
}
