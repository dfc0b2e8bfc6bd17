import { integer, table, text, textOrNull } from "./table.ts";

/** What is known of each payment that is followed, and how far the watch for late changes is. */
export const followedPaymentTables = {
  /** The latest version of a payment that was taken over: what is older is a stale answer. */
  seen_payments: table(["business_id", "payment_id"], {
    business_id: text,
    payment_id: text,
    /** The service's word. */
    status: text,
    amount_cents: integer,
    /** ISO instant as the service wrote it; null where it says none. */
    updated_at: textOrNull,
  }),
  /** How far the watch for late changes is with a business's payments. */
  late_passes: table(["business_id"], {
    business_id: text,
    /** When the last pass began, on both clocks. */
    begun_business_ms: integer,
    begun_real_ms: integer,
    /** ISO instant: the pass reads what was made before. Null while none is under way. */
    made_before: textOrNull,
    /** Page of that list to go on with, from 1. */
    next_page: integer,
  }),
};
