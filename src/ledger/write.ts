import { randomUUID } from "node:crypto";
import { type RawBuilder, sql, type SqlBool, type Transaction } from "kysely";
import { chunks } from "../store/sql/db.ts";
import { isIn } from "../store/sql/is-in.ts";
import { idsIn, rowsAs } from "../store/sql/rows-as.ts";
import { TABLES, type Tables } from "../store/schema/tables.ts";
import { OPEN_RESULTS } from "../store/schema/ledger.ts";
import { mayStillPay } from "./derive.ts";
import type { OperationName, Reading, SubjectFacts, Terms } from "./facts.ts";
import { idempotencyKey } from "./key.ts";
import { loadSubjects } from "./rows.ts";
import { asColumns } from "../store/sql/as-record.ts";

/** A send that the gate has let through. */
export interface NewSend {
  readonly businessId: string;
  readonly subject: string;
  readonly operation: OperationName;
  readonly seq: number;
  /** Id of the key's row; undefined if this is the key's first send. */
  readonly attemptId: string | undefined;
  readonly sendNo: number;
  readonly terms: Terms;
  readonly baseline: readonly string[];
  readonly sentBy: string;
  /** Database clock. */
  readonly openedAtMs: number;
  readonly openedServiceMs: number | null;
  readonly leaveByMs: number;
}

/** A send written to the ledger; its bytes may leave until `leaveByMs`. */
export interface OpenedSend extends NewSend {
  readonly attemptId: string;
  readonly sendId: string;
  readonly idempotencyKey: string;
}

/**
 * Writes the sends that are about to leave: nothing is sent that isn't written here (rule 1).
 *
 * If two processes were let through with the same number, their inserts collide: one is written,
 * the other's transaction fails and sends nothing.
 */
export async function insertSends(
  trx: Transaction<Tables>,
  sends: readonly NewSend[],
): Promise<OpenedSend[]> {
  const opened = sends.map((send): OpenedSend => {
    const { businessId, subject, seq } = send;
    return {
      ...send,
      attemptId: send.attemptId ?? randomUUID(),
      sendId: randomUUID(),
      idempotencyKey: idempotencyKey(businessId, subject, seq),
    };
  });
  const first = opened.filter((_, index) => sends[index]?.attemptId === undefined);
  await insertAttempts(trx, first);
  for (const some of chunks(opened)) {
    const rows = some.map(({ terms, ...send }) => ({ ...send, ...terms, ...PENDING }));
    await insertRows(trx, "sends", rows);
  }
  await markOpen(trx, opened);
  return opened;
}

/** Writes an attempt that this store never sent: a lookup found its effect. */
export async function insertFoundAttempt(
  trx: Transaction<Tables>,
  found: Pick<OpenedSend, "businessId" | "subject" | "operation" | "seq"> & {
    readonly atMs: number;
  },
): Promise<string> {
  const attemptId = randomUUID();
  const key = idempotencyKey(found.businessId, found.subject, found.seq);
  await insertAttempts(trx, [{ ...found, attemptId, idempotencyKey: key, openedAtMs: found.atMs }]);
  return attemptId;
}

async function insertAttempts(
  trx: Transaction<Tables>,
  attempts: readonly Pick<
    OpenedSend,
    "attemptId" | "businessId" | "subject" | "seq" | "operation" | "idempotencyKey" | "openedAtMs"
  >[],
): Promise<void> {
  for (const some of chunks(attempts)) {
    const rows = some.map(({ attemptId, businessId, subject, seq, operation, ...attempt }) => ({
      attemptId,
      businessId,
      subject,
      seq,
      operation,
      idempotencyKey: attempt.idempotencyKey,
      createdAtMs: attempt.openedAtMs,
    }));
    await insertRows(trx, "attempts", rows);
  }
}

async function insertRows(
  trx: Transaction<Tables>,
  table: "attempts" | "sends",
  records: readonly object[],
): Promise<void> {
  const columns = sql.join(Object.keys(TABLES[table].columns).map((column) => sql.ref(column)));
  const added = rowsAs("added", table, records);
  await sql`insert into ${sql.table(table)} (${columns}) select ${columns} from ${added}`.execute(
    trx,
  );
}

const PENDING = {
  result: "pending",
  status: null,
  code: null,
  message: null,
  answeredAtMs: null,
  answerDateMs: null,
  madeIds: [],
} as const;

