import type { DdlDialect } from "./ddl.ts";

/**
 * What was sent and what was seen of it (`src/ledger`). Rows are added, a send's result is written
 * once, and nothing is ever taken back.
 */
export const ledgerTables = (ddl: DdlDialect): string[] => [
  `create table attempts (
    attempt_id text primary key not null,
    business_id text not null,
    subject text not null,
    seq bigint not null,
    operation text not null,
    idempotency_key text not null,
    created_at_ms bigint not null
  )`,
  `create unique index attempts_of_subject on attempts (business_id, subject, seq)`,
  `create unique index attempts_by_key on attempts (idempotency_key)`,
  ...ddl.appendOnly("attempts"),
  ...ddl.writtenOnce(
    `create table sends (
      send_id text primary key not null,
      attempt_id text not null,
      business_id text not null,
      subject text not null,
      seq bigint not null,
      send_no bigint not null,
      owner text not null,
      sent_by text not null,
      path text not null,
      body text not null,
      approved_hash text not null,
      contact_id text not null,
      source_id text not null,
      rail text not null,
      amount_cents bigint not null,
      execution_date text not null,
      baseline text not null,
      opened_at_ms bigint not null,
      opened_service_ms bigint,
      leave_by_ms bigint not null,
      result text not null,
      status bigint,
      code text,
      message text,
      answered_at_ms bigint,
      answer_date_ms bigint,
      made_ids text not null
    )`,
    {
      column: "result",
      open: "pending",
      columns: [
        "result",
        "status",
        "code",
        "message",
        "answered_at_ms",
        "answer_date_ms",
        "made_ids",
      ],
    },
  ),
  `create unique index sends_of_attempt on sends (attempt_id, send_no)`,
  `create index sends_of_subject on sends (business_id, subject, seq, send_no)`,
  `create index sends_of_owner on sends (owner)`,
  `create table late_answers (
    late_answer_id text primary key not null,
    send_id text not null,
    business_id text not null,
    subject text not null,
    result text not null,
    status bigint,
    code text,
    made_ids text not null,
    at_ms bigint not null
  )`,
  `create index late_answers_of_subject on late_answers (business_id, subject)`,
  ...ddl.appendOnly("late_answers"),
  `create table looks (
    look_id text primary key not null,
    business_id text not null,
    subject text not null,
    begun_at_ms bigint not null,
    begun_service_ms bigint,
    is_whole bigint not null,
    shown_ids text not null,
    recorded_at_ms bigint not null
  )`,
  `create index looks_of_subject on looks (business_id, subject, begun_at_ms)`,
  ...ddl.appendOnly("looks"),
  `create table adoptions (
    business_id text not null,
    found_id text not null,
    attempt_id text not null,
    subject text not null,
    operation text not null,
    at_ms bigint not null,
    primary key (business_id, found_id, attempt_id)
  )`,
  // One payment, or transaction, is made by one attempt at most; a cancel changes what another made.
  `create unique index adoptions_of_made on adoptions (business_id, found_id)
    where operation <> 'cancel'`,
  `create index adoptions_of_subject on adoptions (business_id, subject)`,
  ...ddl.appendOnly("adoptions"),
  // An index of what the rows above say, kept with each of them: who may still be paid.
  `create table open_subjects (
    business_id text not null,
    subject text not null,
    operation text not null,
    owner text not null,
    since_ms bigint not null,
    primary key (business_id, subject)
  )`,
];
