import type { TopUpState } from "../contracts/top-up.ts";

/** A deposit into a funding source that somebody has asked for. */
export interface TopUpsTable {
  business_id: string;
  /** Its name in the attempt ledger, and in decisions and approvals. */
  subject: string;
  business: string;
  source_id: string;
  /** Workflow that needs the money: a run or an incident. */
  owner: string;
  /** 1, 2, … of the owner and source. */
  request_no: number;
  /** Run whose playbook allows it. */
  policy_run_id: string;
  state: TopUpState;
  amount_cents: number;
  needed_on: string;
  make_by: string;
  arrives_on: string;
  late: number;
  bank_account_id: string;
  bank_name: string | null;
  bank_last4: string | null;
  plan_hash: string;
  /** What an approval of it names. */
  hash: string;
  /** JSON array of roles. */
  approvers: string;
  quorum: number;
  transaction_id: string | null;
  reason_code: string | null;
  reason: string | null;
  /** Service-clock instant before which nothing is sent or looked up. */
  not_before_ms: number;
  /** Business-clock instant of its last change. */
  since_ms: number;
  /** Business-clock instant of the next look at the transaction. */
  poll_at_ms: number;
  created_at_ms: number;
  updated_at_ms: number;
}
