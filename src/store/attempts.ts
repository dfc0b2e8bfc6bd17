import { type Selectable, sql } from "kysely";
import type { Attempt, AttemptOperation, AttemptSend, AttemptState } from "../contracts/attempt.ts";
import { chunks, type Db } from "./db.ts";
import { idsIn, type Kinds, rowsAs } from "./many.ts";
import type { AttemptsTable } from "./payment-tables.ts";

/**
 * Writes a frozen request before its first send.
 *
 * The unique index on live attempts makes a second one for the same payable impossible, in any
 * run and any process: the insert then fails and nothing is sent.
 */
export async function insertAttempt(db: Db, attempt: Attempt, nowMs: number): Promise<void> {
  await insertAttempts(db, [attempt], nowMs);
}

/** As `insertAttempt`, for many payables in few statements: all of them, or none. */
export async function insertAttempts(
  db: Db,
  attempts: readonly Attempt[],
  nowMs: number,
): Promise<void> {
  for (const some of chunks(attempts)) {
    const rows = rowsAs(
      "frozen",
      KINDS,
      some.map((attempt) => rowOf(attempt, nowMs)),
    );
    const columns = sql.join(Object.keys(KINDS).map((column) => sql.ref(column)));
    await sql`insert into attempts (${columns}) select ${columns} from ${rows}`.execute(db);
  }
}

const KINDS: Kinds<AttemptsTable> = {
  attempt_id: "text",
  business_id: "text",
  subject: "text",
  seq: "integer",
  operation: "text",
  method: "text",
  path: "text",
  body: "text",
  idempotency_key: "text",
  owner: "text",
  line_hash: "text",
  contact_id: "text",
  source_id: "text",
  rail: "text",
  amount_cents: "integer",
  execution_date: "text",
  known_payment_ids: "text",
  sends: "text",
  state: "text",
  first_sent_at_ms: "integer",
  last_sent_at_ms: "integer",
  gave_up_at_ms: "integer",
  looked_up_at_ms: "integer",
  payment_ids: "text",
  answer: "text",
  created_at_ms: "integer",
  updated_at_ms: "integer",
};

function rowOf(attempt: Attempt, nowMs: number): AttemptsTable {
  return {
    attempt_id: attempt.attemptId,
    business_id: attempt.businessId,
    subject: attempt.subject,
    seq: attempt.seq,
    operation: attempt.operation,
    method: attempt.method,
    path: attempt.path,
    body: attempt.body,
    idempotency_key: attempt.idempotencyKey,
    owner: attempt.owner,
    line_hash: attempt.lineHash,
    contact_id: attempt.contactId,
    source_id: attempt.sourceId,
    rail: attempt.rail,
    amount_cents: attempt.amountCents,
    execution_date: attempt.executionDate,
    known_payment_ids: JSON.stringify(attempt.knownPaymentIds),
    sends: JSON.stringify(attempt.sends),
    state: attempt.state,
    first_sent_at_ms: attempt.firstSentAtMs,
    last_sent_at_ms: attempt.lastSentAtMs,
    gave_up_at_ms: attempt.gaveUpAtMs,
    looked_up_at_ms: attempt.lookedUpAtMs,
    payment_ids: JSON.stringify(attempt.paymentIds),
    answer: attempt.answer,
    created_at_ms: nowMs,
    updated_at_ms: nowMs,
  };
}

/** The payables, out of these, for which something was sent or frozen before, however it ended. */
export async function subjectsWithAttempts(
  db: Db,
  businessId: string,
  subjects: readonly string[],
): Promise<Set<string>> {
  const found = new Set<string>();
  for (const some of chunks(subjects)) {
    const rows = await db
      .selectFrom("attempts")
      .select("subject")
      .distinct()
      .where("business_id", "=", businessId)
      .where("subject", "in", idsIn(some))
      .execute();
    for (const row of rows) found.add(row.subject);
  }
  return found;
}

/**
 * Makes a released attempt live again under its own key, with what is to be sent now.
 *
 * Its key never had a final answer, so another one would not be safer, only harder to follow.
 */
export async function reviveAttempt(db: Db, attempt: Attempt, nowMs: number): Promise<void> {
  const result = await db
    .updateTable("attempts")
    .set({
      operation: attempt.operation,
      path: attempt.path,
      body: attempt.body,
      owner: attempt.owner,
      line_hash: attempt.lineHash,
      contact_id: attempt.contactId,
      source_id: attempt.sourceId,
      rail: attempt.rail,
      amount_cents: attempt.amountCents,
      execution_date: attempt.executionDate,
      known_payment_ids: JSON.stringify(attempt.knownPaymentIds),
      sends: JSON.stringify(attempt.sends),
      state: "live",
      last_sent_at_ms: attempt.lastSentAtMs,
      updated_at_ms: nowMs,
    })
    .where("attempt_id", "=", attempt.attemptId)
    .where("state", "=", "released")
    .executeTakeFirst();
  if (result.numUpdatedRows === 0n) {
    throw new Error(`attempt ${attempt.attemptId} is not released any more`);
  }
}

