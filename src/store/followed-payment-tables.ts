/** The latest version of a payment that was taken over: what is older is a stale answer. */
export interface SeenPaymentsTable {
  business_id: string;
  payment_id: string;
  /** The service's word. */
  status: string;
  amount_cents: number;
  /** ISO instant as the service wrote it; null where it says none. */
  updated_at: string | null;
}

/** How far the watch for late changes is with a business's payments. */
export interface LatePassesTable {
  business_id: string;
  /** When the last pass began, on both clocks. */
  begun_business_ms: number;
  begun_real_ms: number;
  /** ISO instant: the pass reads what was made before. Null while none is under way. */
  made_before: string | null;
  /** Page of that list to go on with, from 1. */
  next_page: number;
}
