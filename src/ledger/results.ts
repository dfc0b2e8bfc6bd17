import { lateAnswer, requestAnswered } from "../domain/facts/requests.ts";
import { record } from "../store/facts/record.ts";
import { randomUUID } from "node:crypto";
import { sql, type Transaction } from "kysely";
import { PAYRUN, byWorkflow } from "../contracts/authors.ts";
import { databaseNowMs } from "../store/sql/database-clock.ts";
import { chunks } from "../store/sql/db.ts";
import { findOne } from "../store/sql/records.ts";
import { createHold } from "../store/holds/holds.ts";
import { rowsAs } from "../store/sql/rows-as.ts";
import type { Tables } from "../store/schema/tables.ts";
import type { JudgedAnswer } from "./answers.ts";
import { isOpen } from "./derive.ts";
import { closeAnswered, markOpen, type OpenedSend } from "./write.ts";
import { asColumns } from "../store/sql/as-record.ts";

/** A send's result, as its sender judged it. */
export type SendOutcome = Omit<JudgedAnswer, "said"> & { readonly send: OpenedSend };

/**
 * Writes the result of each send once (rule 1): one update, `where result = 'pending'`.
 *
 * If another result is stored already, this one is kept beside it, the payable is put on hold if
 * the send was to pay one, and people are notified: only a send's own sender writes its result, so
 * this should be impossible.
 */
export async function recordResults(
  trx: Transaction<Tables>,
  businessId: string,
  outcomes: readonly SendOutcome[],
): Promise<void> {
  if (outcomes.length === 0) return;
  const written = new Set<string>();
  for (const some of chunks(outcomes)) {
    const rows = rowsAs(
      "answers",
      "sends",
      some.map(({ send, result, status, code, message, answerDateMs, madeIds }) => {
        return { ...placeOf(send), result, status, code, message, answerDateMs, madeIds };
      }),
    );
    const { rows: found } = await sql<{ send_id: string }>`
      update sends set
        result = answers.result, status = answers.status, code = answers.code,
        message = answers.message, answer_date_ms = answers.answer_date_ms,
        made_ids = answers.made_ids, answered_at_ms = payrun_now_ms()
      from ${rows}
      where sends.business_id = answers.business_id and sends.subject = answers.subject
        and sends.seq = answers.seq and sends.send_no = answers.send_no
        and sends.send_id = answers.send_id and sends.result = 'pending'
      returning sends.send_id`.execute(trx);
    for (const row of found) written.add(row.send_id);
  }
  for (const outcome of outcomes) {
    if (!written.has(outcome.send.sendId)) await recordLate(trx, outcome);
    // The trail records an applied payment with its line.
    else if (outcome.result !== "applied" || outcome.send.operation !== "pay") {
      await noteAnswer(trx, outcome);
    }
  }
  const subjects = outcomes.map(({ send }) => send.subject);
  await closeAnswered(trx, businessId, subjects);
}

function placeOf({ businessId, subject, seq, sendNo, sendId }: OpenedSend) {
  return { businessId, subject, seq, sendNo, sendId };
}

/** Adds an answer to the trail. */
export async function noteAnswer(
  trx: Transaction<Tables>,
  { send, result, status, code, madeIds }: SendOutcome,
): Promise<void> {
  const { attemptId, seq, sendNo, businessId, subject, terms } = send;
  const head = { businessId, nowMs: Date.now(), by: byWorkflow(terms.owner), subject };
  const answer = { attemptId, seq, send: sendNo, result, status, code, madeIds };
  await record(trx, requestAnswered(head, answer));
}

async function recordLate(trx: Transaction<Tables>, outcome: SendOutcome): Promise<void> {
  const { send, result, status, code, madeIds } = outcome;
  const { businessId, subject, sendId } = send;
  const stored = await findOne(trx, "sends", placeOf(send));
  // The sender repeats a commit that succeeded without confirmation.
  const isSame =
    stored?.result === result &&
    stored.code === code &&
    JSON.stringify(stored.madeIds) === JSON.stringify(madeIds);
  if (isSame) return;
  const nowMs = await databaseNowMs(trx);
  const lateAnswerId = randomUUID();
  await trx
    .insertInto("late_answers")
    .values(
      asColumns({
        lateAnswerId,
        sendId,
        businessId,
        subject,
        atMs: nowMs,
        result,
        status,
        code,
        madeIds,
      }),
    )
    .execute();
  // A closed send may take effect after all.
  if (isOpen({ result })) await markOpen(trx, [send]);
  const had = stored?.result ?? "no row";
  const reason = `A second answer arrived for one request: the result on record is ${had}, the new one ${result}.`;
  if (send.operation === "pay") {
    await createHold(trx, {
      businessId,
      scope: "payable",
      value: subject,
      reason,
      author: PAYRUN,
      nowMs,
    });
  }
  const head = { businessId, nowMs, by: byWorkflow(send.terms.owner), subject };
  const late = { lateAnswerId, sendId, had, result, code, madeIds };
  await record(trx, lateAnswer(head, late, { because: reason }));
}
