import { sql } from "kysely";
import { expect, test } from "vitest";
import { appendAudit } from "../../src/store/audit.ts";
import type { Tables } from "../../src/store/index.ts";
import { storePlan } from "../../src/store/plans.ts";
import { upsertRun } from "../../src/store/runs.ts";
import { newRun, planLine, planSummary } from "./fixtures.ts";
import { endAttemptOn, liveAttemptOn, testStore } from "./support.ts";

type Columns<T extends keyof Tables> = Record<keyof Tables[T], true>;

/** Every column that queries may name: the compiler holds this to the types, the test to the tables. */
const columns: { [T in keyof Tables]: Columns<T> } = {
  runs: {
    run_id: true,
    business_id: true,
    business: true,
    playbook: true,
    playbook_revision: true,
    policy: true,
    period: true,
    revision: true,
    inputs: true,
    phase: true,
    waiting_for: true,
    plan_hash: true,
    plan_no: true,
    total_cents: true,
    launched_by: true,
    launched_by_token_id: true,
    launched_at_ms: true,
    cancel_requested_at_ms: true,
    cancel_requested_by: true,
    ended_at_ms: true,
    planned_at_ms: true,
    approve_by_ms: true,
    failure: true,
  },
  plans: {
    run_id: true,
    plan_no: true,
    plan_hash: true,
    summary: true,
    created_at_ms: true,
  },
  plan_lines: {
    run_id: true,
    payable_id: true,
    version: true,
    line_no: true,
    line_hash: true,
    contact_id: true,
    amount_cents: true,
    execution_date: true,
    source_id: true,
    line: true,
  },
  plan_skipped: {
    run_id: true,
    payable_id: true,
    code: true,
    skipped: true,
  },
  run_lines: {
    run_id: true,
    payable_id: true,
    business_id: true,
    version: true,
    line_no: true,
    line_hash: true,
    contact_id: true,
    source_id: true,
    amount_cents: true,
    execution_date: true,
    quorum: true,
    state: true,
    reason_code: true,
    reason: true,
    payment_ids: true,
    attempts: true,
    funded: true,
    lease_epoch: true,
    lease_owner: true,
    lease_until_ms: true,
    not_before_ms: true,
    verified_at_ms: true,
    known_payment_ids: true,
    poll_at_ms: true,
    look: true,
    dropped_by: true,
    updated_at_ms: true,
  },
  attempts: {
    attempt_id: true,
    business_id: true,
    subject: true,
    seq: true,
    operation: true,
    method: true,
    path: true,
    body: true,
    idempotency_key: true,
    owner: true,
    line_hash: true,
    contact_id: true,
    source_id: true,
    rail: true,
    amount_cents: true,
    execution_date: true,
    known_payment_ids: true,
    sends: true,
    state: true,
    first_sent_at_ms: true,
    last_sent_at_ms: true,
    gave_up_at_ms: true,
    looked_up_at_ms: true,
    payment_ids: true,
    answer: true,
    created_at_ms: true,
    updated_at_ms: true,
  },
  claims: {
    business_id: true,
    payable_id: true,
    owner: true,
    claimed_at_ms: true,
  },
  holds: {
    hold_id: true,
    business_id: true,
    scope: true,
    value: true,
    reason: true,
    author: true,
    created_at_ms: true,
    until_ms: true,
    released_at_ms: true,
    released_by: true,
  },
  decisions: {
    decision_id: true,
    run_id: true,
    plan_hash: true,
    decision: true,
    principal: true,
    token_id: true,
    roles: true,
    dropped: true,
    comment: true,
    decided_at_ms: true,
    expires_at_ms: true,
    outcome: true,
    reason: true,
  },
  line_approvals: {
    run_id: true,
    payable_id: true,
    line_hash: true,
    principal: true,
    decision_id: true,
    expires_at_ms: true,
  },
  business_waits: {
    business_id: true,
    source_id: true,
    code: true,
    message: true,
    since_ms: true,
    retry_at_ms: true,
    tries: true,
  },
  retries: {
    business_id: true,
    payable_id: true,
    business: true,
    workflow_id: true,
    run_id: true,
    phase: true,
    reason_code: true,
    reason: true,
    retries_made: true,
    handled_payment_ids: true,
    requested: true,
    requested_by: true,
    retry_on: true,
    look: true,
    started_at_ms: true,
    updated_at_ms: true,
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
  watches: {
    business_id: true,
    payable_id: true,
    business: true,
    owner: true,
    until_ms: true,
  },
  tokens: {
    token_id: true,
    name: true,
    token_hash: true,
    roles: true,
    created_at_ms: true,
    created_by: true,
    expires_at_ms: true,
    revoked_at_ms: true,
  },
  audit: {
    audit_id: true,
    business_id: true,
    at_ms: true,
    actor: true,
    action: true,
    subject: true,
    details: true,
    prev_hash: true,
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
  },
  dry_plans: {
    dry_plan_id: true,
    created_at_ms: true,
    plan: true,
  },
  leases: {
    name: true,
    holder: true,
    until_ms: true,
  },
  vault: {
    vault_ref: true,
    business_id: true,
    kind: true,
    key_id: true,
    nonce: true,
    ciphertext: true,
    created_at_ms: true,
  },
  onboardings: {
    business_id: true,
    business: true,
    workflow_id: true,
    round: true,
    playbook: true,
    playbook_revision: true,
    policy: true,
    phase: true,
    waiting_for: true,
    needs_action: true,
    next_steps: true,
    wait_key: true,
    wait_since_ms: true,
    wait_since_real_ms: true,
    reminders: true,
    proposal: true,
    launched_by: true,
    launched_by_token_id: true,
    launched_at_ms: true,
    updated_at_ms: true,
    ended_at_ms: true,
  },
  onboarding_inputs: {
    input_id: true,
    business_id: true,
    round: true,
    input_no: true,
    step: true,
    facts: true,
    vault_ref: true,
    state: true,
    reason: true,
    sends: true,
    sent_at_ms: true,
    provided_by: true,
    provided_at_ms: true,
  },
  notices: {
    notice_id: true,
    business_id: true,
    kind: true,
    fact_key: true,
    run_id: true,
    subject: true,
    text: true,
    roles: true,
    data: true,
    contact_id: true,
    created_at_ms: true,
    routed_at_ms: true,
    route_at_ms: true,
    route_tries: true,
    route_problem: true,
  },
  notice_facts: {
    business_id: true,
    kind: true,
    fact_key: true,
    notice_id: true,
  },
  notice_deliveries: {
    delivery_id: true,
    notice_id: true,
    business_id: true,
    channel: true,
    target: true,
    state: true,
    tries: true,
    next_try_at_ms: true,
    claimed_by: true,
    claimed_until_ms: true,
    problem: true,
    created_at_ms: true,
    ended_at_ms: true,
  },
};

test("the migrated tables have exactly the columns that queries are typed with", async () => {
  const { store } = await testStore();
  const tables = await store.db.introspection.getTables();
  const found = Object.fromEntries(
    tables
      .filter((table) => !["payrun_migrations", "payrun_commits"].includes(table.name))
      .map((table) => [table.name, table.columns.map((column) => column.name).sort()]),
  );
  const expected = Object.fromEntries(
    Object.entries(columns).map(([table, names]) => [table, Object.keys(names).sort()]),
  );
  expect(found).toEqual(expected);
});

test("plans and the audit trail can't be changed or thinned out", async () => {
  const { store } = await testStore();
  const { run } = await upsertRun(store.db, newRun());
  const lines = [planLine("pay_1")];
  await store.transaction(async (trx) => {
    await storePlan(trx, {
      run,
      plan: { summary: planSummary(lines), lines, skipped: [] },
      nowMs: 1,
    });
    await appendAudit(trx, {
      businessId: "biz_1",
      nowMs: 1,
      actor: "lena",
      action: "run.launched",
      subject: run.runId,
      details: {},
    });
  });
  for (const [table, column] of [
    ["plans", "plan_hash"],
    ["plan_lines", "line_hash"],
    ["audit", "actor"],
  ] as const) {
    const change = sql`update ${sql.table(table)} set ${sql.ref(column)} = 'forged'`;
    await expect(change.execute(store.db)).rejects.toThrow(`${table} only grows`);
    await expect(store.db.deleteFrom(table).execute()).rejects.toThrow(`${table} only grows`);
  }
});

test("a payable has at most one live attempt", async () => {
  const { store } = await testStore();
  await liveAttemptOn(store, "pay_1");
  const copy = (seq: number) => sql`
    insert into attempts select 'second', business_id, subject, ${seq}, operation, method, path,
      body, 'another key', owner, line_hash, contact_id, source_id, rail, amount_cents,
      execution_date, known_payment_ids, sends, 'live', null, null, null, null, payment_ids, null,
      created_at_ms, updated_at_ms from attempts`;
  await expect(copy(2).execute(store.db)).rejects.toThrow(/unique/i);
  await endAttemptOn(store, "pay_1");
  await expect(copy(1).execute(store.db)).rejects.toThrow(/unique/i);
  await copy(2).execute(store.db);
});
