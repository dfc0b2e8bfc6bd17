export interface InboxTable {
  business_id: string;
  event_id: string;
  type: string;
  /** Decimal text: it exceeds 2^53. */
  sequence: string;
  object: string;
  object_id: string;
  /** ISO instant, as the service wrote it. */
  created_at: string;
  received_at_ms: number;
  via: "webhook" | "deliveries";
  /** Exactly as signed. */
  body: string;
  dispatched_at_ms: number | null;
}

/** A workflow that is to be told to look; gone once it has been. */
export interface TellingsTable {
  telling_id: string;
  business_id: string;
  workflow_id: string;
  at_ms: number;
}

/** Which workflow wants to hear about a payable; outlives its run by the return window. */
export interface WatchesTable {
  business_id: string;
  payable_id: string;
  /** The profile's name. */
  business: string;
  /** Workflow id. */
  owner: string;
  /** Business-clock instant after which nobody cares any more. */
  until_ms: number;
}
