import { integer, table, text, textOrNull } from "./table.ts";

/**
 * What is known of each payment that is followed, and the progress of the watch for late changes.
 */
export const followedPaymentTables = {
  /** The latest version of a payment that was applied; an older one is a stale response. */
  seen_payments: table(["business_id", "payment_id"], {
    business_id: text,
    payment_id: text,
    /** The service's word. */
    status: text,
    amount_cents: integer,
    /** ISO instant as the service wrote it; null if it gives none. */
    updated_at: textOrNull,
  }),
  /** The progress of the watch for late changes through a business's payments. */
  late_passes: table(["business_id"], {
    business_id: text,
    /** When the last pass began, on both clocks. */
    begun_business_ms: integer,
    begun_real_ms: integer,
    /** ISO instant: the pass reads payments made before it. Null while no pass is under way. */
    made_before: textOrNull,
    /** The next page of that list to read, from 1. */
    next_page: integer,
  }),
};
