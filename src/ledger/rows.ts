import { type Selectable, sql } from "kysely";
import { readerOf } from "../store/sql/as-record.ts";
import { chunks, type Db } from "../store/sql/db.ts";
import { idsIn } from "../store/sql/rows-as.ts";
import { lossNoticed } from "../store/janitor/behind.ts";
import type { Row, Tables } from "../store/schema/tables.ts";
import { madeIdsOf } from "./derive.ts";
import type {
  KeyedAttempt,
  LateAnswer,
  Lookup,
  OperationName,
  Send,
  SendResult,
  SubjectFacts,
} from "./facts.ts";

/** Facts of a subject without any send. */
const NOTHING: SubjectFacts = { attempts: [], lookups: [], othersIds: [], restored: null };

/** Reads all rows of the ledger about one subject. */
export async function subjectFacts(
  db: Db,
  businessId: string,
  subject: string,
): Promise<SubjectFacts> {
  return (await loadSubjects(db, businessId, [subject])).get(subject) ?? NOTHING;
}

/** Reads the facts of many subjects in a few statements. The map contains every one of them. */
export async function loadSubjects(
  db: Db,
  businessId: string,
  subjects: readonly string[],
): Promise<Map<string, SubjectFacts>> {
  const restored = await lossNoticed(db, businessId);
  const facts = new Map<string, SubjectFacts>();
  for (const some of chunks(subjects)) {
    const attempts = await attemptsOfSubjects(db, businessId, some);
    const tried = [...attempts.keys()];
    const lookups = tried.length === 0 ? new Map() : await lookupsOf(db, businessId, tried);
    const isDeposit = [...attempts.values()].some((of) => of[0]?.operation === "deposit");
    const deposits = isDeposit ? await depositIds(db, businessId) : [];
    for (const subject of some) {
      facts.set(subject, {
        attempts: attempts.get(subject) ?? [],
        lookups: lookups.get(subject) ?? [],
        othersIds: deposits.filter((each) => each.subject !== subject).map(({ id }) => id),
        restored,
      });
    }
  }
  return facts;
}

async function attemptsOfSubjects(
  db: Db,
  businessId: string,
  subjects: readonly string[],
): Promise<Map<string, KeyedAttempt[]>> {
  const rows = await rowsOf(db, "attempts", businessId, subjects, ["seq"]);
  const tried = [...new Set(rows.map(({ subject }) => subject))];
  if (tried.length === 0) return new Map();
  const sends = await rowsOf(db, "sends", businessId, tried, ["seq", "send_no"]);
  const late = await rowsOf(db, "late_answers", businessId, tried, ["at_ms"]);
  const adopted = await rowsOf(db, "adoptions", businessId, tried, ["at_ms", "found_id"]);
  const sendsOf = Map.groupBy(sends, (row) => row.attempt_id);
  const found = new Map<string, KeyedAttempt[]>();
  for (const [subject, ofSubject] of Map.groupBy(rows, (row) => row.subject)) {
    const lateHere = late.filter((row) => row.subject === subject);
    const attempts = ofSubject.map((row): KeyedAttempt => {
      const mine = (sendsOf.get(row.attempt_id) ?? []).map(toSend);
      const ids = new Set(mine.map(({ sendId }) => sendId));
      return {
        attemptId: row.attempt_id,
        seq: row.seq,
        operation: operationOf(row.operation),
        idempotencyKey: row.idempotency_key,
        createdAtMs: row.created_at_ms,
        sends: mine,
        lateAnswers: lateHere.filter(({ send_id: id }) => ids.has(id)).map(toLateAnswer),
        adoptedIds: adopted
          .filter(({ attempt_id: id }) => id === row.attempt_id)
          .map(({ found_id: id }) => id),
      };
    });
    found.set(subject, attempts);
  }
  return found;
}

async function lookupsOf(
  db: Db,
  businessId: string,
  subjects: readonly string[],
): Promise<Map<string, Lookup[]>> {
  const rows = await rowsOf(db, "lookups", businessId, subjects, ["begun_at_ms"]);
  const found = new Map<string, Lookup[]>();
  for (const [subject, of] of Map.groupBy(rows, (row) => row.subject)) {
    found.set(subject, of.map(readerOf("lookups")));
  }
  return found;
}

/** Reads the rows of one of the ledger's tables about these subjects, first to last. */
async function rowsOf<
  Table extends "attempts" | "sends" | "late_answers" | "lookups" | "adoptions",
>(
  db: Db,
  table: Table,
  businessId: string,
  subjects: readonly string[],
  inOrderOf: readonly (keyof Tables[Table] & string)[],
): Promise<Selectable<Tables[Table]>[]> {
  const order = sql.join(inOrderOf.map((column) => sql.ref(column)));
  const { rows } = await sql<Selectable<Tables[Table]>>`select * from ${sql.table(table)}
    where business_id = ${businessId} and subject in ${idsIn(subjects)}
    order by ${order}`.execute(db);
  return rows;
}

/**
 * Reads the ids that deposits made or adopted. The service's list of transactions doesn't say which
 * request made which.
 */
async function depositIds(
  db: Db,
  businessId: string,
): Promise<{ readonly subject: string; readonly id: string }[]> {
  const rows = await db
    .selectFrom("attempts")
    .select("subject")
    .distinct()
    .where("business_id", "=", businessId)
    .where("operation", "=", "deposit")
    .execute();
  const subjects = rows.map(({ subject }) => subject);
  const deposits = await attemptsOfSubjects(db, businessId, subjects);
  return [...deposits].flatMap(([subject, attempts]) =>
    attempts.flatMap(madeIdsOf).map((id) => ({ subject, id })),
  );
}

const OPERATIONS: readonly OperationName[] = ["pay", "cancel", "deposit"];

function operationOf(text: string): OperationName {
  const found = OPERATIONS.find((name) => name === text);
  if (found === undefined) throw new Error(`the ledger knows no operation “${text}”`);
  return found;
}

const readSend = readerOf("sends");

function toSend(row: Row<"sends">): Send {
  return { ...readSend(row), result: row.result as SendResult };
}

const readLateAnswer = readerOf("late_answers");

function toLateAnswer(row: Row<"late_answers">): LateAnswer {
  return { ...readLateAnswer(row), result: row.result as SendResult };
}

/**
 * Returns the subject for which a lookup adopted a payment or transaction, cancels excluded;
 * undefined if no lookup did. It doesn't find what only a response named.
 */
export async function subjectThatMade(
  db: Db,
  businessId: string,
  foundId: string,
): Promise<string | undefined> {
  const row = await db
    .selectFrom("adoptions")
    .select("subject")
    .where("business_id", "=", businessId)
    .where("found_id", "=", foundId)
    .where("operation", "!=", "cancel")
    .executeTakeFirst();
  return row?.subject;
}
