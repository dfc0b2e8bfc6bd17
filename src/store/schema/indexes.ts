import { MOVING_TOP_UP_STATES, OPEN_TOP_UP_STATES } from "../../contracts/deposit.ts";
import { LINE } from "../../contracts/line-states.ts";
import { REFUSING } from "./decisions.ts";
import { OPEN_RESULTS } from "./ledger.ts";

const texts = (values: readonly string[]) => values.map((value) => `'${value}'`).join(", ");

/** The indexes, by table: lookups that need not read a whole table. */
export const INDEXES: readonly string[] = [
  "create unique index runs_of_period on runs (business_id, playbook, period, revision)",
  // All that the list of runs asks for: a run's row is long, because it has the compiled playbook.
  `create index runs_listed on runs (launched_at_ms, run_id, business_id, phase, playbook, period,
     launched_by_kind, launched_by, total_cents)`,
  "create index runs_open on runs (launched_at_ms) where ended_at_ms is null",
  "create index plan_lines_of_payable on plan_lines (payable_id)",
  "create index run_lines_by_state on run_lines (run_id, state, line_no)",
  // In the order of leasing, so that a lease costs the same however long the run is.
  `create index run_lines_to_lease on run_lines (run_id, execution_date, line_no)
     where state in (${texts(LINE.leasable)})`,
  `create index run_lines_came_back on run_lines (run_id, state, reason_code)
     where state in (${texts(LINE.cameBack)})`,
  "create index run_lines_by_date on run_lines (business_id, execution_date)",
  "create index run_lines_by_line_no on run_lines (run_id, line_no)",
  "create index run_lines_of_contact on run_lines (business_id, contact_id, execution_date)",
  "create index run_lines_of_payable on run_lines (business_id, payable_id)",
  "create index run_lines_to_look_at on run_lines (run_id, look) where look = 1",
  `create index run_lines_under_way on run_lines (business_id, source_id, execution_date)
     where state in (${texts(LINE.underWay)})`,
  `create index run_lines_taken on run_lines (business_id, source_id, updated_at_ms)
     where state in (${texts(LINE.taken)})`,
  `create index run_lines_parked on run_lines (business_id, reason_code, payable_id)
     where state = 'parked'`,
  `create index run_lines_of_records on run_lines (business_id, record_asked_at_ms)
     where record_asked_at_ms is not null`,
  "create index dry_plan_lines_by_age on dry_plan_lines (created_at_ms)",
  "create unique index attempts_by_key on attempts (idempotency_key)",
  `create index sends_never_answered on sends (business_id, opened_at_ms)
     where result in (${texts(OPEN_RESULTS)})`,
  "create index late_answers_of_subject on late_answers (business_id, subject)",
  "create index lookups_of_subject on lookups (business_id, subject, begun_at_ms)",
  // At most one attempt makes a payment or transaction; a cancel changes what another attempt made.
  `create unique index adoptions_of_made on adoptions (business_id, found_id)
    where operation <> 'cancel'`,
  "create index adoptions_of_subject on adoptions (business_id, subject)",
  "create index claims_of_owner on claims (owner)",
  "create index holds_of_business on holds (business_id, released_at_ms)",
  "create index decisions_of_run on decisions (run_id, decided_at_ms)",
  `create index decisions_refusing on decisions (run_id) where ${REFUSING}`,
  "create unique index tokens_by_hash on tokens (token_hash)",
  "create index confirmed_records_of_contact on confirmed_records (business_id, contact_id)",
  "create index tokens_of_maker on tokens (maker, created_at_ms)",
  "create unique index sessions_by_hash on sessions (session_hash)",
  "create index sessions_of_token on sessions (token_id)",
  "create index sign_in_links_of_token on sign_in_links (token_id)",
  "create unique index keyed_requests_by_id on keyed_requests (request_id)",
  "create index keyed_requests_by_age on keyed_requests (created_at_ms)",
  "create index keyed_requests_of_principal on keyed_requests (principal, created_at_ms, bytes)",
  "create index inbox_of_object on inbox (business_id, object_id)",
  "create index inbox_recovered on inbox (business_id, received_at_ms) where via = 'deliveries'",
  "create index inbox_taken on inbox (business_id, received_at_ms) where via = 'webhook'",
  "create index inbox_waiting on inbox (received_at_ms) where dispatched_at_ms is null",
  "create index subscriptions_until on subscriptions (until_ms)",
  "create index pending_signals_by_age on pending_signals (at_ms)",
  `create index event_starts_open on event_starts (due_at_ms)
     where state in ('waiting', 'recorded')`,
  "create index event_starts_of_object on event_starts (business_id, playbook, object_id)",
  "create index account_looks_due on account_looks (due_at_ms) where looked < asked",
  "create index event_starts_of_workflow on event_starts (workflow_id)",
  "create unique index retries_by_workflow on retries (workflow_id)",
  "create index retries_of_run on retries (run_id)",
  "create index retries_open on retries (started_at_ms) where phase <> 'ended'",
  `create index retry_cases_waiting on retry_cases (business_id, source_id)
     where waits_for is not null`,
  "create unique index incidents_by_workflow on incidents (workflow_id)",
  `create index cancellations_listed on cancellations (requested_at_ms, workflow_id, business_id,
     phase, playbook, requested_by_kind, requested_by, run_id)`,
  "create index cancellations_open on cancellations (business_id) where ended_at_ms is null",
  "create index cancellation_items_of_hold on cancellation_items (hold_id)",
  "create index cancellation_items_of_payable on cancellation_items (business_id, payable_id)",
  `create index cancellation_items_withheld on cancellation_items (business_id)
     where state = 'withheld'`,
  `create unique index top_ups_open on top_ups (owner, source_id)
     where state in (${texts(OPEN_TOP_UP_STATES)})`,
  `create index top_ups_moving on top_ups (business_id, source_id)
     where state in (${texts(MOVING_TOP_UP_STATES)})`,
  `create unique index top_ups_by_transaction on top_ups (business_id, transaction_id)
     where transaction_id is not null`,
  "create index top_ups_of_owner on top_ups (owner, request_no)",
  "create index vault_of_business on vault (business_id)",
  "create unique index onboardings_by_workflow on onboardings (workflow_id)",
  `create unique index onboarding_inputs_in_order
    on onboarding_inputs (business_id, round, input_no)`,
  "create index names_by_number on names (business_id, number_folded)",
  "create index names_by_name on names (business_id, name_folded)",
  "create unique index notices_of_fact on notices (business_id, kind, fact_key)",
  "create index notices_by_time on notices (created_at_ms)",
  "create index notices_of_run on notices (run_id)",
  "create index notices_to_route on notices (route_at_ms) where routed_at_ms is null",
  "create index notice_deliveries_of_notice on notice_deliveries (notice_id)",
  `create index notice_deliveries_due on notice_deliveries (next_try_at_ms)
     where state = 'pending'`,
  `create index notice_deliveries_failed on notice_deliveries (created_at_ms)
     where state = 'undeliverable'`,
  "create index audit_of_business on audit (business_id, audit_id)",
  "create index audit_of_subject on audit (business_id, subject, action, audit_id)",
  "create unique index audit_chain on audit (business_id, prev_hash)",
];
