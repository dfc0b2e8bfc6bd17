import type { CancellationPhase, CancellationState } from "../contracts/cancellation.ts";

/** A request to cancel payments, or to withhold bills: one workflow each. */
export interface CancellationsTable {
  workflow_id: string;
  business_id: string;
  business: string;
  /** Empty where a person named the payments. */
  playbook: string;
  /** CancellationPolicy as JSON: what is asked for keeps its revision. */
  policy: string;
  /** The pay run whose bills are withheld; null for payments. */
  run_id: string | null;
  reason: string;
  phase: CancellationPhase;
  waiting_for: string | null;
  requested_by: string;
  requested_at_ms: number;
  /** Real instant at which the payments were chosen and held; null before. */
  chosen_at_ms: number | null;
  ended_at_ms: number | null;
}

export interface CancellationItemsTable {
  workflow_id: string;
  item_no: number;
  business_id: string;
  /** Null for a withheld bill. */
  payment_id: string | null;
  payable_id: string | null;
  contact_id: string | null;
  amount_cents: number;
  state: CancellationState;
  /** 1 while something is still to be done or found out. */
  open: number;
  reason: string | null;
  hold_id: string | null;
  /** Business-clock instant until which a withheld bill may be released in time. */
  release_by_ms: number | null;
  /** Business-clock instant of the cancel; refunds are late some days after it. */
  cancelled_at_ms: number | null;
  /** Service-clock instant before which nothing is sent or looked up. */
  not_before_ms: number;
  /** Business-clock instant of the next read of a refund. */
  poll_at_ms: number;
  updated_at_ms: number;
}
