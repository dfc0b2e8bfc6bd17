import { PeopleFacts } from "./people-facts.ts";
import { textOf } from "./store-reader.ts";

const ENDED: readonly string[] = [
  "completed",
  "completed-with-exceptions",
  "rejected",
  "expired",
  "cancelled",
  "failed",
];

export interface LineFact {
  readonly runId: string;
  readonly payableId: string;
  readonly state: string;
  readonly reason: string | null;
  readonly amountCents: number;
  /** Since when it has been backing off. */
  readonly backOffSinceMs: number | null;
}

/** One row of the ledger's sends. */
export interface SendRow {
  readonly sendId: string;
  readonly subject: string;
  readonly key: string;
  readonly seq: number;
  readonly sendNo: number;
  readonly path: string;
  readonly body: string;
  readonly openedMs: number;
  readonly leaveByMs: number;
  readonly result: string;
  readonly status: number | null;
  readonly code: string | null;
  /** Id of the workflow that it was sent for. */
  readonly owner: string;
  readonly approvedHash: string;
  /** Ids that existed before its key's first send. */
  readonly baseline: readonly string[];
  readonly answeredMs: number | null;
  readonly madeIds: readonly string[];
  /** Ids that lookups have adopted as the effect of its attempt. */
  readonly adoptedIds: readonly string[];
}

/** A payment that the gate has let through. */
export interface PaySend {
  readonly rowNo: number;
  readonly subject: string;
  readonly runId: string;
  readonly contactId: string;
  readonly amountCents: number;
  readonly executionDate: string;
}

/** A cancel that was let through and may still leave. */
interface CancelFact {
  readonly sendId: string;
  readonly subject: string;
  /** The payable whose payment it cancels; null if the service doesn't say. */
  readonly payableId: string | null;
  readonly isHeld: boolean;
}

/** A recorded lookup of a subject. */
export interface LookupRow {
  readonly begunMs: number;
  readonly recordedMs: number;
  readonly isWhole: boolean;
  readonly shownIds: readonly string[];
}

const SENDS = `select s.*, a.idempotency_key,
    (select json_group_array(found_id) from adoptions d where d.attempt_id = s.attempt_id)
      as adopted_ids
  from sends s join attempts a on a.attempt_id = s.attempt_id`;

function toSend(row: Record<string, unknown>): SendRow {
  return {
    sendId: String(row["send_id"]),
    subject: String(row["subject"]),
    key: String(row["idempotency_key"]),
    seq: Number(row["seq"]),
    sendNo: Number(row["send_no"]),
    path: String(row["path"]),
    body: String(row["body"]),
    openedMs: Number(row["opened_at_ms"]),
    leaveByMs: Number(row["leave_by_ms"]),
    result: String(row["result"]),
    status: row["status"] === null ? null : Number(row["status"]),
    code: textOf(row["code"]),
    owner: String(row["owner"]),
    approvedHash: String(row["approved_hash"]),
    baseline: idsOf(row["baseline"]),
    answeredMs: row["answered_at_ms"] === null ? null : Number(row["answered_at_ms"]),
    madeIds: idsOf(row["made_ids"]),
    adoptedIds: idsOf(row["adopted_ids"]),
  };
}

function idsOf(json: unknown): string[] {
  return JSON.parse(String(json)) as string[];
}

/** What the rules read of the engine's store: runs, lines, sends, lookups and cancels. */
export class StoreFacts extends PeopleFacts {
  /** Returns the approved cents of a payable: the sum of what each run's approved line may pay. */
  approvedCents(payableId: string): number {
    const rows = this.all(
      `select l.run_id, max(l.amount_cents) as cents from plan_lines l
        join line_approvals a on a.run_id = l.run_id and a.payable_id = l.payable_id
         and a.line_hash = l.line_hash
        where l.payable_id = ? group by l.run_id`,
      payableId,
    );
    return rows.reduce((sum, row) => sum + Number(row["cents"]), 0);
  }

  /** Returns all lines with their states. */
  lines(): LineFact[] {
    const text =
      "select run_id, payable_id, state, reason, amount_cents, back_off_since_ms from run_lines";
    return this.all(text).map((row) => ({
      amountCents: Number(row["amount_cents"]),
      runId: String(row["run_id"]),
      payableId: String(row["payable_id"]),
      state: String(row["state"]),
      reason: textOf(row["reason"]),
      backOffSinceMs: row["back_off_since_ms"] === null ? null : Number(row["back_off_since_ms"]),
    }));
  }

  /** Returns the states of a bill's lines in all runs. */
  states(payableId: string): string[] {
    return this.lines()
      .filter((line) => line.payableId === payableId)
      .map(({ state }) => state);
  }

