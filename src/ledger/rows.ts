import type { Selectable } from "kysely";
import { chunks, type Db } from "../store/db.ts";
import type { SendsTable } from "../store/ledger-tables.ts";
import { idsIn } from "../store/many.ts";
import { lossNoticed } from "../store/sweep-behind.ts";
import type {
  KeyedAttempt,
  LateAnswer,
  Look,
  OperationName,
  Send,
  SendResult,
  SubjectFacts,
} from "./facts.ts";

/** Of a subject that nothing was ever sent for. */
const NOTHING: SubjectFacts = { attempts: [], looks: [], othersIds: [], restored: null };

/** Everything that the ledger has of one subject. */
export async function subjectFacts(
  db: Db,
  businessId: string,
  subject: string,
): Promise<SubjectFacts> {
  return (await loadSubjects(db, businessId, [subject])).get(subject) ?? NOTHING;
}

/** As `subjectFacts`, for many subjects in a few statements; each of them is in the map. */
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
    const looks = tried.length === 0 ? new Map() : await looksOf(db, businessId, tried);
    const isDeposit = [...attempts.values()].some((of) => of[0]?.operation === "deposit");
    const deposits = isDeposit ? await depositIds(db, businessId) : [];
    for (const subject of some) {
      facts.set(subject, {
        attempts: attempts.get(subject) ?? [],
        looks: looks.get(subject) ?? [],
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
  const of = <T extends { readonly subject: string }>(rows: readonly T[]) =>
    Map.groupBy(rows, ({ subject }) => subject);
  const rows = await db
    .selectFrom("attempts")
    .selectAll()
    .where("business_id", "=", businessId)
    .where("subject", "in", idsIn(subjects))
    .orderBy("seq")
    .execute();
  const found = new Map<string, KeyedAttempt[]>();
  if (rows.length === 0) return found;
  const tried = [...new Set(rows.map(({ subject }) => subject))];
  const sends = await db
    .selectFrom("sends")
    .selectAll()
    .where("business_id", "=", businessId)
    .where("subject", "in", idsIn(tried))
    .orderBy("seq")
    .orderBy("send_no")
    .execute();
  const late = await db
    .selectFrom("late_answers")
    .selectAll()
    .where("business_id", "=", businessId)
    .where("subject", "in", idsIn(tried))
    .orderBy("at_ms")
    .execute();
  const adopted = await db
    .selectFrom("adoptions")
    .selectAll()
    .where("business_id", "=", businessId)
    .where("subject", "in", idsIn(tried))
    .execute();
  const sendsOf = Map.groupBy(sends, (row) => row.attempt_id);
  for (const [subject, ofSubject] of of(rows)) {
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

async function looksOf(
  db: Db,
  businessId: string,
  subjects: readonly string[],
): Promise<Map<string, Look[]>> {
  const rows = await db
    .selectFrom("looks")
    .selectAll()
    .where("business_id", "=", businessId)
    .where("subject", "in", idsIn(subjects))
    .orderBy("begun_at_ms")
    .execute();
  const found = new Map<string, Look[]>();
  for (const [subject, of] of Map.groupBy(rows, (row) => row.subject)) {
    const looks = of.map((row) => ({
      begunAtMs: row.begun_at_ms,
      begunServiceMs: row.begun_service_ms,
      isWhole: row.is_whole === 1,
      shownIds: JSON.parse(row.shown_ids) as string[],
    }));
    found.set(subject, looks);
  }
  return found;
}

/** What deposits have made or taken for theirs: the list of transactions doesn't say whose one is. */
async function depositIds(
  db: Db,
  businessId: string,
): Promise<{ readonly subject: string; readonly id: string }[]> {
  const made = await db
    .selectFrom("sends")
    .innerJoin("attempts", "attempts.attempt_id", "sends.attempt_id")
    .select(["sends.subject", "sends.made_ids"])
    .where("attempts.business_id", "=", businessId)
    .where("attempts.operation", "=", "deposit")
    .where("sends.made_ids", "!=", "[]")
    .execute();
  const adopted = await db
    .selectFrom("adoptions")
    .innerJoin("attempts", "attempts.attempt_id", "adoptions.attempt_id")
    .select(["adoptions.subject", "adoptions.found_id"])
    .where("attempts.business_id", "=", businessId)
    .where("attempts.operation", "=", "deposit")
    .execute();
  return [
    ...made.flatMap((row) =>
      (JSON.parse(row.made_ids) as string[]).map((id) => ({ subject: row.subject, id })),
    ),
    ...adopted.map((row) => ({ subject: row.subject, id: row.found_id })),
  ];
}

const OPERATIONS: readonly OperationName[] = ["pay", "cancel", "deposit"];

function operationOf(text: string): OperationName {
  const found = OPERATIONS.find((name) => name === text);
  if (found === undefined) throw new Error(`the ledger knows no operation “${text}”`);
  return found;
}

function toSend(row: Selectable<SendsTable>): Send {
  return {
    sendId: row.send_id,
    sendNo: row.send_no,
    owner: row.owner,
    sentBy: row.sent_by,
    path: row.path,
    body: row.body,
    approvedHash: row.approved_hash,
    contactId: row.contact_id,
    sourceId: row.source_id,
    rail: row.rail,
    amountCents: row.amount_cents,
    executionDate: row.execution_date,
    baseline: JSON.parse(row.baseline) as string[],
    openedAtMs: row.opened_at_ms,
    openedServiceMs: row.opened_service_ms,
    leaveByMs: row.leave_by_ms,
    result: row.result as SendResult,
    status: row.status,
    code: row.code,
    message: row.message,
    answeredAtMs: row.answered_at_ms,
    answerDateMs: row.answer_date_ms,
    madeIds: JSON.parse(row.made_ids) as string[],
  };
}

function toLateAnswer(row: {
  readonly send_id: string;
  readonly result: string;
  readonly made_ids: string;
}): LateAnswer {
  return {
    sendId: row.send_id,
    result: row.result as SendResult,
    madeIds: JSON.parse(row.made_ids) as string[],
  };
}
