/** What people are to be told. Insert-only but for how far the telling is. */
export interface NoticesTable {
  notice_id: string;
  business_id: string;
  /** A `NoticeKind`; another program may have written others. */
  kind: string;
  /** With business and kind: the fact, told of once. */
  fact_key: string;
  /** Run that it is about, or null. */
  run_id: string | null;
  subject: string;
  text: string;
  /** JSON array; empty for everybody who listens. */
  roles: string;
  /** JSON object for programs. */
  data: string;
  /** Vendor whom it is for instead of our own people. */
  contact_id: string | null;
  created_at_ms: number;
  /** When it was turned into deliveries; null until then. */
  routed_at_ms: number | null;
  /** Real instant before which that is not tried (again). */
  route_at_ms: number;
  route_tries: number;
  /** Why it reaches nobody, or why routing is still tried. */
  route_problem: string | null;
}

/** Facts that were told of together in one notice. */
export interface NoticeFactsTable {
  business_id: string;
  kind: string;
  fact_key: string;
  notice_id: string;
}

/** One row per notice, channel and address. */
export interface NoticeDeliveriesTable {
  delivery_id: string;
  notice_id: string;
  business_id: string;
  /** Name of the channel in the profile, or the built-in one for vendors. */
  channel: string;
  /** An e-mail address; empty where the channel has one address of its own. */
  target: string;
  /** A `DeliveryState`; a newer program may have written others. */
  state: string;
  tries: number;
  next_try_at_ms: number;
  claimed_by: string | null;
  claimed_until_ms: number;
  /** What went wrong the last time, without secrets. */
  problem: string | null;
  created_at_ms: number;
  ended_at_ms: number | null;
}