  endedRuns(): Set<string> {
    const ended = this.runs().filter(({ phase }) => ENDED.includes(phase));
    return new Set(ended.map(({ runId }) => runId));
  }

  /** Returns the sends of a subject in order. */
  sends(subject: string): SendRow[] {
    return this.all(`${SENDS} where s.subject = ? order by s.seq, s.send_no`, subject).map(toSend);
  }

  sendsOfKey(key: string): SendRow[] {
    return this.all(`${SENDS} where a.idempotency_key = ? order by s.send_no`, key).map(toSend);
  }

  /** Returns the payments that were let through after a row of the sends, in order. */
  paysAfter(rowNo: number): PaySend[] {
    const text = `select s.rowid as row_no, s.* from sends s
      where s.rowid > ? and s.path = '/v1/payments' order by s.rowid`;
    return this.all(text, rowNo).map((row) => ({
      rowNo: Number(row["row_no"]),
      subject: String(row["subject"]),
      runId: String(row["run_id"]),
      contactId: String(row["contact_id"]),
      amountCents: Number(row["amount_cents"]),
      executionDate: String(row["execution_date"]),
    }));
  }

  /** Returns the payments that were let through before a row, and may still leave. */
  leavingBefore(rowNo: number): PaySend[] {
    const pending = this.all("select rowid as row_no from sends where result = 'pending'");
    const open = new Set(pending.map((row) => Number(row["row_no"])));
    return this.paysAfter(0).filter((send) => send.rowNo < rowNo && open.has(send.rowNo));
  }

  /** Returns the run for which a key was sent. */
  runOfKey(key: string): string {
    const text = `select s.run_id from sends s join attempts a on a.attempt_id = s.attempt_id
      where a.idempotency_key = ? limit 1`;
    return textOf(this.all(text, key)[0]?.["run_id"]) ?? "";
  }

  isClaimed(payableId: string): boolean {
    return this.all("select 1 from claims where payable_id = ?", payableId).length > 0;
  }

  /** Returns the lookups at a subject in order. */
  lookups(subject: string): LookupRow[] {
    const text = "select * from lookups where subject = ? order by begun_at_ms";
    return this.all(text, subject).map((row) => ({
      begunMs: Number(row["begun_at_ms"]),
      recordedMs: Number(row["recorded_at_ms"]),
      isWhole: row["is_whole"] === 1,
      shownIds: idsOf(row["shown_ids"]),
    }));
  }

  /** Returns bills with a send that no answer closes and that are not claimed. */
  openAndFree(): string[] {
    const text = `select distinct s.subject from sends s
      join attempts a on a.attempt_id = s.attempt_id and a.operation = 'pay'
      where s.result in ('pending', 'unknown', 'conflict', 'unconfirmed')
        and not exists (select 1 from claims c where c.payable_id = s.subject)`;
    return this.all(text).map((row) => String(row["subject"]));
  }

  /** Returns the runs whose plans have a line. */
  runsOfLine(payableId: string, lineHash: string): string[] {
    const text = "select distinct run_id from plan_lines where payable_id = ? and line_hash = ?";
    return this.all(text, payableId, lineHash).map((row) => String(row["run_id"]));
  }

  /** Returns the lines that were planned with a hash. */
  plannedAs(payableId: string, lineHash: string): { readonly amountCents: number }[] {
    const text = "select amount_cents from plan_lines where payable_id = ? and line_hash = ?";
    return this.all(text, payableId, lineHash).map((row) => ({
      amountCents: Number(row["amount_cents"]),
    }));
  }

  /** Returns the days that were planned for a line, or announced for its retry. */
  daysOf(payableId: string, lineHash: string): string[] {
    const text = `select execution_date as day from plan_lines where payable_id = ?1 and line_hash = ?2
      union select retry_on from retries where payable_id = ?1 and retry_on is not null`;
    return this.all(text, payableId, lineHash).map((row) => String(row["day"]));
  }

  /** Returns the amount of a deposit that was asked for; undefined if there is none. */
  depositCents(subject: string, hash: string): number | undefined {
    const text = "select amount_cents from top_ups where subject = ? and hash = ?";
    const [row] = this.all(text, subject, hash);
    return row === undefined ? undefined : Number(row["amount_cents"]);
  }

  /** Returns the bill whose payment a cancellation cancels; null if it names none. */
  cancelledBill(workflowId: string, paymentId: string): string | null {
    const text =
      "select payable_id from cancellation_items where workflow_id = ? and payment_id = ?";
    return textOf(this.all(text, workflowId, paymentId)[0]?.["payable_id"]);
  }

