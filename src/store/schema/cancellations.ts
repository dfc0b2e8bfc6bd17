/** Cancellations of payments and withheld bills. */
export const cancellationTables: readonly string[] = [
  `create table cancellations (
    workflow_id text primary key not null,
    business_id text not null,
    business text not null,
    playbook text not null,
    policy text not null,
    run_id text,
    reason text not null,
    phase text not null,
    waiting_for text,
    requested_by text not null,
    requested_at_ms bigint not null,
    chosen_at_ms bigint,
    ended_at_ms bigint
  )`,
  `create index cancellations_open on cancellations (business_id) where ended_at_ms is null`,
  `create table cancellation_items (
    workflow_id text not null,
    item_no bigint not null,
    business_id text not null,
    payment_id text,
    payable_id text,
    contact_id text,
    amount_cents bigint not null,
    state text not null,
    open bigint not null,
    reason text,
    hold_id text,
    release_by_ms bigint,
    cancelled_at_ms bigint,
    not_before_ms bigint not null,
    poll_at_ms bigint not null,
    updated_at_ms bigint not null,
    primary key (workflow_id, item_no)
  )`,
  `create index cancellation_items_of_hold on cancellation_items (hold_id)`,
  `create index cancellation_items_of_payable on cancellation_items (business_id, payable_id)`,
  `create index cancellation_items_withheld on cancellation_items (business_id)
     where state = 'withheld'`,
];