/** The changes an attempt may see after it was frozen; its key and identity never change. */
export interface AttemptChange {
  readonly state?: AttemptState;
  readonly sends?: readonly AttemptSend[];
  readonly firstSentAtMs?: number;
  readonly lastSentAtMs?: number;
  readonly gaveUpAtMs?: number;
  readonly lookedUpAtMs?: number;
  readonly paymentIds?: readonly string[];
  readonly answer?: string;
  /** Frozen anew under the same key: only while no send was stored or is in flight. */
  readonly body?: string;
  readonly executionDate?: string;
  readonly knownPaymentIds?: readonly string[];
  readonly owner?: string;
}

/**
 * Changes a live attempt.
 *
 * @returns false where the attempt is not live any more: its final answer stands, and a late
 * result of another process never overwrites it.
 */
export async function changeLiveAttempt(
  db: Db,
  attemptId: string,
  change: AttemptChange,
  nowMs: number,
): Promise<boolean> {
  const result = await db
    .updateTable("attempts")
    .set({
      updated_at_ms: nowMs,
      ...(change.state === undefined ? {} : { state: change.state }),
      ...(change.sends === undefined ? {} : { sends: JSON.stringify(change.sends) }),
      ...(change.firstSentAtMs === undefined ? {} : { first_sent_at_ms: change.firstSentAtMs }),
      ...(change.lastSentAtMs === undefined ? {} : { last_sent_at_ms: change.lastSentAtMs }),
      ...(change.gaveUpAtMs === undefined ? {} : { gave_up_at_ms: change.gaveUpAtMs }),
      ...(change.lookedUpAtMs === undefined ? {} : { looked_up_at_ms: change.lookedUpAtMs }),
      ...(change.paymentIds === undefined
        ? {}
        : { payment_ids: JSON.stringify(change.paymentIds) }),
      ...(change.answer === undefined ? {} : { answer: change.answer }),
      ...(change.body === undefined ? {} : { body: change.body }),
      ...(change.executionDate === undefined ? {} : { execution_date: change.executionDate }),
      ...(change.knownPaymentIds === undefined
        ? {}
        : { known_payment_ids: JSON.stringify(change.knownPaymentIds) }),
      ...(change.owner === undefined ? {} : { owner: change.owner }),
    })
    .where("attempt_id", "=", attemptId)
    .where("state", "=", "live")
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

/** The one attempt of a payable whose effect is still open, or undefined. */
export async function liveAttempt(
  db: Db,
  businessId: string,
  subject: string,
): Promise<Attempt | undefined> {
  const row = await db
    .selectFrom("attempts")
    .selectAll()
    .where("business_id", "=", businessId)
    .where("subject", "=", subject)
    .where("state", "=", "live")
    .executeTakeFirst();
  return row === undefined ? undefined : toAttempt(row);
}

/** All attempts of a payable, first to last. */
export async function attemptsOf(db: Db, businessId: string, subject: string): Promise<Attempt[]> {
  const rows = await db
    .selectFrom("attempts")
    .selectAll()
    .where("business_id", "=", businessId)
    .where("subject", "=", subject)
    .orderBy("seq")
    .execute();
  return rows.map(toAttempt);
}

/** Live attempts of many payables at once, by payable id. */
export async function liveAttemptsOf(
  db: Db,
  businessId: string,
  subjects: readonly string[],
): Promise<Map<string, Attempt>> {
  const found = new Map<string, Attempt>();
  for (const some of chunks(subjects)) {
    const rows = await db
      .selectFrom("attempts")
      .selectAll()
      .where("business_id", "=", businessId)
      .where("state", "=", "live")
      .where("subject", "in", idsIn(some))
      .execute();
    for (const row of rows) found.set(row.subject, toAttempt(row));
  }
  return found;
}

function operationOf(text: string): AttemptOperation {
  const others = ["retry-payment", "cancel", "deposit"] as const;
  return others.find((operation) => operation === text) ?? "pay";
}

function toAttempt(row: Selectable<AttemptsTable>): Attempt {
  return {
    attemptId: row.attempt_id,
    businessId: row.business_id,
    subject: row.subject,
    seq: row.seq,
    operation: operationOf(row.operation),
    method: "POST",
    path: row.path,
    body: row.body,
    idempotencyKey: row.idempotency_key,
    owner: row.owner,
    lineHash: row.line_hash,
    contactId: row.contact_id,
    sourceId: row.source_id,
    rail: row.rail,
    amountCents: row.amount_cents,
    executionDate: row.execution_date,
    knownPaymentIds: JSON.parse(row.known_payment_ids) as string[],
    sends: JSON.parse(row.sends) as AttemptSend[],
    state: row.state as AttemptState,
    firstSentAtMs: row.first_sent_at_ms,
    lastSentAtMs: row.last_sent_at_ms,
    gaveUpAtMs: row.gave_up_at_ms,
    lookedUpAtMs: row.looked_up_at_ms,
    paymentIds: JSON.parse(row.payment_ids) as string[],
    answer: row.answer,
  };
}