  /** Returns what people were told of requests that the gate stopped as not approved. */
  unapprovedRequests(): string[] {
    const text = "select text from notices where kind = 'not-as-approved'";
    return this.all(text).map((row) => String(row["text"]).split("\n")[0] ?? "");
  }

  /**
   * Returns bills for which an answer named payments of another amount than was sent, and of which
   * people were not notified.
   */
  wrongAnswersUntold(): string[] {
    const text = `select coalesce(json_extract(said.value, '$.payableId'), audit.subject) as about
      from audit
        join json_each(coalesce(json_extract(audit.details, '$.each'),
          json_array(json(audit.details)))) said
        join sends s on s.attempt_id = json_extract(said.value, '$.attemptId')
          and s.send_no = json_extract(said.value, '$.send')
      where audit.action = 'attempt.answered'
        and json_array_length(said.value, '$.payments') > 0
        and s.amount_cents <> (select sum(json_extract(payment.value, '$.amountCents'))
          from json_each(said.value, '$.payments') payment)
        and not exists (select 1 from notices n where n.kind = 'payment-in-doubt'
          and instr(n.data, '"' || s.subject || '"') > 0)`;
    return this.all(text).map((row) => String(row["about"]));
  }

  /** Returns answers whose send already had a result. */
  lateAnswers(): string[] {
    const text = "select distinct subject from late_answers order by subject";
    return this.all(text).map((row) => String(row["subject"]));
  }

  /**
   * Returns cancels that may still leave, and whether each bill is on hold; null if no bill is
   * known.
   */
  cancels(businessMs: number): CancelFact[] {
    const text = `select s.send_id, s.subject, i.payable_id, exists (
        select 1 from holds h where ((h.scope = 'payable' and h.value = i.payable_id)
            or (h.scope in ('contact', 'all') and h.hold_id = i.hold_id))
          and h.released_at_ms is null and (h.until_ms is null or h.until_ms > ?)) as is_held
      from sends s join cancellation_items i
        on i.workflow_id = s.owner and 'cancel/' || i.payment_id = s.subject
      where s.result = 'pending'`;
    return this.all(text, businessMs).map((row) => ({
      sendId: String(row["send_id"]),
      subject: String(row["subject"]),
      payableId: textOf(row["payable_id"]),
      isHeld: row["is_held"] === 1,
    }));
  }

  hasEvent(eventId: string): boolean {
    return this.all("select 1 from inbox where event_id = ?", eventId).length > 0;
  }

  /**
   * Returns the hash of the last entry of a business's audit trail; undefined if it has none yet.
   */
  trailEnd(businessId: string): string | undefined {
    const text = "select hash from audit_ends where business_id = ?";
    return textOf(this.all(text, businessId)[0]?.["hash"]) ?? undefined;
  }

  /** Returns the first time that the gate found the store and the trail to differ. */
  trailAlarm(): string | undefined {
    const text = "select details from audit where action = 'alarm:trail-differs' limit 1";
    return textOf(this.all(text)[0]?.["details"]) ?? undefined;
  }

  /** Returns how often the engine has found that its store is older than what was done with it. */
  lossesNoticed(): number {
    const text = "select count(*) as losses from audit where action = 'store.behind'";
    return Number(this.all(text)[0]?.["losses"]);
  }

  runs(): { runId: string; phase: string }[] {
    return this.all("select run_id, phase from runs").map((row) => ({
      runId: String(row["run_id"]),
      phase: String(row["phase"]),
    }));
  }

  /** Returns the state of everything, for a trace. */
  summary(): string[] {
    const runs = this.runs().map(({ runId, phase }) => `${runId}: ${phase}`);
    const lines = this.lines().map(
      ({ runId, payableId, state, reason }) => `${payableId} of ${runId}: ${state} ${reason ?? ""}`,
    );
    return [...runs, ...lines];
  }

  /** Returns a bill's lines, sends and lookups in words, for a trace. */
  of(payableId: string): string[] {
    const lines = this.lines()
      .filter((line) => line.payableId === payableId)
      .map(({ runId, state, reason }) => `${payableId} of ${runId}: ${state} ${reason ?? ""}`);
    const sends = this.all(
      `select seq, send_no, sent_by, opened_at_ms, leave_by_ms, result, status, code, owner
        from sends where subject = ? order by seq, send_no`,
      payableId,
    ).map((row) => `${payableId}, send ${JSON.stringify(row)}`);
    const lookups = this.all(
      "select begun_at_ms, is_whole, shown_ids from lookups where subject = ? order by begun_at_ms",
      payableId,
    ).map((row) => `${payableId}, look ${JSON.stringify(row)}`);
    return [...lines, ...sends, ...lookups];
  }
}
