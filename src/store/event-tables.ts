export interface InboxTable {
  business_id: string;
  event_id: string;
  type: string;
  /** Decimal text: it exceeds 2^53. */
  sequence: string;
  object: string;
  object_id: string;
  created_at: string;
  received_at_ms: number;
  /** webhook | deliveries */
  via: string;
  body: string;
  dispatched_at_ms: number | null;
}

/** Which workflow wants to hear about a payable; outlives its run by the return window. */
export interface WatchesTable {
  business_id: string;
  payable_id: string;
  business: string;
  owner: string;
  until_ms: number;
}
