import type { Columns } from "./columns.ts";

export const otherColumns: Columns<
  | "inbox"
  | "event_starts"
  | "account_looks"
  | "subscriptions"
  | "pending_signals"
  | "audit"
  | "audit_ends"
  | "playbooks"
  | "playbook_proposals"
  | "secrets"
  | "leases"
  | "seen_payments"
  | "late_passes"
  | "names"
  | "keyed_requests"
  | "keyed_effects"
> = {
  keyed_requests: {
    principal: true,
    operation: true,
    key_hash: true,
    business_id: true,
    request_id: true,
    request_hash: true,
    roles: true,
    businesses: true,
    status: true,
    answer: true,
    bytes: true,
    created_at_ms: true,
  },
  keyed_effects: { request_id: true, business_id: true, part: true, outcome: true },
  secrets: { name: true, secret: true, made_at_ms: true },
  names: {
    business_id: true,
    kind: true,
    id: true,
    number: true,
    name: true,
    contact_id: true,
    amount_cents: true,
    number_folded: true,
    name_folded: true,
  },
  inbox: {
    business_id: true,
    event_id: true,
    type: true,
    sequence: true,
    object: true,
    object_id: true,
    created_at: true,
    received_at_ms: true,
    via: true,
    body: true,
    dispatched_at_ms: true,
  },
  event_starts: {
    business_id: true,
    playbook: true,
    event_id: true,
    target: true,
    type: true,
    object_id: true,
    state: true,
    due_at_ms: true,
    workflow_id: true,
    noted_at_ms: true,
    recorded_at_ms: true,
  },
  account_looks: {
    business_id: true,
    account_id: true,
    asked: true,
    looked: true,
    due_at_ms: true,
    tries: true,
    removed: true,
  },
  subscriptions: {
    business_id: true,
    payable_id: true,
    business: true,
    owner: true,
    until_ms: true,
  },
  pending_signals: {
    signal_id: true,
    business_id: true,
    workflow_id: true,
    at_ms: true,
  },
  audit: {
    audit_id: true,
    business_id: true,
    at_ms: true,
    actor: true,
    actor_kind: true,
    action: true,
    subject: true,
    details: true,
    prev_hash: true,
    hash: true,
  },
  audit_ends: {
    business_id: true,
    entries: true,
    hash: true,
  },
  playbooks: {
    name: true,
    revision: true,
    kind: true,
    business: true,
    text: true,
    compiled: true,
    author: true,
    author_token_id: true,
    created_at_ms: true,
    confirmed_by: true,
    confirmed_at_ms: true,
  },
  playbook_proposals: {
    business: true,
    name: true,
    text: true,
    author: true,
    author_token_id: true,
    created_at_ms: true,
  },
  leases: {
    name: true,
    holder: true,
    until_ms: true,
    key_ids: true,
  },
  seen_payments: {
    business_id: true,
    payment_id: true,
    status: true,
    amount_cents: true,
    updated_at: true,
  },
  late_passes: {
    business_id: true,
    begun_business_ms: true,
    begun_real_ms: true,
    made_before: true,
    next_page: true,
  },
};
