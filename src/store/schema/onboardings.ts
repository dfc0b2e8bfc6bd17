/** Businesses taken through KYB, what people gave for it, and the vault for what is personal. */
export const onboardingTables: readonly string[] = [
  `create table vault (
    vault_ref text primary key not null,
    business_id text not null,
    kind text not null,
    key_id text not null,
    nonce text not null,
    ciphertext text not null,
    created_at_ms bigint not null
  )`,
  `create index vault_of_business on vault (business_id)`,
  `create table onboardings (
    business_id text primary key not null,
    business text not null,
    workflow_id text not null,
    round bigint not null,
    playbook text not null,
    playbook_revision bigint not null,
    policy text not null,
    phase text not null,
    waiting_for text,
    needs_action bigint not null,
    next_steps text not null,
    wait_key text not null,
    wait_since_ms bigint not null,
    wait_since_real_ms bigint not null,
    reminders bigint not null,
    proposal text,
    launched_by text not null,
    launched_by_token_id text,
    launched_at_ms bigint not null,
    updated_at_ms bigint not null,
    ended_at_ms bigint
  )`,
  `create unique index onboardings_by_workflow on onboardings (workflow_id)`,
  `create table onboarding_inputs (
    input_id text primary key not null,
    business_id text not null,
    round bigint not null,
    input_no bigint not null,
    step text not null,
    facts text not null,
    vault_ref text,
    state text not null,
    reason text,
    sends bigint not null,
    sent_at_ms bigint,
    provided_by text not null,
    provided_at_ms bigint not null
  )`,
  `create unique index onboarding_inputs_in_order
    on onboarding_inputs (business_id, round, input_no)`,
];
