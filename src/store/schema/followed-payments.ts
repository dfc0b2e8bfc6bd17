/** What is known of each payment that is followed, and how far the watch for late changes is. */
export const followedPaymentTables: readonly string[] = [
  `create table seen_payments (
    business_id text not null,
    payment_id text not null,
    status text not null,
    amount_cents bigint not null,
    updated_at text,
    primary key (business_id, payment_id)
  )`,
  `create table late_passes (
    business_id text primary key not null,
    begun_business_ms bigint not null,
    begun_real_ms bigint not null,
    made_before text,
    next_page bigint not null
  )`,
];