/** Adds subjects to the index of those with a send that may still take effect. */
export async function markOpen(
  trx: Transaction<Tables>,
  sends: readonly OpenedSend[],
): Promise<void> {
  for (const some of chunks(sends)) {
    const rows = rowsAs(
      "added",
      "open_subjects",
      some.map(({ businessId, subject, operation, terms: { owner }, openedAtMs: sinceMs }) => {
        return { businessId, subject, operation, owner, sinceMs };
      }),
    );
    // "where true" keeps SQLite from reading "on conflict" as a join condition.
    await sql`insert into open_subjects (business_id, subject, operation, owner, since_ms)
      select business_id, subject, operation, owner, since_ms from ${rows} where true
      on conflict (business_id, subject) do update set owner = excluded.owner`.execute(trx);
  }
}

/** A lookup of a subject with an open send. */
export interface NewLookup {
  readonly subject: string;
  readonly reading: Reading;
}

/** Writes lookups: only a written lookup lets the next key follow. @returns their ids, in order */
export async function insertLookups(
  trx: Transaction<Tables>,
  businessId: string,
  lookups: readonly NewLookup[],
  nowMs: number,
): Promise<string[]> {
  const identified = lookups.map((each) => ({ ...each, lookupId: randomUUID() }));
  for (const some of chunks(identified)) {
    await trx
      .insertInto("lookups")
      .values(
        some.map(({ lookupId, subject, reading }) => ({
          lookup_id: lookupId,
          business_id: businessId,
          subject,
          begun_at_ms: Math.floor(reading.begunAtMs),
          begun_service_ms:
            reading.begunServiceMs === null ? null : Math.floor(reading.begunServiceMs),
          is_whole: reading.isWhole ? 1 : 0,
          shown_ids: JSON.stringify(reading.shownIds),
          recorded_at_ms: nowMs,
        })),
      )
      .execute();
  }
  return identified.map(({ lookupId }) => lookupId);
}

/** Records what a lookup found as the effect of an attempt (rule 9). */
export async function insertAdoptions(
  trx: Transaction<Tables>,
  adopted: {
    readonly businessId: string;
    readonly subject: string;
    readonly attemptId: string;
    readonly operation: OperationName;
    readonly ids: readonly string[];
    readonly atMs: number;
  },
): Promise<void> {
  const { businessId, subject, attemptId, operation, atMs } = adopted;
  await trx
    .insertInto("adoptions")
    .values(
      adopted.ids.map((foundId) =>
        asColumns({ businessId, foundId, attemptId, subject, operation, atMs }),
      ),
    )
    .execute();
}

/** Removes subjects from the index if neither a result nor a late response leaves a send open. */
export async function closeAnswered(
  trx: Transaction<Tables>,
  businessId: string,
  subjects: readonly string[],
): Promise<void> {
  const isClosed = sql<SqlBool>`${noneIsOpen("sends")} and ${noneIsOpen("late_answers")}`;
  await close(trx, businessId, subjects, isClosed);
}

function noneIsOpen(table: "sends" | "late_answers"): RawBuilder<SqlBool> {
  return sql<SqlBool>`not exists (select 1 from ${sql.table(table)} as heard
    where heard.business_id = open_subjects.business_id
      and heard.subject = open_subjects.subject and ${isIn("heard.result", OPEN_RESULTS)})`;
}

/** Does what `closeAnswered` does, but also accepts a conclusive lookup in place of a response. */
export async function closeLookedUp(
  trx: Transaction<Tables>,
  businessId: string,
  subjects: readonly string[],
  sandbox: boolean,
): Promise<void> {
  const facts = await loadSubjects(trx, businessId, subjects);
  const isClosed = (of: SubjectFacts): boolean => !mayStillPay(of, { sandbox });
  const closed = [...facts].filter(([, of]) => isClosed(of)).map(([subject]) => subject);
  await close(trx, businessId, closed);
}

/** Removes subjects from the index if the condition holds for them. */
export async function close(
  trx: Transaction<Tables>,
  businessId: string,
  subjects: readonly string[],
  isClosed: RawBuilder<SqlBool> = sql<SqlBool>`true`,
): Promise<void> {
  for (const some of chunks(subjects)) {
    await trx
      .deleteFrom("open_subjects")
      .where("business_id", "=", businessId)
      .where("subject", "in", idsIn(some))
      .where(isClosed)
      .execute();
  }
}
