export interface ClaimsTable {
  business_id: string;
  payable_id: string;
  /** Workflow id. */
  owner: string;
  claimed_at_ms: number;
}

export interface HoldsTable {
  hold_id: string;
  business_id: string;
  /** A `HoldScopeName`; a newer program may have written others. */
  scope: string;
  /** Id or name within the scope; empty for all. */
  value: string;
  reason: string;
  author: string;
  created_at_ms: number;
  /** Business-clock instant, or null for without end. */
  until_ms: number | null;
  released_at_ms: number | null;
  released_by: string | null;
}

/** A fault of the whole business: one wait, never one per bill. */
export interface BusinessWaitsTable {
  business_id: string;
  /** Funding source id for money faults; empty for the whole business. */
  source_id: string;
  /** The service's code, for example `insufficient_balance`; `rate_limited` for a 429. */
  code: string;
  message: string;
  since_ms: number;
  /** Service-clock instant of the next try. */
  retry_at_ms: number;
  /** How often a single request has tried since. */
  tries: number;
}
